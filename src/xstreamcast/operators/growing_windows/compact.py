"""A tape without what is no longer needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.tape.layout import ATTRIBUTE, KIND, NAMESPACE, Columns, Tape

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64, U8, Bools


def compacted(tape: Tape, rows: I64) -> tuple[Tape, I64]:
    """The nodes at `rows` with what is below them, and the start tags above → and their rows."""
    c = tape.columns
    above = _ancestors(tape, rows)
    keep = _below(tape, rows) | above
    keep |= np.isin(c.kind & KIND, (ATTRIBUTE, NAMESPACE)) & above[c.parent] & (c.parent >= 0)
    before = offsets_of(keep.astype(np.int64))
    kept = np.flatnonzero(keep)
    parent = c.parent[kept]
    size = before[kept + c.size[kept] + 1] - before[kept + 1]
    length = np.where(above[kept], -1, c.length[kept])
    start, heap = _heap(tape, c.start[kept], length)
    columns = Columns(
        c.kind[kept],
        c.level[kept],
        c.name[kept],
        np.where(parent < 0, -1, before[parent]).astype(np.int32),
        size.astype(np.int32),
        start,
        length.astype(np.int32),
        heap,
    )
    return Tape(columns, tape.names, tape.source), before[rows]


def _below(tape: Tape, rows: I64) -> Bools:
    marks = np.zeros(len(tape) + 1, np.int64)
    np.add.at(marks, rows, 1)
    np.add.at(marks, rows + tape.columns.size[rows] + 1, -1)
    return np.cumsum(marks[:-1]) > 0


def _ancestors(tape: Tape, rows: I64) -> Bools:
    found = np.zeros(len(tape), np.bool_)
    parent = tape.columns.parent
    at = np.unique(parent[rows])
    while len(at := at[at >= 0]):
        found[at] = True
        at = np.unique(parent[at])
    return found


def _heap(tape: Tape, start: I64, length: I64) -> tuple[I64, U8]:
    """The spans moved together: those that overlap stay in one piece."""
    real = np.flatnonzero(length > 0)
    if len(real) == 0:
        return np.zeros(len(start), np.int64), tape.columns.heap[:0]
    order = real[np.argsort(start[real], kind="stable")]
    begins = start[order]
    ends = np.maximum.accumulate(begins + length[order])
    fresh = np.concatenate((np.ones(1, np.bool_), begins[1:] > ends[:-1]))
    first = begins[fresh]
    last = ends[np.append(np.flatnonzero(fresh)[1:] - 1, len(ends) - 1)]
    offsets = offsets_of(last - first)
    out = np.zeros(len(start), np.int64)
    run = np.cumsum(fresh) - 1
    out[order] = begins - first[run] + offsets[run]
    return out, tape.columns.heap[ranges(first, last - first)]
