"""Lexical forms of dates, times, their parts and durations."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.cast.facets import collapse, invalid
from xstreamcast.model.atomic import (
    ATOMIC,
    BY_TAG,
    DAY_TIME_DURATION,
    DURATION,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.date_time import DAY, HOUR, MINUTE, SECOND, DateTime, days_in_month
from xstreamcast.model.duration import Duration
from xstreamcast.model.exact import EXACT

_YEAR: Final = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))"
_MONTH: Final = r"(?P<month>0[1-9]|1[0-2])"
_DAY: Final = r"(?P<day>0[1-9]|[12][0-9]|3[01])"
_CLOCK: Final = (
    r"(?:(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9])"
    r"(?:\.(?P<fraction>[0-9]+))?|(?P<midnight>24:00:00(?:\.0+)?))"
)
_ZONE: Final = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"

# The parts each type has, in the order they are written.
_FORMS: Final = {
    "dateTime": f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}?",
    "dateTimeStamp": f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}",
    "date": f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}?",
    "time": f"{_CLOCK}{_ZONE}?",
    "gYearMonth": f"{_YEAR}-{_MONTH}{_ZONE}?",
    "gYear": f"{_YEAR}{_ZONE}?",
    "gMonthDay": f"--{_MONTH}-{_DAY}{_ZONE}?",
    "gDay": f"---{_DAY}{_ZONE}?",
    "gMonth": f"--{_MONTH}{_ZONE}?",
}
_PATTERNS: Final = {ATOMIC[name].tag: re.compile(form) for name, form in _FORMS.items()}
CALENDAR: Final = frozenset(_PATTERNS)
TIME_TAG: Final = ATOMIC["time"].tag
MAX_YEAR: Final = 2**31 - 1
_MOST_SECONDS: Final = 2**63 * 86400

_DATE_PART: Final = r"(?:(?P<Y>[0-9]+)Y)?(?:(?P<M>[0-9]+)M)?(?:(?P<D>[0-9]+)D)?"
_CLOCK_PART: Final = r"(?:T(?:(?P<h>[0-9]+)H)?(?:(?P<m>[0-9]+)M)?(?:(?P<s>[0-9]+(?:\.[0-9]+)?)S)?)?"
_DURATION: Final = re.compile(f"(?P<sign>-?)P{_DATE_PART}{_CLOCK_PART}")
_NOT_IN: Final = {YEAR_MONTH_DURATION: "Dhms", DAY_TIME_DURATION: "YM", DURATION: ""}


def parse_calendar(tag: int, text: str) -> DateTime:
    """The value of a date/time type."""
    text = collapse(text)
    match = _PATTERNS[tag].fullmatch(text)
    if match is None:
        raise invalid(tag, text)
    part = match.groupdict()
    # Parts that the type lacks are those of 1972-12-31, the reference of F&O: see DateTime.
    year = _year(part["year"]) if part.get("year") else 1972
    month = int(part.get("month") or (12 if tag in (TIME_TAG, ATOMIC["gDay"].tag) else 1))
    day = int(part.get("day") or (31 if tag == TIME_TAG else 1))
    if day > days_in_month(year, month):
        raise invalid(tag, text)
    made = DateTime.of(year, month, day, _nanos(part), offset_of(part["zone"]))
    return made.plus(DAY) if part.get("midnight") and tag != TIME_TAG else made


def _year(text: str) -> int:
    if len(text) > 12 or abs(int(text)) > MAX_YEAR:
        raise error("FODT0001", f"the year {text} is out of range")
    return int(text)


def _nanos(part: dict[str, str | None]) -> int:
    if not part.get("hour"):
        return 0
    fraction = int(((part["fraction"] or "") + "0" * 9)[:9])
    hour, minute, second = (int(part[name] or 0) for name in ("hour", "minute", "second"))
    return hour * HOUR + minute * MINUTE + second * SECOND + fraction


def offset_of(zone: str | None) -> int | None:
    """Minutes east of UTC of a time zone as written."""
    if zone is None or zone == "Z":
        return None if zone is None else 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    return -minutes if zone[0] == "-" else minutes


def zone_text(offset: int | None) -> str:
    """A time zone as it is written."""
    if not offset:
        return "" if offset is None else "Z"
    return f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"


def calendar_text(tag: int, value: DateTime) -> str:
    """The canonical form of a date/time value, its time zone kept."""
    year, month, day = value.ymd()
    date = f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day:02d}"
    match BY_TAG[tag].primitive:
        case "dateTime":
            text = f"{date}T{clock_text(value)}"
        case "date":
            text = date
        case "time":
            text = clock_text(value)
        case "gYearMonth":
            text = date[:-3]
        case "gYear":
            text = date[:-6]
        case "gMonthDay":
            text = f"--{month:02d}-{day:02d}"
        case "gDay":
            text = f"---{day:02d}"
        case _:
            text = f"--{month:02d}"
    return text + zone_text(value.offset)


def clock_text(value: DateTime) -> str:
    """hh:mm:ss with a fraction where there is one."""
    text = f"{value.hour:02d}:{value.minute:02d}:{value.second:02d}"
    return text + (f".{value.fraction:09d}".rstrip("0") if value.fraction else "")


def parse_duration(tag: int, text: str) -> Duration:
    """The value of a duration type."""
    text = collapse(text)
    match = _DURATION.fullmatch(text)
    part = match.groupdict() if match else {}
    # At least one part; at least one after T; none that the subtype lacks.
    if match is None or text[-1] in "PT" or any(part[name] for name in _NOT_IN[tag]):
        raise invalid(tag, text)
    if len(text) > 1000:
        raise error("FODT0002")
    months = int(part["Y"] or 0) * 12 + int(part["M"] or 0)
    whole = (int(part["D"] or 0) * 24 + int(part["h"] or 0)) * 60 + int(part["m"] or 0)
    seconds = EXACT.add(Decimal(whole * 60), Decimal(part["s"] or 0))
    made = duration(months, seconds)
    return -made if part["sign"] else made


def duration(months: int, seconds: Decimal) -> Duration:
    """A duration within the limits, or FODT0002."""
    if abs(months) >= 2**31 or seconds.copy_abs() >= _MOST_SECONDS:
        raise error("FODT0002")
    return Duration(months, seconds)
