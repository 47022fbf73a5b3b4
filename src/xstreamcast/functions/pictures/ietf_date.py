"""fn:parse-ietf-date: dates as HTTP, mail and C's asctime write them."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.pictures.calendar_format import DAYS, MONTHS
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.model.atomic import DATE_TIME
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import DAY, HOUR, MINUTE, SECOND, DateTime, days_in_month

_DAY_NAMES: Final = "|".join(f"{name}|{name[:3]}" for name in DAYS)
_MONTH_NAMES: Final = "|".join(name[:3] for name in MONTHS)
_ZONES: Final = {
    "UT": 0, "UTC": 0, "GMT": 0, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300,
    "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip
_DAY: Final = r"(?P<day>[0-9]{1,2})"
_MONTH: Final = rf"(?P<month>{_MONTH_NAMES})"
_YEAR: Final = r"(?P<year>[0-9]{2}|[0-9]{4})"
_DASH: Final = r"(?:\s*-\s*|\s+)"
_NAMES: Final = "|".join(sorted(_ZONES, key=len, reverse=True))
_OFFSET: Final = (
    rf"(?P<sign>[+-])(?P<zh>[0-9]{{1,2}}):?(?P<zm>[0-9]{{2}})?(?:\s*\(\s*(?:{_NAMES})\s*\))?"
)
_TIME: Final = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    rf"(?:\s*(?:(?P<zone>{_NAMES})|{_OFFSET}))?"
)
_FORMS: Final = tuple(
    re.compile(rf"\s*(?:(?:{_DAY_NAMES}),?\s+)?{form}\s*", re.IGNORECASE | re.ASCII)
    for form in (
        rf"{_DAY}{_DASH}{_MONTH}{_DASH}{_YEAR}\s+{_TIME}",
        rf"{_MONTH}{_DASH}{_DAY}\s+{_TIME}\s+{_YEAR}",
    )
)


@function("fn:parse-ietf-date($value as xs:string?) as xs:dateTime?")
def parse_ietf_date(call: CallContext, value: Column) -> Column:
    """The xs:dateTime that a date in the form of RFC 822, 850, 1123 or asctime means."""
    return maybe(DATE_TIME, [None if t is None else parse(t) for t in one_or(value)])


def parse(text: str) -> DateTime:
    """The instant that the text names, or FORG0010."""
    match = next((m for form in _FORMS if (m := form.fullmatch(text))), None)
    made = None if match is None else _made(match.groupdict())
    if made is None:
        raise error("FORG0010", f'"{text}" is not a date in IETF form')
    return made


def _made(part: dict[str, str | None]) -> DateTime | None:
    year, day = int(part["year"] or 0), int(part["day"] or 0)
    year += 1900 if len(part["year"] or "") == 2 else 0
    month = [name[:3] for name in MONTHS].index((part["month"] or "").title()) + 1
    hour, minute = int(part["hour"] or 0), int(part["minute"] or 0)
    second, fraction = int(part["second"] or 0), ((part["fraction"] or "") + "0" * 9)[:9]
    nanos = hour * HOUR + minute * MINUTE + second * SECOND + int(fraction)
    offset = _offset(part)
    fits = minute < 60 and second < 60 and abs(offset) <= 14 * 60 and nanos <= DAY
    if not fits or not 1 <= day <= days_in_month(year, month):
        return None
    return DateTime.of(year, month, day, 0, offset).plus(nanos)


def _offset(part: dict[str, str | None]) -> int:
    if part["zone"] or not part["sign"]:
        return _ZONES[(part["zone"] or "UT").upper()]
    minutes = int(part["zh"] or 0) * 60 + int(part["zm"] or 0)
    if int(part["zm"] or 0) > 59:
        return 99 * 60  # beyond every time zone
    return -minutes if part["sign"] == "-" else minutes
