"""Lifespans on a tape: those that attributes say, and those that follow from what is inside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.instants import NOT_ONE
from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import ATTRIBUTE, DOCUMENT, ELEMENT, I64, KIND, U8, Columns

I8 = npt.NDArray[np.int8]

START, NOW = -(2**63) + 1, 2**63 - 1
_START_WORD = np.frombuffer(b"start", np.uint8).copy()


class Lifespans(NamedTuple):
    """The elements of a tape that say when they live, by row."""

    row: I64
    begin: I64
    end: I64
    zones: U8  # bit 0: the begin has a time zone, bit 1: the end has


@kernel
def bounded(c: Columns, vt_from: int, vt_to: int) -> tuple[I64, I64, I64]:
    """(elements, rows of their begins, rows of their ends): those that have both attributes."""
    found, last = signed(0), signed(-1)
    for i in range(len(c.kind)):
        if c.name[i] == vt_from and c.kind[i] & KIND == ATTRIBUTE:
            found += 1
    rows, begins = np.empty(found, np.int64), np.empty(found, np.int64)
    ends = np.empty(found, np.int64)
    found = signed(0)
    for i in range(len(c.kind)):
        if c.kind[i] & KIND != ATTRIBUTE or (c.name[i] != vt_from and c.name[i] != vt_to):
            continue
        if last >= 0 and c.parent[last] == c.parent[i] and c.parent[i] >= 0:
            rows[found] = c.parent[i]
            begins[found] = last if c.name[last] == vt_from else i
            ends[found] = i if c.name[last] == vt_from else last
            found += 1
            last = -1
        else:
            last = i
    return rows[:found], begins[:found], ends[:found]


@kernel
def say_words(heap: U8, start: I64, length: I64, out: I64, said: I8) -> None:
    """`now` and `start`, where no dateTime was found."""
    for i in range(len(start)):
        at = start[i]
        if said[i] != NOT_ONE:
            continue
        if length[i] == 3 and heap[at] == 110 and heap[at + 1] == 111 and heap[at + 2] == 119:
            out[i], said[i] = NOW, 0
        elif length[i] == 5:
            same = True
            for k in range(5):
                same = same and heap[at + k] == _START_WORD[k]
            if same:
                out[i], said[i] = START, 0


@kernel
def _first_element(c: Columns, row: int) -> int:
    """The first element below a node, -1 if there is none."""
    for i in range(row + 1, row + c.size[row] + 1):
        if c.kind[i] & KIND == ELEMENT:
            return i
    return -1


@kernel
def covers(c: Columns, rows: I64, s: Lifespans, begin: I64, end: I64, zones: U8) -> None:
    """The lifespan of each node: its own, else the smallest that covers what is inside.

    An element with no element inside lives always; a text or attribute as long as its element.
    """
    for i in range(len(rows)):
        row = rows[i]
        kind = c.kind[row] & KIND
        if kind != ELEMENT and kind != DOCUMENT:
            row = signed(c.parent[row])
        begin[i], end[i], zones[i] = START, NOW, 0
        if row < 0:
            continue
        p, last = np.searchsorted(s.row, row), row + c.size[row]
        if p < len(s.row) and s.row[p] == row:
            begin[i], end[i], zones[i] = s.begin[p], s.end[p], s.zones[p]
            continue
        low, high, low_zone, high_zone = NOW, START, 0, 0
        at = _first_element(c, row)
        if at < 0:
            continue
        while at <= last:
            if c.kind[at] & KIND != ELEMENT:
                at += 1
                continue
            while p < len(s.row) and s.row[p] < at:
                p += 1
            if p < len(s.row) and s.row[p] == at:
                if s.begin[p] < low:
                    low, low_zone = s.begin[p], s.zones[p] & 1
                if s.end[p] > high:
                    high, high_zone = s.end[p], s.zones[p] & 2
                at += c.size[at] + 1
                continue
            inside = _first_element(c, at)
            if inside < 0:
                low, high, low_zone, high_zone = START, NOW, 0, 0
                break
            at = inside
        begin[i], end[i], zones[i] = low, high, low_zone | high_zone
