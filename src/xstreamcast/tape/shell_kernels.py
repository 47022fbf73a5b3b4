"""Payloads without their content: the root with its attributes, holes directly below it."""

from __future__ import annotations

from typing import NamedTuple

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, I32, I64, KIND, NAMESPACE, Columns
from xstreamcast.tape.payload_kernels import Places


class Shells(NamedTuple):
    """For each payload: its row, the rows of its head, where its shell goes, and its holes."""

    row: I64
    head: I64
    at: I64
    first: I64
    last: I64


@kernel
def measure_heads(c: Columns, row: I64, head: I64) -> None:
    """How many rows the root of each payload takes with its bindings and attributes."""
    kind, size = c.kind, c.size
    for i in range(len(row)):
        end, at = row[i] + size[row[i]], row[i] + 1
        while at <= end and (kind[at] & KIND == ATTRIBUTE or kind[at] & KIND == NAMESPACE):
            at += 1
        head[i] = at - row[i]


@kernel
def write_shells(
    c: Columns, s: Shells, out: Columns, hole_row: I32, h: Places, nbytes: I64
) -> None:
    """Write the shells; their holes lie at `hole_row` now; `nbytes` are those of their values."""
    kind, level, name, parent = out.kind, out.level, out.name, out.parent
    size, start, length = out.size, out.start, out.length
    c_kind, c_level, c_name, c_size = c.kind, c.level, c.name, c.size
    c_start, c_length, before, depth, beside = c.start, c.length, h.before, h.depth, h.beside
    for i in range(len(s.row)):
        row, head, at = s.row[i], s.head[i], s.at[i]
        low, high = signed(2**62), signed(0)
        for q in range(head):
            kind[at + q], level[at + q] = c_kind[row + q], c_level[row + q]
            name[at + q], size[at + q], parent[at + q] = c_name[row + q], c_size[row + q], at
            start[at + q], length[at + q] = c_start[row + q], c_length[row + q]
            if q and c_length[row + q] >= 0:
                low = min(low, c_start[row + q])
                high = max(high, c_start[row + q] + c_length[row + q])
        parent[at], size[at], length[at] = -1, head + s.last[i] - s.first[i] - 1, -1
        to = at + head
        for k in range(s.first[i], s.last[i]):
            kind[to], level[to], name[to], parent[to] = ELEMENT, c_level[row] + 1, 0, at
            size[to], start[to], length[to], hole_row[k] = 0, 0, -1, to
            before[k], depth[k], beside[k] = head, 1, 0
            to += 1
        nbytes[i] = max(high - low, signed(0))
