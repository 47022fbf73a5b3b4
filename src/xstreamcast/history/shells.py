"""Fragments of which a query sees no more than that they are there, and what fills their holes.

Such a payload is written as its root with its attributes, holes directly below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import ranges
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, KIND, NAMESPACE, Columns, empty_columns
from xstreamcast.tape.payload_kernels import DEFAULT, OWN_BOUNDS, Payloads, Places

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I32, I64


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """What the rows of a view are copied from: for each fragment and hole, where it lies."""

    payloads: Payloads
    places: Places
    number: I32  # of the columns that a payload lies on
    payload: I32
    hole_row: I32
    columns: dict[int, Columns]


def sources(history: History, shells: frozenset[int]) -> Sources:
    """The payloads where they lie; those of the tags in `shells` as shells."""
    f, h = history.fragments, history.holes
    payloads = Payloads(f["rows"], f["nbytes"], f["shape"], f["hash"])
    places = Places(h["before"], h["depth"], h["beside"], h["path"])
    columns = {i: history.store.tape(i).columns for i in np.unique(f["tape"]).tolist()}
    whole = Sources(payloads, places, f["tape"], f["payload"], h["row"], columns)
    chosen = np.isin(f["tsid"], list(shells)) & (f["payload"] >= 0)
    if not chosen.any():
        return whole
    made = Sources(
        Payloads(f["rows"].copy(), f["nbytes"].copy(), f["shape"].copy(), f["hash"]),
        Places(h["before"].copy(), h["depth"].copy(), h["beside"].copy(), h["path"]),
        whole.number.copy(), whole.payload.copy(), whole.hole_row.copy(), columns,
    )  # fmt: skip
    beyond = max(columns) + 1
    for number in np.unique(f["tape"][chosen]).tolist():
        which = np.flatnonzero(chosen & (f["tape"] == number))
        made.number[which] = number + beyond
        columns[number + beyond] = _emptied(history, columns[number], which, made)
    return made


def _emptied(history: History, c: Columns, which: I64, made: Sources) -> Columns:
    """Columns with the shells of fragments that lie on one tape, over the same bytes."""
    f = history.fragments
    row, last = f["payload"][which].astype(np.int64), f["holes"][which]
    first = np.where(which > 0, f["holes"][which - 1], 0)
    head, holes = _heads(c, row), last - first
    at = np.cumsum(head + holes) - head - holes
    out = empty_columns(int((head + holes).sum()), c.heap)
    taken, put = ranges(row, head), ranges(at, head)
    out.kind[put], out.level[put], out.name[put] = c.kind[taken], c.level[taken], c.name[taken]
    out.size[put], out.start[put], out.length[put] = c.size[taken], c.start[taken], c.length[taken]
    out.parent[put] = np.repeat(at, head)
    put, hole = ranges(at + head, holes), ranges(first, holes)
    out.kind[put], out.name[put], out.size[put] = ELEMENT, 0, 0
    out.start[put], out.length[put] = 0, -1
    out.level[put] = np.repeat(c.level[row] + 1, holes)
    out.parent[put] = np.repeat(at, holes)
    out.parent[at], out.size[at], out.length[at] = -1, head + holes - 1, -1
    made.payload[which], made.hole_row[hole] = at, put
    made.places.before[hole], made.places.depth[hole] = np.repeat(head, holes), 1
    made.places.beside[hole] = 0
    made.payloads.rows[which], made.payloads.nbytes[which] = head, _spans(out, at, head)
    made.payloads.shape[which] &= DEFAULT | OWN_BOUNDS
    return out


def _heads(c: Columns, row: I64) -> I64:
    """How many rows the root of each payload takes with its bindings and attributes."""
    head, end = np.ones(len(row), np.int64), row + c.size[row]
    open_ = np.arange(len(row))
    while len(open_):
        at = row[open_] + head[open_]
        inside = at <= end[open_]
        kind = c.kind[np.where(inside, at, 0)] & KIND
        open_ = open_[inside & ((kind == ATTRIBUTE) | (kind == NAMESPACE))]
        head[open_] += 1
    return head


def _spans(out: Columns, at: I64, head: I64) -> I64:
    """Bytes between the first and the last value of each head."""
    rows = ranges(at, head)
    some = out.length[rows] >= 0
    low = np.where(some, out.start[rows], 2**62)
    high = np.where(some, out.start[rows] + out.length[rows], 0)
    begin = np.cumsum(head) - head
    found: I64 = np.maximum.reduceat(high, begin) - np.minimum.reduceat(low, begin)
    return np.maximum(found, 0)
