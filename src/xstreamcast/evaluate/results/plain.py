"""Items as plain Python values: numbers, strings, dates, dicts and lists."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.functions.cast import string_value
from xstreamcast.model.array_item import ArrayItem
from xstreamcast.model.atomic import DATE, DATE_TIME, DAY_TIME_DURATION, NODE, PRIMITIVE, TIME
from xstreamcast.model.map_item import MapItem

if TYPE_CHECKING:
    from xstreamcast.model.column import Column
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store

_PLAIN: Final = (int, float, Decimal, str, bytes)
_READ: Final = {
    DATE_TIME: datetime.fromisoformat,
    DATE: date.fromisoformat,
    TIME: time.fromisoformat,
}


def plain(store: Store, tag: int, value: Any) -> Any:
    """One item: nodes as `Node`, maps as dict, arrays as list, times as those of `datetime`.

    What Python has no type for (a year beyond 9999, a date with a time zone, a duration of months,
    a QName) is the text that the query would print.
    """
    if tag == NODE:
        return store.node(value)
    if isinstance(value, MapItem):
        keys = [plain(store, *key) for key in value.own_keys().pairs()]
        return dict(zip(keys, _rows(store, value.own_values()), strict=True))
    if isinstance(value, ArrayItem):
        return _rows(store, value.members())
    kind = PRIMITIVE.get(tag)
    if kind == DAY_TIME_DURATION:
        with suppress(OverflowError):
            return timedelta(microseconds=int(value.seconds * 1_000_000))
    if kind in _READ:
        with suppress(ValueError):
            return _READ[kind](string_value(tag, value))
    return value if isinstance(value, _PLAIN) or callable(value) else string_value(tag, value)


def _rows(store: Store, column: Column) -> list[Any]:
    """Each row of a column: one item as itself, none as None, several as a list."""
    flat = values(store, column.items)
    rows = (flat[a:b] for a, b in pairwise(column.bounds().tolist()))
    return [row[0] if len(row) == 1 else (row or None) for row in rows]


def values(store: Store, items: Items) -> list[Any]:
    """All items as plain values."""
    return [plain(store, tag, value) for tag, value in items.pairs()]
