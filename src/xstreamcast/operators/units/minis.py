"""Units as documents in miniature: rows of a view put below the start tags around them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import ranges
from xstreamcast.operators.units.mini_cache import UnitDocuments, UnitSpans
from xstreamcast.operators.units.missing import EmptyHoles, hollow_names
from xstreamcast.tape.fragments.wrap import wrapped_runs

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.history.view import View
    from xstreamcast.tape.layout import I32, I64, Tape

Grouped = Iterable[tuple[tuple["Tape", ...], "I64"]]  # start tags, and the roots below them


def wrapped_units(
    part: History, made: View, grouped: Grouped, at: I64, timed: bool, strict: bool
) -> tuple[UnitDocuments, EmptyHoles | None]:
    """A document for each unit; `at`: the root of the view that each is."""
    n = made.instances
    first, last = _extents(made.tape, n.parent, n.link, made.row, int(at.max(initial=-1)) + 1)
    runs = [(spine, first[units], last[units]) for spine, units in grouped]
    tape, documents = wrapped_runs(runs, made.tape)
    heads = [1 + sum(map(len, spine)) for spine, _, _ in runs]
    begins = np.concatenate(documents)
    tops = np.concatenate([one for _, one, _ in runs])
    shift = begins + np.repeat(heads, list(map(len, documents))) - tops
    missing = _missing(part, made, at, shift) if strict else None
    roots, versions = _elements(made, at, shift - begins)
    return UnitDocuments(tape, begins, _instants(made, at, timed), roots, versions), missing


def _elements(made: View, at: I64, shift: I64) -> tuple[UnitSpans, I64]:
    """The rows of the elements of units, and when each begins."""
    n = made.instances
    tops = np.flatnonzero(n.parent < 0)
    first = np.searchsorted(n.link[tops], at, "left")
    counts = np.searchsorted(n.link[tops], at, "right") - first
    mine = tops[ranges(first, counts)]
    return UnitSpans(made.row[mine] + np.repeat(shift, counts), counts), n.begin[mine]


def _instants(made: View, at: I64, timed: bool) -> UnitSpans:
    """Of each unit, when anything in it begins or ends; nothing if no operator needs it."""
    none = np.zeros(0, np.int64)
    n = made.instances
    if not timed or len(n.parent) == 0:
        return UnitSpans(none, np.zeros(len(at), np.int64))
    top = np.maximum.accumulate(np.where(n.parent < 0, np.arange(len(n.parent)), 0))
    owner = n.link[top]
    first = np.searchsorted(owner, at, "left")
    counts = np.searchsorted(owner, at, "right") - first
    rows = ranges(first, counts)
    both = np.stack((n.begin[rows], n.end[rows]), 1).ravel()
    return UnitSpans(both, 2 * counts)


def _missing(part: History, made: View, units: I64, shifts: I64) -> EmptyHoles:
    """Which payloads have holes that nothing has come for."""
    f, h, chains = part.fragments, part.holes, part.chains()
    empty = np.diff(chains.first)[h["id"]] == 0
    ends = f["holes"]
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(empty)))
    counts = np.diff(before[np.concatenate((np.zeros(1, np.int64), ends))])
    lacks = counts[made.instances.place] > 0
    top = np.maximum.accumulate(np.where(made.instances.parent < 0, np.arange(len(lacks)), 0))
    owner = made.instances.link[top]
    first = np.searchsorted(owner, units, "left")
    counts = np.searchsorted(owner, units, "right") - first
    own = ranges(first, counts)
    open_ = np.zeros(len(units), np.bool_)
    np.logical_or.at(open_, np.repeat(np.arange(len(units)), counts), lacks[own])
    hollow = hollow_names(part.structure)
    return EmptyHoles(made.row[own] + np.repeat(shifts, counts), lacks[own], hollow, open_)


def _extents(tape: Tape, parent: I32, link: I32, row: I64, count: int) -> tuple[I64, I64]:
    """The rows of each root: its versions follow each other."""
    top = np.flatnonzero(parent < 0)
    sizes = tape.columns.size[row[top]].astype(np.int64) + 1
    first, last = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if len(top):
        owners = link[top]
        begins = np.searchsorted(owners, np.arange(count), "left")
        ends = np.searchsorted(owners, np.arange(count), "right")
        some = ends > begins
        first[some] = row[top][begins[some]]
        last[some] = (row[top] + sizes)[ends[some] - 1]
    return first, last
