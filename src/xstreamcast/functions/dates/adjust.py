"""Adjusting dates and times to a time zone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast.convert import part_of
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.model.atomic import ATOMIC
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import DateTime
from xstreamcast.model.duration import Duration

_LIMIT: Final = 14 * 60


def adjusted(value: DateTime, offset: int | None, tag: int) -> DateTime:
    """The value in another time zone: moved if it had one, else only marked; None takes it away."""
    if offset is None or value.offset is None:
        return value.zoned(offset)
    return part_of(value.moved(offset), tag)


def offset_in(zone: Duration | None) -> int | None:
    """Minutes of a duration that is a time zone, or FODT0003."""
    if zone is None:
        return None
    minutes, rest = divmod(zone.seconds, 60)
    if rest or abs(minutes) > _LIMIT:
        raise error("FODT0003", f"{zone} must be whole minutes between -PT14H and PT14H")
    return int(minutes)


def _rows(source: str) -> None:
    tag = ATOMIC[source].tag
    name, head = f"fn:adjust-{source}-to-timezone", f"$arg as xs:{source}?"

    def each(arg: Column, change: Callable[[DateTime, int], DateTime]) -> Column:
        cells = enumerate(one_or(arg))
        return maybe(tag, [None if value is None else change(value, i) for i, value in cells])

    def implicit(call: CallContext, arg: Column) -> Column:
        return each(arg, lambda value, i: adjusted(value, call.timezone, tag))

    def explicit(call: CallContext, arg: Column, zone: Column) -> Column:
        offsets = [offset_in(span) for span in one_or(zone)]
        return each(arg, lambda value, i: adjusted(value, offsets[i], tag))

    function(f"{name}({head}) as xs:{source}?", doc="The value in the implicit time zone.")(
        implicit
    )
    function(
        f"{name}({head}, $timezone as xs:dayTimeDuration?) as xs:{source}?",
        doc="The value in the given time zone, or without one.",
    )(explicit)


for _source in ("dateTime", "date", "time"):
    _rows(_source)
