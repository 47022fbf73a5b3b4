"""The string value of nodes, in bytes: decoded only where the bytes are not yet the value."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, part, signed
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    DOCUMENT,
    ELEMENT,
    I32,
    I64,
    KIND,
    NAMESPACE,
    NEEDS_DECODE,
    TEXT,
    U8,
    U64,
    Bools,
    Columns,
)

AMP, HASH, SEMI, LT, CR, LF, TAB, SPACE, BRACKET = 38, 35, 59, 60, 13, 10, 9, 32, 93


@kernel
def put_utf8(code: int, out: U8, at: int) -> int:
    """Write the UTF-8 of `code` → the place after it."""
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at], out[at + 1] = 0xC0 | (code >> 6), 0x80 | (code & 0x3F)
        return at + 2
    if code < 0x10000:
        out[at], out[at + 1] = 0xE0 | (code >> 12), 0x80 | ((code >> 6) & 0x3F)
        out[at + 2] = 0x80 | (code & 0x3F)
        return at + 3
    out[at], out[at + 1] = 0xF0 | (code >> 18), 0x80 | ((code >> 12) & 0x3F)
    out[at + 2], out[at + 3] = 0x80 | ((code >> 6) & 0x3F), 0x80 | (code & 0x3F)
    return at + 4


@kernel
def number_of(heap: U8, start: int, end: int) -> int:
    """The code of a character reference between `&#` and `;`."""
    code = 0
    if heap[start] == 0x78:
        for i in range(start + 1, end):
            digit = signed(heap[i])
            code = code * 16 + (digit & 0xF) + (9 if digit >= 0x41 else 0)
        return code
    for i in range(start, end):
        code = code * 10 + (signed(heap[i]) - 0x30)
    return code


@kernel
def put_reference(heap: U8, start: int, out: U8, at: int) -> tuple[int, int]:
    """Write what the reference at `start` represents → the places after both."""
    semi = start + 1
    while heap[semi] != SEMI:
        semi += 1
    if heap[start + 1] == HASH:
        return semi + 1, put_utf8(number_of(heap, start + 2, semi), out, at)
    name = 0
    for i in range(start + 1, min(semi, start + 6)):
        name = (name << 8) | signed(heap[i])
    if name == 0x6C74:
        out[at] = 0x3C
    elif name == 0x6774:
        out[at] = 0x3E
    elif name == 0x616D70:
        out[at] = 0x26
    elif name == 0x71756F74:
        out[at] = 0x22
    elif name == 0x61706F73:
        out[at] = 0x27
    else:
        return semi + 1, at  # declared in a DTD outside the document, if at all: nothing is read
    return semi + 1, at + 1


@kernel
def decode(heap: U8, start: int, length: int, kind: int, out: U8, at: int) -> int:
    """Write the value of a span that needs decoding → the place after it; it never grows."""
    i, end = start, start + length
    quoted = kind in (ATTRIBUTE, NAMESPACE)
    cdata = False
    while i < end:
        byte = heap[i]
        if byte == CR:
            i += 2 if i + 1 < end and heap[i + 1] == LF else 1
            out[at] = SPACE if quoted else LF
            at += 1
        elif quoted and byte in (LF, TAB):
            out[at] = SPACE
            i, at = i + 1, at + 1
        elif byte == AMP and not cdata and (quoted or kind == TEXT):
            i, at = put_reference(heap, i, out, at)
        elif byte == LT and not cdata and kind == TEXT:
            i, cdata = i + 9, True  # only <![CDATA[ can be here
        elif cdata and byte == BRACKET and heap[i + 1] == BRACKET and heap[i + 2] == 0x3E:
            i, cdata = i + 3, False
        else:
            out[at] = byte
            i, at = i + 1, at + 1
    return at


@part
def next_text(kind: U8, size: I32, start: I64, length: I32, heap: U8, row: int, end: int) -> int:
    """The first text row from `row` up to `end`, or -1."""
    while row <= end:
        if kind[row] & KIND == TEXT:
            return row
        row += 1
    return -1


@part
def single(kind: U8, size: I32, start: I64, length: I32, heap: U8, row: int) -> int:
    """The row whose span is the whole value of `row`: itself or an only text; -1 none, -2 many."""
    which = kind[row] & KIND
    if which != ELEMENT and which != DOCUMENT:
        return row
    end = row + size[row]
    first = next_text(kind, size, start, length, heap, row + 1, end)
    if first < 0:
        return -1
    return first if next_text(kind, size, start, length, heap, first + 1, end) < 0 else -2


@part
def raw_length(kind: U8, size: I32, start: I64, length: I32, heap: U8, row: int) -> int:
    """At most so many bytes has the string value."""
    which = kind[row] & KIND
    if which != ELEMENT and which != DOCUMENT:
        return int(length[row])
    total, end = signed(0), row + size[row]
    text = next_text(kind, size, start, length, heap, row + 1, end)
    while text >= 0:
        total += length[text]
        text = next_text(kind, size, start, length, heap, text + 1, end)
    return total


@part
def put_span(
    kind: U8, size: I32, start: I64, length: I32, heap: U8, row: int, out: U8, at: int
) -> int:
    """Write the value of a row that has a span of its own."""
    first, count = start[row], length[row]
    if kind[row] & NEEDS_DECODE:
        return int(decode(heap, first, count, kind[row] & KIND, out, at))
    for i in range(count):
        out[at + i] = heap[first + i]
    return int(at + count)


@part
def put_value(
    kind: U8, size: I32, start: I64, length: I32, heap: U8, row: int, out: U8, at: int
) -> int:
    """Write the string value of any row → the place after it."""
    which = kind[row] & KIND
    if which != ELEMENT and which != DOCUMENT:
        return put_span(kind, size, start, length, heap, row, out, at)
    end = row + size[row]
    text = next_text(kind, size, start, length, heap, row + 1, end)
    while text >= 0:
        at = put_span(kind, size, start, length, heap, text, out, at)
        text = next_text(kind, size, start, length, heap, text + 1, end)
    return at


@kernel
def gather(c: Columns, rows: I64) -> tuple[U8, I64]:
    """The string values of `rows` end to end, and where each begins and ends."""
    kind, size, start, length, heap = c.kind, c.size, c.start, c.length, c.heap
    total = signed(0)
    for k in range(len(rows)):
        total += raw_length(kind, size, start, length, heap, rows[k])
    out, offsets, at = np.empty(total, np.uint8), np.empty(len(rows) + 1, np.int64), signed(0)
    offsets[0] = 0
    for k in range(len(rows)):
        at = put_value(kind, size, start, length, heap, rows[k], out, at)
        offsets[k + 1] = at
    return out[:at], offsets


@kernel
def has_at(data: U8, start: int, constant: U8) -> bool:
    """Whether the bytes of `constant` are at `start`."""
    i = 0
    while i < len(constant) and data[start + i] == constant[i]:
        i += 1
    return i == len(constant)


@kernel
def has_within(data: U8, start: int, length: int, constant: U8) -> bool:
    """Whether the bytes of `constant` are anywhere in the span."""
    if len(constant) == 0:
        return True
    first = constant[0]
    for i in range(start, start + length - len(constant) + 1):
        if data[i] == first and has_at(data, i, constant):
            return True
    return False


EQUALS, CONTAINS, STARTS, ENDS = range(4)


@kernel
def agrees(data: U8, start: int, length: int, constant: U8, how: int) -> bool:
    """Whether the span equals, contains, starts with or ends with `constant`."""
    if how == CONTAINS:
        return has_within(data, start, length, constant)
    if length < len(constant) or (how == EQUALS and length != len(constant)):
        return False
    return has_at(data, start + length - len(constant) if how == ENDS else start, constant)


@kernel
def hash_value(data: U8, start: int, length: int) -> np.uint64:
    """A 64-bit hash of the bytes of a span: eight at a time, then mixed (MurmurHash64A)."""
    m = np.uint64(0xC6A4A7935BD1E995)
    h = np.uint64(0x9E3779B97F4A7C15) ^ (np.uint64(length) * m)
    i, end = start, start + length
    while i + 8 <= end:
        k = np.uint64(0)
        for j in range(8):
            k |= np.uint64(data[i + j]) << np.uint64(8 * j)
        k *= m
        k ^= k >> np.uint64(47)
        h = (h ^ (k * m)) * m
        i += 8
    if i < end:
        for j in range(end - i):
            h ^= np.uint64(data[i + j]) << np.uint64(8 * j)
        h *= m
    h ^= h >> np.uint64(47)
    h *= m
    return h ^ (h >> np.uint64(47))


@kernel
def match_constant(c: Columns, rows: I64, constant: U8, how: int) -> Bools:
    """For each row, whether its string value agrees with `constant`."""
    kind, size, start, length, heap = c.kind, c.size, c.start, c.length, c.heap
    found = np.empty(len(rows), np.bool_)
    scratch = np.empty(256, np.uint8)
    for k in range(len(rows)):
        span = single(kind, size, start, length, heap, rows[k])
        if span >= 0 and kind[span] & NEEDS_DECODE == 0:
            found[k] = agrees(heap, start[span], length[span], constant, how)
            continue
        needed = raw_length(kind, size, start, length, heap, rows[k])
        if needed > len(scratch):
            scratch = np.empty(2 * needed, np.uint8)
        found[k] = agrees(
            scratch,
            signed(0),
            put_value(kind, size, start, length, heap, rows[k], scratch, signed(0)),
            constant,
            how,
        )
    return found


@kernel
def hash_rows(c: Columns, rows: I64) -> U64:
    """For each row, the hash of its string value."""
    kind, size, start, length, heap = c.kind, c.size, c.start, c.length, c.heap
    hashes = np.empty(len(rows), np.uint64)
    scratch = np.empty(256, np.uint8)
    for k in range(len(rows)):
        span = single(kind, size, start, length, heap, rows[k])
        if span >= 0 and kind[span] & NEEDS_DECODE == 0:
            hashes[k] = hash_value(heap, start[span], length[span])
            continue
        needed = raw_length(kind, size, start, length, heap, rows[k])
        if needed > len(scratch):
            scratch = np.empty(2 * needed, np.uint8)
        hashes[k] = hash_value(
            scratch,
            signed(0),
            put_value(kind, size, start, length, heap, rows[k], scratch, signed(0)),
        )
    return hashes


@kernel
def hash_spans(data: U8, offsets: I64) -> U64:
    """The hash of each of the strings laid end to end in `data`."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for k in range(len(hashes)):
        hashes[k] = hash_value(data, offsets[k], offsets[k + 1] - offsets[k])
    return hashes
