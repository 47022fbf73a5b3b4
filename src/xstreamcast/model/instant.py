"""Instants: when something is true, as microseconds since 1970-01-01T00:00:00Z."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from xstreamcast.model.date_time import DateTime, day_number

SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND
_MINUTE: Final = 60 * SECOND

# As ends of a lifespan these stay symbolic: time passing is not a change of every element.
START: Final = -(2**63) + 1
NOW: Final = 2**63 - 1

_EPOCH: Final = day_number(1970, 1, 1)
_FORM: Final = re.compile(
    r"(-?\d{4,})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)?",
    re.ASCII,
)


def parse_instant(text: str) -> tuple[int, bool] | None:
    """The instant that a dateTime or date names, and whether it has a time zone; None if neither.

    A value without time zone counts as UTC; a date is its midnight; finer fractions than
    a microsecond are truncated.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    clock = [int(part or 0) for part in (hour, minute, second)]
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= _days(int(year), int(month))):
        return None
    if clock == [24, 0, 0] and not (fraction or "").strip("0"):
        pass  # the midnight that ends the day
    elif clock[0] > 23 or clock[1] > 59 or clock[2] > 59:
        return None
    if zone and zone != "Z" and (int(zone[4:]) > 59 or abs(_offset(zone)) > 840):
        return None
    days = day_number(int(year), int(month), int(day)) - _EPOCH
    seconds = (clock[0] * 60 + clock[1]) * 60 + clock[2] - _offset(zone) * 60
    micros = int((fraction or "")[:6].ljust(6, "0"))
    instant = days * DAY + seconds * SECOND + micros
    return (instant, zone is not None) if START < instant < NOW else None


def _days(year: int, month: int) -> int:
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    return day_number(*after, 1) - day_number(year, month, 1)


def _offset(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    sign = -1 if zone[0] == "-" else 1
    return sign * (int(zone[1:3]) * 60 + int(zone[4:]))


def show_instant(instant: int, zoned: bool = False) -> str:
    """The instant as a dateTime in UTC, with Z only if it was given with a time zone."""
    if instant == NOW:
        return "now"
    if instant == START:
        return "start"
    minutes, rest = divmod(instant, _MINUTE)
    seconds, micros = divmod(rest, SECOND)
    fraction = f".{micros:06}".rstrip("0") if micros else ""
    return f"{_shown_minute(minutes)}:{seconds:02}{fraction}{'Z' if zoned else ''}"


@lru_cache(maxsize=4096)  # keys of versions name their instants, many of one minute
def _shown_minute(minutes: int) -> str:
    days, clock = divmod(minutes, 1440)
    year, month, day = DateTime(days + _EPOCH).ymd()
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day:02}T{clock // 60:02}:{clock % 60:02}"
