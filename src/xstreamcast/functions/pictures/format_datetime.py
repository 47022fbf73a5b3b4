"""fn:format-dateTime, fn:format-date, fn:format-time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Final
from zoneinfo import ZoneInfo

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast.convert import split_qname
from xstreamcast.functions.dates.adjust import adjusted
from xstreamcast.functions.pictures.calendar_format import component_text
from xstreamcast.functions.pictures.calendar_picture import Marker, calendar_picture
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.model.atomic import ATOMIC, BY_TAG, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import DateTime

_ABSENT: Final = {"date": "HhPmsf", "time": "YMDdFWwCE", "dateTime": ""}
# The designators of F&O 3.1, section 9.8.4.3; dates are written in the Gregorian one.
_CALENDARS: Final = frozenset(
    [
        "AD",
        "AH",
        "AME",
        "AM",
        "AP",
        "AS",
        "BE",
        "CB",
        "CE",
        "CL",
        "CS",
        "EE",
        "FE",
        "ISO",
        "JE",
        "KE",
        "KY",
        "ME",
        "MS",
        "NS",
        "OS",
        "RS",
        "SE",
        "SH",
        "SS",
        "TE",
        "VE",
        "VS",
    ]
)
_GREGORIAN: Final = frozenset({"AD", "ISO", "CE", "NS"})


def write(value: DateTime, picture: str, source: str) -> str:
    """A date or time in a picture."""
    return "".join(
        part if isinstance(part, str) else _component(part, value, source)
        for part in calendar_picture(picture)
    )


def _component(marker: Marker, value: DateTime, source: str) -> str:
    if marker.component in _ABSENT[source]:
        raise error("FOFD1350", f"an xs:{source} has no component [{marker.component}]")
    return component_text(marker, value)


def _prefix(language: str | None, calendar: str | None) -> str:
    """The prefix if another language or calendar was requested."""
    out = ""
    if language and not re.match(r"en(?:-|$)", language):
        out += "[Language: en]"
    if calendar is not None and not _gregorian(calendar):
        out += "[Calendar: AD]"
    return out


def _gregorian(calendar: str) -> bool:
    uri, name = ("", calendar)
    if calendar.startswith("Q{") and "}" in calendar:
        uri, _, name = calendar[2:].partition("}")
    parts = split_qname(name)
    if parts is None or (not uri and not parts[0] and name not in _CALENDARS):
        raise error("FOFD1340", f"the calendar {calendar} is not known")
    return not uri and name in _GREGORIAN


def _placed(value: DateTime, place: str | None, tag: int) -> DateTime:
    """The value as the clocks of the place show it, if that is a zone of the tz database."""
    if place is None or value.offset is None or "/" not in place:
        return value
    try:
        zone = ZoneInfo(place)
    except (OSError, ValueError):
        return value
    year, month, day = value.ymd()
    if not 1 < year < 9999:
        return value
    own = timezone(timedelta(minutes=value.offset))
    moment = datetime(year, month, day, value.hour, value.minute, value.second, tzinfo=own)
    shift = zone.utcoffset(moment.astimezone(zone))
    return value if shift is None else adjusted(value, int(shift.total_seconds() // 60), tag)


def _full(
    tag: int,
    value: DateTime | None,
    picture: str,
    language: str | None,
    calendar: str | None,
    place: str | None,
) -> str | None:
    if value is None:
        return None
    text = write(_placed(value, place, tag), picture, BY_TAG[tag].name)
    return _prefix(language, calendar) + text


def _rows(source: str) -> None:
    tag = ATOMIC[source].tag
    head = f"$value as xs:{source}?, $picture as xs:string"
    more = "$language as xs:string?, $calendar as xs:string?, $place as xs:string?"

    def plain(call: CallContext, value: Column, picture: Column) -> Column:
        pairs = zip(one_or(value), one_or(picture), strict=True)
        return maybe(STRING, [None if v is None else write(v, how, source) for v, how in pairs])

    def full(call: CallContext, *arguments: Column) -> Column:
        rows = zip(*map(one_or, arguments), strict=True)
        return maybe(STRING, [_full(tag, *row) for row in rows])

    doc = f"The xs:{source} as the picture says."
    function(f"fn:format-{source}({head}) as xs:string?", doc=doc)(plain)
    function(f"fn:format-{source}({head}, {more}) as xs:string?", doc=doc)(full)


for _source in ("dateTime", "date", "time"):
    _rows(_source)
