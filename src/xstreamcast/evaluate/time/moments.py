"""Instants as values of a query: dateTimes to and from microseconds, `now` and `start` among them.

`start` as a value is xs:dateTime("-200000-01-01T00:00:00"); whatever is not after it is `start`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from xstreamcast.errors import error
from xstreamcast.evaluate.time.lifespans import instant_of
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.atomic import DATE, DATE_TIME, PRIMITIVE, STRING, UNTYPED
from xstreamcast.model.date_time import DAY, DateTime, day_number
from xstreamcast.model.instant import DAY as DAY_MICROS
from xstreamcast.model.instant import NOW, START
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column
    from xstreamcast.tape.layout import I64, U8

_EPOCH: Final = day_number(1970, 1, 1)
BEGINNING: Final = DateTime.of(-200_000)
_BEGINNING: Final = (BEGINNING.day - _EPOCH) * DAY_MICROS


class Moment(NamedTuple):
    """An instant and whether it has a time zone."""

    instant: int
    zoned: bool = False


def now(frame: Frame) -> Moment:
    """The instant of the clock that was handed in."""
    inputs = frame.context.inputs
    return inputs.clock or Moment(*instant_from(inputs.current))


def date_time(instant: int, zoned: bool, clock: Moment) -> DateTime:
    """An instant as a value; symbolic ones are resolved."""
    if instant == START:
        return BEGINNING
    if instant == NOW:
        instant, zoned = clock
    days, micros = divmod(instant, DAY_MICROS)
    return DateTime(days + _EPOCH, micros * 1000, 0 if zoned else None)


def instant_from(value: DateTime) -> tuple[int, bool]:
    """(instant, whether it has a time zone) of a dateTime or date."""
    micros = (value.instant() - _EPOCH * DAY) // 1000
    bounded = START if micros <= _BEGINNING else min(micros, NOW - 1)
    return bounded, value.offset is not None


def moments(frame: Frame, column: Column) -> tuple[I64, U8, I64]:
    """(instants, zones, rows) of a column that holds at most one instant a row."""
    atoms = atomize(frame.context.store, column)
    if (atoms.lengths() > 1).any():
        raise error("XPTY0004", "an end of an interval must be one instant; got several")
    items = atoms.items
    if len(items) > 1 and items.tag in (DATE_TIME, DATE) and items.values.strides == (0,):
        items = items.slice(0, 1)  # one value for all rows
    found = [_moment(tag, value) for tag, value in items.pairs()]
    instants = np.array([one[0] for one in found], np.int64)
    zones = np.array([one[1] for one in found], np.uint8)
    rows = atoms.rows()
    if len(found) < len(rows):
        return np.repeat(instants, len(rows)), np.repeat(zones, len(rows)), rows
    return instants, zones, rows


def _moment(tag: int, value: Any) -> tuple[int, int]:
    match PRIMITIVE.get(tag):
        case kind if kind in (DATE_TIME, DATE):
            instant, zoned = instant_from(value)
            return instant, int(zoned)
        case kind if kind in (STRING, UNTYPED):
            return instant_of(value)
        case _:
            raise error("XPTY0004", "an end of an interval must be a dateTime or a date")


def date_times(instants: I64, zoned: U8, clock: Moment) -> Items:
    """Instants as items."""
    pairs = zip(instants.tolist(), zoned.tolist(), strict=True)
    return Items.of(DATE_TIME, [date_time(one, bool(zone), clock) for one, zone in pairs])
