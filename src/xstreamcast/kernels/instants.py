"""Spans of bytes that name instants, to microseconds since 1970-01-01T00:00:00Z."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel

U8 = npt.NDArray[np.uint8]
I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

# What is said of each span: bits of what was met, or one of the negative ones.
ZONED: Final = 1
CUT: Final = 2  # finer than a microsecond
ABSENT: Final = -1
NOT_ONE: Final = -2  # no dateTime and no date
UNSURE: Final = -3  # years beyond four digits: `parse_instant` must say

_SECOND: Final = 1_000_000
_DAYS: Final = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)


@kernel
def _digits(heap: U8, at: int, count: int) -> int:
    """The number that `count` digits name, -1 if they are none."""
    value = 0
    for i in range(at, at + count):
        digit = int(np.int64(heap[i])) - 48
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value


@kernel
def _day(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    y = year - 1 if month <= 2 else year
    shifted = month + 9 if month <= 2 else month - 3
    of_year = (153 * shifted + 2) // 5 + day - 1
    return y * 365 + y // 4 - y // 100 + y // 400 + of_year - 719_468


@kernel
def _parse(heap: U8, at: int, end: int) -> tuple[int, int]:
    """(instant, what is said of it) of the bytes from `at` to `end`."""
    while at < end and heap[at] <= 32:
        at += 1
    while end > at and heap[end - 1] <= 32:
        end -= 1
    bad = (0, NOT_ONE)
    if end - at < 10:
        return bad
    if heap[at] == 45 or heap[at + 4] != 45:
        return 0, UNSURE
    year, month, day = _digits(heap, at, 4), _digits(heap, at + 5, 2), _digits(heap, at + 8, 2)
    if year < 0 or month < 1 or month > 12 or day < 1 or heap[at + 7] != 45:
        return bad
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if day > _DAYS[month] + (1 if month == 2 and leap else 0):
        return bad
    instant, said = _day(year, month, day) * 86_400 * _SECOND, 0
    at += 10
    if at < end and heap[at] == 84:
        if end - at < 9 or heap[at + 3] != 58 or heap[at + 6] != 58:
            return bad
        hour, minute = _digits(heap, at + 1, 2), _digits(heap, at + 4, 2)
        second = _digits(heap, at + 7, 2)
        midnight = hour == 24 and minute == 0 and second == 0
        if hour < 0 or minute < 0 or second < 0 or minute > 59 or second > 59:
            return bad
        if hour > 23 and not midnight:
            return bad
        instant += ((hour * 60 + minute) * 60 + second) * _SECOND
        at += 9
        if at < end and heap[at] == 46:
            at, unit = at + 1, 100_000
            if at >= end or heap[at] < 48 or heap[at] > 57:
                return bad
            while at < end and 48 <= heap[at] <= 57:
                digit = int(np.int64(heap[at])) - 48
                if digit and midnight:
                    return bad
                if digit and unit == 0:
                    said |= CUT
                instant += digit * unit
                unit //= 10
                at += 1
    if at == end:
        return instant, said
    if heap[at] == 90 and at + 1 == end:
        return instant, said | ZONED
    sign = heap[at]
    if end - at != 6 or (sign != 43 and sign != 45) or heap[at + 3] != 58:
        return bad
    hours, minutes = _digits(heap, at + 1, 2), _digits(heap, at + 4, 2)
    if hours < 0 or minutes < 0 or minutes > 59 or hours * 60 + minutes > 840:
        return bad
    away = (hours * 60 + minutes) * 60 * _SECOND
    return (instant - away if sign == 43 else instant + away), said | ZONED


@kernel
def instants(heap: U8, start: I64, length: I32, out: I64, said: I8) -> None:
    """The instant of each span and what is said of it; a length below 0 means that it is absent."""
    for i in range(len(start)):
        if length[i] < 0:
            out[i], said[i] = 0, ABSENT
        else:
            value, what = _parse(heap, start[i], start[i] + length[i])
            out[i], said[i] = value, what
