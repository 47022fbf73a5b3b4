"""Dates and times: their components, fn:dateTime, the current instant."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast.convert import part_of
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import column_of, maybe, one_or
from xstreamcast.model.atomic import (
    ATOMIC,
    DATE,
    DATE_TIME,
    DAY_TIME_DURATION,
    DECIMAL,
    INTEGER,
    TIME,
)
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import MINUTE, DateTime
from xstreamcast.model.duration import Duration

_STAMP = ATOMIC["dateTimeStamp"].tag


def _component(
    name: str, source: str, tag: int, result: str, part: Callable[[DateTime], Any]
) -> None:
    def body(call: CallContext, arg: Column) -> Column:
        return maybe(tag, [None if value is None else part(value) for value in one_or(arg)])

    what = name.removesuffix("s")
    signature = f"fn:{name}-from-{source}($arg as xs:{source}?) as xs:{result}?"
    function(signature, doc=f"The {what} of an xs:{source}.")(body)


def _seconds(value: DateTime) -> Decimal:
    return Decimal(value.nanos % MINUTE).scaleb(-9)


def zone_of(value: DateTime) -> Duration | None:
    """The time zone of a value as a duration."""
    return None if value.offset is None else Duration(seconds=Decimal(value.offset * 60))


for _source in ("dateTime", "date"):
    _component("year", _source, INTEGER, "integer", lambda value: value.year)
    _component("month", _source, INTEGER, "integer", lambda value: value.month)
    _component("day", _source, INTEGER, "integer", lambda value: value.day_of_month)
for _source in ("dateTime", "time"):
    _component("hours", _source, INTEGER, "integer", lambda value: value.hour)
    _component("minutes", _source, INTEGER, "integer", lambda value: value.minute)
    _component("seconds", _source, DECIMAL, "decimal", _seconds)
for _source in ("dateTime", "date", "time"):
    _component("timezone", _source, DAY_TIME_DURATION, "dayTimeDuration", zone_of)


@function("fn:dateTime($arg1 as xs:date?, $arg2 as xs:time?) as xs:dateTime?")
def date_time(call: CallContext, date: Column, time: Column) -> Column:
    """A date and a time of day as one xs:dateTime."""
    return maybe(DATE_TIME, map(_joined, one_or(date), one_or(time)))


def _joined(date: DateTime | None, time: DateTime | None) -> DateTime | None:
    if date is None or time is None:
        return None
    if None not in (date.offset, time.offset) and date.offset != time.offset:
        raise error("FORG0008")
    return DateTime(date.day, time.nanos, time.offset if date.offset is None else date.offset)


@function("fn:current-dateTime() as xs:dateTimeStamp", deterministic=False)
def current_date_time(call: CallContext) -> Column:
    """The instant of this evaluation, in the implicit time zone."""
    return column_of(_STAMP, [now(call)] * call.n)


@function("fn:current-date() as xs:date", deterministic=False)
def current_date(call: CallContext) -> Column:
    """The date of this evaluation, in the implicit time zone."""
    return column_of(DATE, [part_of(now(call), DATE)] * call.n)


@function("fn:current-time() as xs:time", deterministic=False)
def current_time(call: CallContext) -> Column:
    """The time of day of this evaluation, in the implicit time zone."""
    return column_of(TIME, [part_of(now(call), TIME)] * call.n)


def now(call: CallContext) -> DateTime:
    """The current instant as seen in the implicit time zone."""
    return call.current.moved(call.timezone)


@function("fn:implicit-timezone() as xs:dayTimeDuration", deterministic=False)
def implicit_timezone(call: CallContext) -> Column:
    """The time zone of values that have none."""
    zone = Duration(seconds=Decimal(call.timezone * 60))
    return column_of(DAY_TIME_DURATION, [zone] * call.n)
