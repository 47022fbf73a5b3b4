"""Fragments on a tape: where each begins, its attributes, its payload and its holes, in one pass.

What names mean is handed in (`elements`, `attributes`: a small number for each name), so that the
words of the wire are told in one place only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xstreamcast.tape.compiled import kernel
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    ELEMENT,
    I32,
    I64,
    KIND,
    NAMESPACE,
    NEEDS_DECODE,
    TEXT,
    U8,
    Columns,
)

REMOVE, HOLE, MEANING, PLAIN, FOREIGN = 4, 8, 15, 16, 32
ID, TSID, VALID_TIME, IN, VALID_TO, MESSAGE_TIME, VERSION, TEMPORARY, TIMELESS, UNIT = range(1, 11)

ABSENT, NOT_A_NUMBER = -1, -2  # tsids that are none

# Faults of a unit.
FINE, NO_PAYLOAD, SEVERAL, STRAY_TEXT, NESTED = range(5)
ODD = 8  # bit: an attribute has references, so that its bytes are not its value


class UnitColumns(NamedTuple):
    """A row for each unit."""

    row: I32
    word: U8
    id_start: I64
    id_length: I32
    valid_start: I64
    valid_length: I32
    tsid: I32
    payload: I32
    fault: U8
    in_start: I64
    in_length: I32
    to_start: I64
    to_length: I32
    said_start: I64
    said_length: I32
    version: I64  # ABSENT, NOT_A_NUMBER
    temporary: U8  # bit 0: it hides others while it lasts, bit 1: its time is that of its arrival
    unit_start: I64
    unit_length: I32


class Holes(NamedTuple):
    """A row for each hole."""

    unit: I32
    row: I32
    id_start: I64
    id_length: I32
    tsid: I32
    odd: U8


@kernel
def _count(c: Columns, elements: U8) -> tuple[int, int]:
    units, holes = 0, 0
    for row in range(len(c.kind)):
        if c.parent[row] < 0:
            units += 1
        if c.kind[row] & KIND == ELEMENT and elements[c.name[row]] & MEANING == HOLE:
            holes += 1
    return units, holes


@kernel
def _number(heap: U8, start: int, length: int, most: int) -> int:
    end = start + length
    while start < end and heap[start] <= 32:
        start += 1
    while end > start and heap[end - 1] <= 32:
        end -= 1
    if end == start or end - start > most:
        return NOT_A_NUMBER
    value = np.int64(0)
    for i in range(start, end):
        digit = np.int64(heap[i]) - 48
        if digit < 0 or digit > 9:
            return NOT_A_NUMBER
        value = value * 10 + digit
    return int(value)


@kernel
def _tag_id(heap: U8, start: int, length: int) -> int:
    value = _number(heap, start, length, 10)
    return value if value < 1 << 31 else NOT_A_NUMBER


@kernel
def _blank(heap: U8, start: int, length: int) -> bool:
    for i in range(start, start + length):
        byte = heap[i]
        if byte != 32 and byte != 10 and byte != 13 and byte != 9:
            return False
    return True


@kernel
def _scan(c: Columns, elements: U8, attributes: U8, bare: bool, u: UnitColumns, h: Holes) -> int:
    row, unit, hole, n = 0, 0, 0, len(c.kind)
    while row < n:
        end = row + c.size[row] + 1
        word = elements[c.name[row]] if c.kind[row] & KIND == ELEMENT and not bare else 0
        u.row[unit], u.word[unit], u.fault[unit] = row, word, FINE
        u.id_start[unit], u.id_length[unit], u.tsid[unit] = 0, -1, ABSENT
        u.valid_start[unit], u.valid_length[unit], u.payload[unit] = 0, -1, -1
        u.in_start[unit], u.in_length[unit], u.to_start[unit], u.to_length[unit] = 0, -1, 0, -1
        u.said_start[unit], u.said_length[unit], u.version[unit] = 0, -1, ABSENT
        u.temporary[unit], u.unit_start[unit], u.unit_length[unit] = 0, 0, -1
        at = row + 1
        while at < end and (c.kind[at] & KIND == NAMESPACE or c.kind[at] & KIND == ATTRIBUTE):
            if c.kind[at] & KIND == ATTRIBUTE:
                what = attributes[c.name[at]]
                if what and c.kind[at] & NEEDS_DECODE:
                    u.fault[unit] |= ODD
                if what == ID:
                    u.id_start[unit], u.id_length[unit] = c.start[at], c.length[at]
                elif what == TSID:
                    u.tsid[unit] = _tag_id(c.heap, c.start[at], c.length[at])
                elif what == VALID_TIME:
                    u.valid_start[unit], u.valid_length[unit] = c.start[at], c.length[at]
                elif what == IN:
                    u.in_start[unit], u.in_length[unit] = c.start[at], c.length[at]
                elif what == VALID_TO:
                    u.to_start[unit], u.to_length[unit] = c.start[at], c.length[at]
                elif what == MESSAGE_TIME:
                    u.said_start[unit], u.said_length[unit] = c.start[at], c.length[at]
                elif what == VERSION:
                    u.version[unit] = _number(c.heap, c.start[at], c.length[at], 18)
                elif what == TEMPORARY:
                    u.temporary[unit] |= 1 if c.length[at] == 4 else 0  # true
                elif what == TIMELESS:
                    u.temporary[unit] |= 2 if c.length[at] == 4 else 0
                elif what == UNIT:
                    u.unit_start[unit], u.unit_length[unit] = c.start[at], c.length[at]
            at += 1
        fault = NO_PAYLOAD
        if word == 0:  # an element that is no word of the wire: the payload itself, bare
            at, fault = end, FINE
            u.payload[unit], u.id_length[unit], u.valid_length[unit] = row, -1, -1
            u.tsid[unit], u.fault[unit], u.version[unit] = ABSENT, FINE, ABSENT
            u.in_length[unit], u.to_length[unit], u.said_length[unit] = -1, -1, -1
            u.temporary[unit], u.unit_length[unit] = 0, -1
        while at < end:
            kind = c.kind[at] & KIND
            if kind == ELEMENT:
                if u.payload[unit] < 0:
                    u.payload[unit] = at
                    if fault == NO_PAYLOAD:
                        fault = FINE
                else:
                    fault = SEVERAL
            elif kind == TEXT and not _blank(c.heap, c.start[at], c.length[at]):
                fault = STRAY_TEXT
            at += c.size[at] + 1
        if u.fault[unit] & ODD:
            fault |= ODD
        u.fault[unit] = fault
        payload = u.payload[unit]
        if payload >= 0 and word & MEANING != REMOVE:  # a removal has no content, thus no holes
            # A name that may be the payload's own counts where the fragment's is of its kind, or
            # where it says both the id and the tag of a fragment.
            kinds = word & (PLAIN | FOREIGN) if word or bare else PLAIN
            beyond = payload
            for at in range(payload + 1, payload + c.size[payload] + 1):
                if c.kind[at] & KIND != ELEMENT:
                    continue
                meant = elements[c.name[at]]
                if 0 < meant < HOLE and word:
                    u.fault[unit] = (u.fault[unit] & ODD) | NESTED
                if meant & MEANING != HOLE:
                    continue
                foreign = meant & (PLAIN | FOREIGN) & ~kinds != 0
                if at < beyond:
                    continue  # what a hole contains is not looked at, nor written
                h.unit[hole], h.row[hole], h.odd[hole] = unit, at, 0
                h.id_start[hole], h.id_length[hole], h.tsid[hole] = 0, -1, ABSENT
                k = at + 1
                while k <= at + c.size[at] and c.kind[k] & KIND in (NAMESPACE, ATTRIBUTE):
                    if c.kind[k] & KIND == ATTRIBUTE:
                        what = attributes[c.name[k]]
                        if what and c.kind[k] & NEEDS_DECODE:
                            h.odd[hole] = 1
                        if what == ID:
                            h.id_start[hole], h.id_length[hole] = c.start[k], c.length[k]
                        elif what == TSID:
                            h.tsid[hole] = _tag_id(c.heap, c.start[k], c.length[k])
                    k += 1
                named, tagged = h.id_length[hole] >= 0, h.tsid[hole] >= 0
                if (named and tagged) or (not foreign and (named or not meant & PLAIN)):
                    hole += 1
                    beyond = at + c.size[at] + 1
        unit += 1
        row = end
    return hole


def fragments(
    c: Columns, elements: U8, attributes: U8, bare: bool = False
) -> tuple[UnitColumns, Holes]:
    """The units of a tape and the holes in their payloads; `bare`: each unit is a payload."""
    count, most = _count(c, elements)
    units = UnitColumns._make(np.empty(count, dtype) for dtype in _UNITS)
    holes = Holes._make(np.empty(most, dtype) for dtype in _HOLES)
    found = _scan(c, elements, attributes, bare, units, holes)
    return units, Holes._make(column[:found] for column in holes)


_UNITS = (
    np.int32, np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32, np.int32, np.uint8,
    np.int64, np.int32, np.int64, np.int32, np.int64, np.int32, np.int64, np.uint8,
    np.int64, np.int32,
)  # fmt: skip
_HOLES = (np.int32, np.int32, np.int64, np.int32, np.int32, np.uint8)
