"""Numbers read from bytes: exact where double arithmetic is, else marked for a slower reader."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, part, signed
from xstreamcast.tape.layout import F64, I64, NEEDS_DECODE, U8, Columns
from xstreamcast.tape.values.string_kernels import put_value, raw_length, single

INVALID, EXACT, SLOW = range(3)
_POWERS = np.array([10.0**i for i in range(23)])  # those that a double holds exactly


@part
def is_space(byte: int) -> bool:
    return byte == 32 or byte == 10 or byte == 9 or byte == 13


@part
def word_value(data: U8, i: int, end: int, sign: float) -> tuple[int, float]:
    """INF and NaN."""
    if end - i != 3:
        return INVALID, np.nan
    if data[i] == 0x49 and data[i + 1] == 0x4E and data[i + 2] == 0x46:
        return EXACT, sign * np.inf
    return INVALID, np.nan


@kernel
def parse_double(data: U8, start: int, length: int) -> tuple[int, float]:
    """xs:double from its lexical form, white space around allowed → (INVALID|EXACT|SLOW, value)."""
    i, end = start, start + length
    while i < end and is_space(data[i]):
        i += 1
    while end > i and is_space(data[end - 1]):
        end -= 1
    if end - i == 3 and data[i] == 0x4E and data[i + 1] == 0x61 and data[i + 2] == 0x4E:
        return EXACT, np.nan
    sign = 1.0
    if i < end and (data[i] == 0x2D or data[i] == 0x2B):
        sign = -1.0 if data[i] == 0x2D else 1.0
        i += 1
    if i < end and data[i] == 0x49:
        return word_value(data, i, end, sign)
    mantissa, significant, digits, exponent, point = signed(0), 0, 0, 0, False
    while i < end:
        byte = signed(data[i])
        if 0x30 <= byte <= 0x39:
            digits += 1
            significant += mantissa > 0 or byte > 0x30
            if significant <= 18:
                mantissa = mantissa * 10 + (byte - 0x30)
            exponent -= point
        elif byte == 0x2E and not point:
            point = True
        else:
            break
        i += 1
    if digits == 0:
        return INVALID, np.nan
    if i < end:
        if (data[i] | 0x20) != 0x65:
            return INVALID, np.nan
        i += 1
        minus = i < end and data[i] == 0x2D
        if i < end and (data[i] == 0x2D or data[i] == 0x2B):
            i += 1
        if i == end:
            return INVALID, np.nan
        written = signed(0)
        while i < end:
            if not 0x30 <= data[i] <= 0x39:
                return INVALID, np.nan
            written = min(written * 10 + (signed(data[i]) - 0x30), 1_000_000)
            i += 1
        exponent += -written if minus else written
    if mantissa == 0:
        return EXACT, sign * 0.0
    if significant > 18 or mantissa > 1 << 53 or exponent > 22 or exponent < -22:
        return SLOW, np.nan
    if exponent < 0:
        return EXACT, sign * np.float64(mantissa) / _POWERS[-exponent]
    return EXACT, sign * np.float64(mantissa) * _POWERS[exponent]


@kernel
def parse_rows(c: Columns, rows: I64) -> tuple[U8, F64]:
    """`parse_double` of the string value of each row."""
    kind, size, start, length, heap = c.kind, c.size, c.start, c.length, c.heap
    status, values = np.empty(len(rows), np.uint8), np.empty(len(rows), np.float64)
    scratch = np.empty(256, np.uint8)
    for k in range(len(rows)):
        span = single(kind, size, start, length, heap, rows[k])
        if span >= 0 and kind[span] & NEEDS_DECODE == 0:
            status[k], values[k] = parse_double(heap, start[span], length[span])
            continue
        needed = raw_length(kind, size, start, length, heap, rows[k])
        if needed > len(scratch):
            scratch = np.empty(2 * needed, np.uint8)
        status[k], values[k] = parse_double(
            scratch,
            signed(0),
            put_value(kind, size, start, length, heap, rows[k], scratch, signed(0)),
        )
    return status, values


@kernel
def parse_spans(data: U8, offsets: I64) -> tuple[U8, F64]:
    """`parse_double` of each of the strings laid end to end in `data`."""
    count = len(offsets) - 1
    status, values = np.empty(count, np.uint8), np.empty(count, np.float64)
    for k in range(count):
        status[k], values[k] = parse_double(data, offsets[k], offsets[k + 1] - offsets[k])
    return status, values
