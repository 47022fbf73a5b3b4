"""Arithmetic of dates, times and durations."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import error
from xstreamcast.functions.cast.calendar import MAX_YEAR, duration
from xstreamcast.functions.cast.convert import part_of
from xstreamcast.functions.numbers.numeric import divide_to
from xstreamcast.model.atomic import (
    BY_TAG,
    DATE,
    DATE_TIME,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    PRIMITIVE,
    TIME,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.date_time import SECOND, DateTime
from xstreamcast.model.duration import ZERO, Duration
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Operation = Callable[[Any, Any], Any]

_SCALE: Final = 20  # digits after the point of a quotient of durations
_DAYS_LIMIT: Final = 366 * MAX_YEAR


def span_arithmetic(op: str, left: Items, right: Items) -> Items:
    """left[i] op right[i] where at least one is a date, time or duration."""
    key = (op, PRIMITIVE.get(left.tag, left.tag), PRIMITIVE.get(right.tag, right.tag))
    row = _TABLE.get(key)
    if row is None:
        names = (f"xs:{BY_TAG[tag].name}" if tag in BY_TAG else "a node" for tag in key[1:])
        raise error("XPTY0004", f"{op} cannot be applied to {' and '.join(names)}")
    tag, operation = row
    pairs = zip(left.values.tolist(), right.values.tolist(), strict=True)
    return Items.of(tag, [operation(a, b) for a, b in pairs])


# -- durations ------------------------------------------------------------------------------------


def _sum(a: Duration, b: Duration) -> Duration:
    return duration(a.months + b.months, EXACT.add(a.seconds, b.seconds))


def _difference(a: Duration, b: Duration) -> Duration:
    return _sum(a, -b)


def _factor(number: Any) -> Decimal:
    """A number as a factor of a duration: the shortest decimal that means the same double."""
    if isinstance(number, float):
        if math.isnan(number):
            raise error("FOCA0005")
        if math.isinf(number):
            raise error("FODT0002")
        return Decimal(repr(number))
    return Decimal(number)


def _scaled_months(a: Duration, number: Any) -> Duration:
    return duration(_half_up(EXACT.multiply(Decimal(a.months), _factor(number))), ZERO)


def _scaled_seconds(a: Duration, number: Any) -> Duration:
    return duration(0, EXACT.multiply(a.seconds, _factor(number)))


def _divided_months(a: Duration, number: Any) -> Duration:
    if isinstance(number, float) and math.isinf(number):
        return Duration()
    return duration(_half_up(divide_to(Decimal(a.months), _nonzero(number), _SCALE)), ZERO)


def _divided_seconds(a: Duration, number: Any) -> Duration:
    if isinstance(number, float) and math.isinf(number):
        return Duration()
    return duration(0, divide_to(a.seconds, _nonzero(number), _SCALE, ROUND_DOWN))


def _nonzero(number: Any) -> Decimal:
    if number == 0:
        raise error("FODT0002", "a duration cannot be divided by zero")
    return _factor(number)


def _half_up(value: Decimal) -> int:
    """The nearest integer; halfway cases go up, as fn:round does."""
    return math.floor(EXACT.add(value, Decimal("0.5")))


def _ratio_of_months(a: Duration, b: Duration) -> Decimal:
    if b.months == 0:
        raise error("FOAR0001")
    return divide_to(Decimal(a.months), Decimal(b.months), _SCALE, ROUND_HALF_UP)


def _ratio_of_seconds(a: Duration, b: Duration) -> Decimal:
    if b.seconds == 0:
        raise error("FOAR0001")
    return divide_to(a.seconds, b.seconds, _SCALE, ROUND_HALF_UP)


# -- dates and times ------------------------------------------------------------------------------


def _within(value: DateTime) -> DateTime:
    if abs(value.day) > _DAYS_LIMIT:
        raise error("FODT0001")
    return value


def _nanos(span: Duration) -> int:
    """Whole nanoseconds, downwards: the finest step of a time of day."""
    return math.floor(span.seconds.scaleb(9, EXACT))


def _later(value: DateTime, span: Duration) -> DateTime:
    if span.months:
        return _within(value.plus_months(span.months))
    return _within(value.plus(_nanos(span)))


def _earlier(value: DateTime, span: Duration) -> DateTime:
    return _later(value, -span)


def _later_date(value: DateTime, span: Duration) -> DateTime:
    return part_of(_later(value, span), DATE)


def _later_time(value: DateTime, span: Duration) -> DateTime:
    return part_of(value.plus(_nanos(span)), TIME)


def _between(a: DateTime, b: DateTime) -> Duration:
    seconds, rest = divmod(a.instant() - b.instant(), SECOND)
    if not rest:
        return duration(0, Decimal(seconds))
    return duration(0, Decimal(seconds * SECOND + rest).scaleb(-9, EXACT))


def _flip(operation: Operation) -> Operation:
    return lambda a, b: operation(b, a)


def _table() -> dict[tuple[str, int, int], tuple[int, Operation]]:
    months, seconds = YEAR_MONTH_DURATION, DAY_TIME_DURATION
    table: dict[tuple[str, int, int], tuple[int, Operation]] = {
        ("div", months, months): (DECIMAL, _ratio_of_months),
        ("div", seconds, seconds): (DECIMAL, _ratio_of_seconds),
        ("+", TIME, seconds): (TIME, _later_time),
        ("-", TIME, seconds): (TIME, lambda a, b: _later_time(a, -b)),
        ("+", seconds, TIME): (TIME, _flip(_later_time)),
    }
    for span in (months, seconds):
        table["+", span, span] = (span, _sum)
        table["-", span, span] = (span, _difference)
        table["+", DATE_TIME, span] = (DATE_TIME, _later)
        table["-", DATE_TIME, span] = (DATE_TIME, _earlier)
        table["+", span, DATE_TIME] = (DATE_TIME, _flip(_later))
        table["+", DATE, span] = (DATE, _later_date)
        table["-", DATE, span] = (DATE, lambda a, b: _later_date(a, -b))
        table["+", span, DATE] = (DATE, _flip(_later_date))
    for number in (INTEGER, DECIMAL, FLOAT, DOUBLE):
        for span, scaled, divided in (
            (months, _scaled_months, _divided_months),
            (seconds, _scaled_seconds, _divided_seconds),
        ):
            table["*", span, number] = (span, scaled)
            table["*", number, span] = (span, _flip(scaled))
            table["div", span, number] = (span, divided)
    for tag in (DATE_TIME, DATE, TIME):
        table["-", tag, tag] = (seconds, _between)
    return table


_TABLE: Final = _table()
