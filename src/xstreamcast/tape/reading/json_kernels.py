"""Lines of JSON written as the XML that fn:json-to-xml makes of each."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import I64, U8

DEEPEST = 500  # brackets open at a time
_QUOTE, _LF, _CR, _TAB, _SPACE, _BACKSLASH = 34, 10, 13, 9, 32, 92
_AMP, _LT, _GT, _COMMA, _COLON, _ZERO, _NINE = 38, 60, 62, 44, 58, 48, 57
_MINUS, _PLUS, _DOT, _ARRAY, _ARRAY_END, _MAP, _MAP_END = 45, 43, 46, 91, 93, 123, 125
# Pieces of markup: beginnings without their `>`, then ends, then what a key is in.
MARKS = (
    b"<map", b"<array", b"<string", b"<number", b"<boolean", b"<null",
    b"</map>", b"</array>", b"</string>", b"</number>", b"</boolean>", b"/>", b' key="',
    b"true", b"false",
)  # fmt: skip
_M_MAP, _M_ARRAY, _M_STRING, _M_NUMBER, _M_BOOLEAN, _M_NULL = range(6)
_END = 6  # from a beginning to its end
_M_CLOSED, _M_KEY, _M_TRUE, _M_FALSE = 11, 12, 13, 14


def marks() -> tuple[U8, I64]:
    """The pieces of markup end to end, and where each begins."""
    ends = np.cumsum([0, *map(len, MARKS)]).astype(np.int64)
    return np.frombuffer(b"".join(MARKS), np.uint8), ends


@kernel
def _mark(out: U8, at: int, m: U8, m_at: I64, which: int) -> int:
    for i in range(m_at[which], m_at[which + 1]):
        out[at] = m[i]
        at += 1
    return at


@kernel
def _hex(data: U8, p: int, end: int) -> int:
    """The number that four hexadecimal digits say, or -1."""
    if p + 4 > end:
        return -1
    value = 0
    for i in range(p, p + 4):
        byte = signed(data[i])
        if 48 <= byte <= 57:
            digit = byte - 48
        elif 65 <= byte <= 70:
            digit = byte - 55
        elif 97 <= byte <= 102:
            digit = byte - 87
        else:
            return -1
        value = value * 16 + digit
    return value


@kernel
def _character(out: U8, at: int, code: int) -> int:
    """Write a character in UTF-8; one that XML has a meaning for, as a reference to it."""
    if code in (_AMP, _LT, _GT, _QUOTE, _TAB, _LF, _CR):
        out[at], out[at + 1] = _AMP, 35
        at += 2
        if code >= 10:
            out[at] = 48 + code // 10
            at += 1
        out[at], out[at + 1] = 48 + code % 10, 59
        return at + 2
    if code < 0x20 or 0xD800 <= code <= 0xDFFF or code == 0xFFFE or code == 0xFFFF:
        code = 0xFFFD  # XML has no such character
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at], out[at + 1] = 0xC0 | code >> 6, 0x80 | code & 63
        return at + 2
    if code < 0x10000:
        out[at], out[at + 1] = 0xE0 | code >> 12, 0x80 | code >> 6 & 63
        out[at + 2] = 0x80 | code & 63
        return at + 3
    out[at], out[at + 1] = 0xF0 | code >> 18, 0x80 | code >> 12 & 63
    out[at + 2], out[at + 3] = 0x80 | code >> 6 & 63, 0x80 | code & 63
    return at + 4


@kernel
def _string(data: U8, p: int, end: int, out: U8, here: I64) -> int:
    """Write the string behind an opening quote → the place behind its closing one, or -1."""
    at = here[0]
    while p < end:
        byte = signed(data[p])
        if byte == _QUOTE:
            here[0] = at
            return p + 1
        if byte < _SPACE:
            return -1
        if byte in (_AMP, _LT, _GT):
            at = _character(out, at, byte)
            p += 1
        elif byte != _BACKSLASH:
            out[at] = byte
            at += 1
            p += 1
        else:
            if p + 1 >= end:
                return -1
            letter = data[p + 1]
            p += 2
            if letter == 117:  # u
                code = _hex(data, p, end)
                if code < 0:
                    return -1
                p += 4
                if 0xD800 <= code < 0xDC00 and p + 6 <= end and data[p] == _BACKSLASH:
                    low = _hex(data, p + 2, end) if data[p + 1] == 117 else -1
                    if 0xDC00 <= low < 0xE000:
                        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                        p += 6
            elif letter in (_QUOTE, _BACKSLASH, 47):
                code = signed(letter)
            elif letter == 110:
                code = 10
            elif letter == 116:
                code = 9
            elif letter == 114:
                code = 13
            elif letter == 98 or letter == 102:
                code = 8
            else:
                return -1
            at = _character(out, at, code)
    return -1


@kernel
def _digits(data: U8, p: int, end: int) -> int:
    """The place behind a run of digits, or -1 if there is none."""
    first = p
    while p < end and _ZERO <= data[p] <= _NINE:
        p += 1
    return p if p > first else -1


@kernel
def _number(data: U8, p: int, end: int) -> int:
    """The place behind a number, or -1."""
    if data[p] == _MINUS:
        p += 1
    first = p
    p = _digits(data, p, end)
    if p < 0 or (data[first] == _ZERO and p > first + 1):
        return -1
    if p < end and data[p] == _DOT:
        p = _digits(data, p + 1, end)
        if p < 0:
            return -1
    if p < end and (data[p] == 101 or data[p] == 69):
        p += 1
        if p < end and (data[p] == _PLUS or data[p] == _MINUS):
            p += 1
        p = _digits(data, p, end)
    return p


@kernel
def _word(data: U8, p: int, end: int, m: U8, begin: int, stop: int) -> int:
    """The place behind a word that is in the marks, or -1."""
    size = stop - begin
    if p + size > end:
        return -1
    for i in range(size):
        if data[p + i] != m[begin + i]:
            return -1
    return p + size


@kernel
def _spaces(data: U8, p: int, end: int) -> int:
    while p < end and (data[p] == _SPACE or data[p] == _TAB or data[p] == _CR or data[p] == _LF):
        p += 1
    return p


@kernel
def _line(
    data: U8, p: int, end: int, m: U8, m_at: I64, outer: U8, open_: U8, out: U8, here: I64
) -> bool:
    """Write one JSON text → whether it is one."""
    depth, first = 0, True
    null = m_at[_M_NULL] + 1
    while True:
        # a value, or the end of what is open
        p = _spaces(data, p, end)
        if p >= end:
            return False
        key = -1
        if depth:
            inside = open_[depth - 1]
            if data[p] == (_MAP_END if inside == _M_MAP else _ARRAY_END):
                here[0] = _mark(out, here[0], m, m_at, inside + _END)
                p, depth, first = p + 1, depth - 1, False
                if depth == 0:
                    return bool(_spaces(data, p, end) == end)
                continue
            if not first:
                if data[p] != _COMMA:
                    return False
                p = _spaces(data, p + 1, end)
                if p >= end:
                    return False
            if inside == _M_MAP:
                if data[p] != _QUOTE:
                    return False
                key = p
                p += 1
                while p < end and data[p] != _QUOTE:
                    p += 2 if data[p] == _BACKSLASH else 1
                p = _spaces(data, p + 1, end)
                if p >= end or data[p] != _COLON:
                    return False
                p = _spaces(data, p + 1, end)
                if p >= end:
                    return False
        byte = data[p]
        if byte == _MAP:
            which = _M_MAP
        elif byte == _ARRAY:
            which = _M_ARRAY
        elif byte == _QUOTE:
            which = _M_STRING
        elif byte == 116 or byte == 102:
            which = _M_BOOLEAN
        elif byte == 110:
            which = _M_NULL
        elif byte == _MINUS or _ZERO <= byte <= _NINE:
            which = _M_NUMBER
        else:
            return False
        at = _mark(out, here[0], m, m_at, which)
        if depth == 0:
            for i in range(len(outer)):
                out[at] = outer[i]
                at += 1
        if key >= 0:
            here[0] = _mark(out, at, m, m_at, _M_KEY)
            if _string(data, key + 1, end, out, here) < 0:
                return False
            at = here[0]
            out[at] = _QUOTE
            at += 1
        if which == _M_NULL:
            here[0] = _mark(out, at, m, m_at, _M_CLOSED)
            p = _word(data, p, end, m, null, null + 4)
        else:
            out[at] = _GT
            at += 1
            here[0] = at
            if which in (_M_MAP, _M_ARRAY):
                if depth == len(open_):
                    return False
                open_[depth] = which
                p, depth, first = p + 1, depth + 1, True
                continue
            if which == _M_STRING:
                p = _string(data, p + 1, end, out, here)
            elif which == _M_NUMBER:
                begin = p
                p = _number(data, p, end)
                for i in range(begin, p):
                    out[at] = data[i]
                    at += 1
                here[0] = at
            else:
                word = _M_TRUE if byte == 116 else _M_FALSE
                p = _word(data, p, end, m, m_at[word], m_at[word + 1])
                here[0] = _mark(out, at, m, m_at, word)
            here[0] = _mark(out, here[0], m, m_at, which + _END)
        if p < 0:
            return False
        first = False
        if depth == 0:
            return bool(_spaces(data, p, end) == end)


@kernel
def json_lines(
    data: U8, begins: I64, ends: I64, m: U8, m_at: I64, outer: U8, open_: U8, out: U8,
    writes: I64, good: U8,
) -> None:  # fmt: skip
    """Write each line data[begins[r]:ends[r]]; its XML ends at out[writes[r]] (a bad one has none).

    `outer` is in the outermost element of each: a declaration of the namespace, or nothing.
    """
    here = np.zeros(1, np.int64)
    for r in range(len(begins)):
        start = here[0]
        fits = _line(data, begins[r], ends[r], m, m_at, outer, open_, out, here)
        good[r] = fits
        if fits:
            out[here[0]] = _LF
            here[0] += 1
        else:
            here[0] = start
        writes[r] = here[0]
