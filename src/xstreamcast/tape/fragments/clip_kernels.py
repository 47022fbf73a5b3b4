"""Subtrees copied as far as they live within an interval, their lifespans clipped to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xstreamcast.kernels.instant_text import put_instant
from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.fragments.lifespan_kernels import NOW, Lifespans
from xstreamcast.tape.layout import DOCUMENT, ELEMENT, I64, KIND, TEXT, U8, Bools, Columns
from xstreamcast.tape.writing.copy_kernels import put_heap, put_row

_BOUND = 32  # bytes kept for a bound
KEEP_BEGIN = 4  # a bit of `zones`: what lives at the begin of the interval keeps its own


class Wanted(NamedTuple):
    """What is copied, and the interval that each copy is clipped to.

    `inside`: the root stays as it is, an end that is no `now` is not part of the interval, and
    what an event contains stays whole.
    """

    row: I64
    begin: I64
    end: I64
    zones: U8
    inside: Bools


class Copies(NamedTuple):
    """Where each copy goes; rows 0: nothing of it is left."""

    rows: I64
    nbytes: I64
    row: I64
    byte: I64


@kernel
def clip(
    begin: int, end: int, zones: int, low: int, high: int, sides: int, now: int, open_: bool
) -> tuple[bool, int, int, int]:
    """(whether anything is left, and the lifespan clipped to [low, high]).

    Where the next version begins a lifespan is over; an instant, and what lives now, is not. What
    begins after now lives on, as far as anybody planned.
    """
    last = end if end != NOW or begin > now else now
    left = last > low or (last == low and (end == NOW or begin == end))
    if not left or begin > high or (open_ and begin == high and high != NOW):
        return False, begin, end, zones
    if low > begin and not sides & KEEP_BEGIN:
        begin, zones = low, (zones & 2) | (sides & 1)
    if high < last:
        end, zones = high, (zones & 1) | (sides & 2)
    return True, begin, end, zones


@kernel
def measure_copies(c: Columns, w: Wanted, s: Lifespans, now: int, out: Copies) -> None:
    """How many rows and bytes of each subtree are left."""
    for i in range(len(w.row)):
        row = w.row[i]
        last, p = row + signed(c.size[row]), np.searchsorted(s.row, row)
        rows, used, at, text = signed(0), signed(0), row, signed(-1)
        text_level, whole = signed(-1), signed(-1)
        while at <= last:
            kind = c.kind[at] & KIND
            while p < len(s.row) and s.row[p] < at:
                p += 1
            own = p < len(s.row) and s.row[p] == at and at > whole
            if own and not (at == row and w.inside[i]):
                left = clip(
                    s.begin[p], s.end[p], s.zones[p], w.begin[i], w.end[i], w.zones[i], now,
                    w.inside[i],
                )[0]  # fmt: skip
                if not left:
                    at += signed(c.size[at]) + 1
                    continue
                used += 2 * _BOUND
                if w.inside[i] and s.begin[p] == s.end[p]:
                    whole = at + signed(c.size[at])
            if kind == TEXT and text == rows - 1 and rows and text_level == c.parent[at]:
                rows -= 1  # joins the text before it, now that what was between them is gone
            text = rows if kind == TEXT else signed(-2)
            text_level = signed(c.parent[at])
            if kind != ELEMENT and kind != DOCUMENT:
                used += c.length[at]
            rows += 1
            at += 1
        out.rows[i], out.nbytes[i] = rows, used


@kernel
def write_copies(
    c: Columns,
    w: Wanted,
    s: Lifespans,
    now: int,
    vt_from: int,
    vt_to: int,
    places: Copies,
    out: Columns,
) -> None:
    """Write what is left of each subtree to its place."""
    opened, ends = np.empty(64, np.int64), np.empty(64, np.int64)
    for i in range(len(w.row)):
        if places.rows[i] == 0:
            continue
        row, at, used = w.row[i], places.row[i], places.byte[i]
        last, p = row + signed(c.size[row]), np.searchsorted(s.row, row)
        depth, r, text, whole = 0, row, signed(-1), signed(-1)
        above, begin, end, zones, clipped = signed(-1), signed(0), signed(0), 0, signed(-1)
        while r <= last:
            kind = c.kind[r] & KIND
            while depth and ends[depth - 1] < r:
                depth -= 1
                out.size[opened[depth]] = at - opened[depth] - 1
                text = -1
            above = opened[depth - 1] if depth else signed(-1)
            while p < len(s.row) and s.row[p] < r:
                p += 1
            own = p < len(s.row) and s.row[p] == r and r > whole
            if own and not (r == row and w.inside[i]):
                left, begin, end, zones = clip(
                    s.begin[p], s.end[p], s.zones[p], w.begin[i], w.end[i], w.zones[i], now,
                    w.inside[i],
                )  # fmt: skip
                if not left:
                    r += signed(c.size[r]) + 1
                    continue
                clipped = r
                if w.inside[i] and s.begin[p] == s.end[p]:
                    whole = r + signed(c.size[r])
            if kind == TEXT and text >= 0:
                used = put_heap(out, used, c.heap, c.start[r], c.length[r])
                out.length[text] += c.length[r]
                out.kind[text] |= c.kind[r]
                r += 1
                continue
            text = at if kind == TEXT else signed(-1)
            if clipped >= 0 and c.parent[r] == clipped and _is_bound(c, r, vt_from, vt_to):
                is_begin = c.name[r] == vt_from
                stop = put_instant(
                    begin if is_begin else end, zones & (1 if is_begin else 2) != 0, out.heap, used
                )
                at = put_row(out, at, kind, depth, c.name[r], above, used, stop - used)
                used = stop
            elif kind in (ELEMENT, DOCUMENT):
                at = put_row(out, at, kind, depth, c.name[r], above, used, -1)
                if depth == len(opened):
                    opened = np.concatenate((opened, np.empty(depth, np.int64)))
                    ends = np.concatenate((ends, np.empty(depth, np.int64)))
                opened[depth], ends[depth] = at - 1, r + signed(c.size[r])
                depth += 1
            else:
                at = put_row(out, at, c.kind[r], depth, c.name[r], above, used, c.length[r])
                used = put_heap(out, used, c.heap, c.start[r], c.length[r])
            r += 1
        while depth > 0:
            depth -= 1
            out.size[opened[depth]] = at - opened[depth] - 1


@kernel
def _is_bound(c: Columns, row: int, vt_from: int, vt_to: int) -> bool:
    return c.kind[row] & KIND == 2 and (c.name[row] == vt_from or c.name[row] == vt_to)
