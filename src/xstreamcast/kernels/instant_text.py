"""Instants written as dateTimes into bytes."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel

U8 = npt.NDArray[np.uint8]

WIDEST: Final = 32  # bytes that an instant takes at most
_START: Final = -(2**63) + 1
_NOW: Final = 2**63 - 1
_WORDS: Final = np.frombuffer(b"nowstart", np.uint8).copy()


@kernel
def _put(value: int, digits: int, out: U8, at: int) -> int:
    for i in range(at + digits - 1, at - 1, -1):
        out[i] = 48 + value % 10
        value //= 10
    return at + digits


@kernel
def put_instant(instant: int, zoned: bool, out: U8, at: int) -> int:
    """Write an instant as `show_instant` shows it → the place behind it."""
    if instant in (_NOW, _START):
        first, last = (0, 3) if instant == _NOW else (3, 8)
        for i in range(first, last):
            out[at] = _WORDS[i]
            at += 1
        return at
    seconds, micros = instant // 1_000_000, instant % 1_000_000
    days, clock = seconds // 86_400, seconds % 86_400
    # Years that begin in March put the leap day last; 719468 days lie before 1970.
    z = days + 719_468
    era, of_era = z // 146_097, z % 146_097
    y = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * y + y // 4 - y // 100)
    m = (5 * of_year + 2) // 153
    day = of_year - (153 * m + 2) // 5 + 1
    month = m + 3 if m < 10 else m - 9
    year = y + era * 400 + (1 if month <= 2 else 0)
    if year < 0:
        out[at], at, year = 45, at + 1, -year
    wide, rest = 4, year // 10_000
    while rest > 0:
        wide, rest = wide + 1, rest // 10
    at = _put(year, wide, out, at)
    for mark, value in ((45, month), (45, day), (84, clock // 3600), (58, clock // 60 % 60)):
        out[at] = mark
        at = _put(value, 2, out, at + 1)
    out[at] = 58
    at = _put(clock % 60, 2, out, at + 1)
    if micros:
        out[at] = 46
        at = _put(micros, 6, out, at + 1)
        while out[at - 1] == 48:
            at -= 1
    if zoned:
        out[at], at = 90, at + 1
    return at
