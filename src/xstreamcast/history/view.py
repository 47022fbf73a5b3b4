"""The temporal view of a history on one tape, complete or the part that a query needs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.history import WIRE, History, bound_names
from xstreamcast.history.planned import chains_ahead
from xstreamcast.history.trimmed import RowSources, sources
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import NOW
from xstreamcast.model.structure import Identifiers
from xstreamcast.tape.fragments.instance_kernels import FULL, Instances, expand
from xstreamcast.tape.fragments.payload_kernels import DEFAULT, OWN_BOUNDS, SHAPE_BITS
from xstreamcast.tape.fragments.splice_kernels import Added, Laid, lay, splice
from xstreamcast.tape.layout import DOCUMENT, Columns, Tape, empty_columns
from xstreamcast.tape.limits import DEEPEST, too_deep

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.trims import Trim
    from xstreamcast.tape.fragments.instance_kernels import Carried
    from xstreamcast.tape.layout import I32, I64, U8, U16


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Instances of fragments in document order, and the tape they were written to."""

    tape: Tape
    instances: Instances
    row: I64  # of each instance on the tape


def view(history: History, until: int = NOW, *, modes: U8 | None = None) -> Tape:
    """The temporal view as of an instant: a document, with the lifespans of what has any."""
    return written(history, until, modes=modes).tape


def reconstruct(history: History, until: int = NOW) -> Tape:
    """The current document without lifespans: all fragments joined."""
    return written(history, until, current=True, bounds=False).tape


def instances(
    history: History,
    until: int = NOW,
    *,
    modes: U8 | None = None,
    current: bool = False,
    ahead: bool = False,
) -> Instances:
    """The occurrences of fragments below the roots; `modes` by tag, all of them if None.

    `ahead`: ends of versions are known although they come after `until`.
    """
    # The current state is the latest content of each id, whenever its parent arrived.
    types = np.zeros_like(history.types()) if current else history.types()
    if modes is None:
        modes = np.full(len(types), FULL, np.uint8)
    chains = chains_ahead(history, until) if ahead else history.chains(until)
    carried = history.carried()
    roots, room = history.roots(until), len(chains.place) + 16
    while True:
        made = Instances(
            np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32),
            np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint8),
            np.empty(room, np.uint8),
        )  # fmt: skip
        count = expand(chains, carried, roots, history.clips(), types, modes, current, made)
        if count >= 0:
            return Instances._make(column[:count] for column in made)
        room *= 2


def written(
    history: History,
    until: int = NOW,
    *,
    modes: U8 | None = None,
    current: bool = False,
    bounds: bool = True,
    document: bool = True,
    trims: Mapping[int, Trim] = MappingProxyType({}),
    ahead: bool = False,
) -> View:
    """The instances that the modes select, on a tape below a document node or side by side.

    Of the tags in `trims` only what these say is written.
    """
    found = instances(history, until, modes=modes, current=current, ahead=ahead)
    names = history.store.names
    added = Added(
        names.word(WIRE), *bound_names(names), bounds, _binds_default(history, names), document
    )
    timed = (history.types() > 0).astype(np.int32)
    carried, given = history.carried(), sources(history, trims)
    laid = _laid(len(found.place))
    extra = _extra_rows(history, given.payloads.shape, timed, added)
    rows, used = lay(found, carried, given.payloads, given.places, extra, document, laid)
    if (
        laid.level[found.state == FULL].max(initial=0) > DEEPEST
    ):  # each payload may be deep in itself
        raise too_deep()
    out = _room(found, laid, rows, used, document)
    _splice(history, given, found, carried, timed, added, laid, out)
    if document:
        out.size[0] = rows - 1
    declared = Identifiers({(e, a): kind for e, a, kind in history.structure.identifiers})
    return View(Tape(out, names, history.name, declared), found, laid.row)


def _binds_default(history: History, names: object) -> bool:
    """Whether some payload binds the default namespace for itself or from around it."""
    shape = history.fragments["shape"]
    return bool((shape & DEFAULT).any()) or any(tag.uri for tag in history.structure.tags.values())


def _extra_rows(history: History, shapes: U16, timed: I32, added: Added) -> I32:
    """Rows that are added to the root of each payload."""
    f = history.fragments
    shape = shapes.astype(np.int32)
    extra: I32 = shape >> SHAPE_BITS
    if added.bounds:
        extra += timed[f["tsid"]] * (2 - (shape & OWN_BOUNDS))
    if added.undeclare:
        extra += shape & DEFAULT == 0
    return extra


def _laid(count: int) -> Laid:
    return Laid(
        np.empty(count, np.int32), np.empty(count, np.int64), np.empty(count, np.int64),
        np.empty(count, np.int64), np.empty(count, np.int32),
    )  # fmt: skip


def _room(found: Instances, laid: Laid, rows: int, used: int, document: bool) -> Columns:
    out = empty_columns(rows, np.empty(used, np.uint8))
    if document:
        out.kind[0], out.level[0], out.name[0], out.parent[0] = DOCUMENT, 0, -1, -1
        out.start[0], out.length[0] = 0, -1
    full = found.state == FULL
    out.parent[laid.row[full]] = -1
    out.parent[laid.row[full & (found.parent < 0)]] = 0 if document else -1
    return out


def _splice(
    history: History,
    given: RowSources,
    found: Instances,
    carried: Carried,
    timed: I32,
    added: Added,
    laid: Laid,
    out: Columns,
) -> None:
    """One kernel call for each tape with payloads."""
    tables = history.store.names.tables
    which = np.flatnonzero(found.state == FULL)
    numbers = given.number[found.place[which]]
    order = np.argsort(numbers, kind="stable")
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    for part in np.split(which[order], cuts):
        if len(part):
            columns = given.columns[int(given.number[found.place[part[0]]])]
            splice(
                columns, tables, part, given.payload, given.hole_row, found, carried,
                given.payloads.shape, timed, added, laid, out,
            )  # fmt: skip
