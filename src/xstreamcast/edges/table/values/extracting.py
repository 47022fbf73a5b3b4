"""The values of a path in the payloads of rows: the least and the largest of each row, by type.

A comparison with a number sees numbers, one with a string texts, one with a date dates; what a
value means is known when it is compared, so all are kept. `odd`: some value is none of the type, so
that the comparison is an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.table.batches import payload_bytes
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.wire.words import HOLE, MEANING, Words
from xstreamcast.errors import Error
from xstreamcast.functions.cast.calendar import parse_calendar
from xstreamcast.model.atomic import ATOMIC
from xstreamcast.model.date_time import HOUR
from xstreamcast.tape.layout import ELEMENT, KIND
from xstreamcast.tape.reading.read import read
from xstreamcast.tape.steps.axes import NodeTest
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.edges.table.values.definitions import ValuePath

_ROWS: Final = 50_000  # on one tape
_LONG: Final = 128  # bytes of a text that is kept
_ROOT: Final = 1
_ZONES: Final = 14 * HOUR  # how far a time without a zone may be from that in UTC
_DATED: Final = re.compile(r"\s*-?\d{4,}-\d\d-\d\d")
MICRO: Final = 1000  # nanoseconds
DATES: Final = {"dateTime": ATOMIC["dateTime"].tag, "date": ATOMIC["date"].tag}


def value_schema() -> Any:
    """One row for each row of the file. A null between values: unknown."""
    pa = arrow()
    return pa.schema([
        ("count", pa.int32()), ("unknown", pa.bool_()),
        ("text_min", pa.string()), ("text_max", pa.string()),
        ("number_min", pa.float64()), ("number_max", pa.float64()), ("number_odd", pa.bool_()),
        ("dateTime_min", pa.int64()), ("dateTime_max", pa.int64()), ("dateTime_odd", pa.bool_()),
        ("date_min", pa.int64()), ("date_max", pa.int64()), ("date_odd", pa.bool_()),
    ])  # fmt: skip


def values_of(rows: Any, path: ValuePath) -> Any | None:
    """The values in rows of a file; None where payloads are not as our writer leaves them."""
    parts = []
    for some in rows.select(["payload"]).to_batches(max_chunksize=_ROWS):
        made = _values(some["payload"].cast(arrow().binary()), path)
        if made is None:
            return None
        parts.append(made)
    return arrow().Table.from_batches(parts, value_schema())


def _values(payloads: Any, path: ValuePath) -> Any | None:
    n = len(payloads)
    content = np.flatnonzero(payloads.is_valid().to_numpy(zero_copy_only=False))
    store = Store()
    try:
        tape = read(payload_bytes(payloads), names=store.names)
    except Error:
        return None
    number = store.add(tape)
    c = tape.columns
    top = np.flatnonzero(c.parent == _ROOT)
    inner = top[c.kind[top] & KIND == ELEMENT]
    if len(inner) != len(content):
        return None
    handles, owner = inner.astype(np.int64) | (number << 32), content
    for local in path.steps:
        labels, handles = store.step(handles, "child", NodeTest.element(local))
        owner = owner[labels]
    if path.attribute is not None:
        labels, handles = store.step(handles, "attribute", NodeTest.attribute(path.attribute))
        owner = owner[labels]
    hidden = np.zeros(n, np.bool_)
    hidden[owner[_with_holes(tape, store, handles & 0xFFFFFFFF)]] = True
    return _batch(n, owner, store, handles, hidden)


def _with_holes(tape: Any, store: Store, rows: Any) -> Any:
    """Which nodes contain a hole: their text is in other fragments, too."""
    words, c = Words(store.names), tape.columns
    words.catch_up()
    holes = np.flatnonzero((words.elements[c.name] & MEANING == HOLE) & (c.kind & KIND == ELEMENT))
    first = np.searchsorted(holes, rows)
    return first < np.searchsorted(holes, rows + c.size[rows] + 1)


def _batch(n: int, owner: Any, store: Store, handles: Any, hidden: Any) -> Any:
    pa = arrow()
    count = np.bincount(owner, minlength=n).astype(np.int32)
    texts = store.strings(handles)
    numbers, valid = store.doubles(handles)
    arrays = [pa.array(count), pa.array(hidden), *_text_bounds(n, owner, texts)]
    usable = valid & ~np.isnan(numbers)
    low, high = _bounds(n, owner[usable], numbers[usable], numbers[usable], np.inf)
    has = np.bincount(owner[usable], minlength=n) > 0
    odd = np.bincount(owner[~valid], minlength=n) > 0
    arrays += [pa.array(low, mask=~has), pa.array(high, mask=~has), pa.array(odd)]
    for tag in DATES.values():
        arrays += _date_bounds(n, owner, texts, tag)
    return pa.record_batch(arrays, schema=value_schema())


def _bounds(n: int, owner: Any, low: Any, high: Any, most: Any) -> tuple[Any, Any]:
    """The least and the largest of each row."""
    least, largest = np.full(n, most, low.dtype), np.full(n, -most, low.dtype)
    np.minimum.at(least, owner, low)
    np.maximum.at(largest, owner, high)
    return least, largest


def _text_bounds(n: int, owner: Any, texts: Any) -> tuple[Any, Any]:
    """Texts by code points; of rows with a long one nothing is kept."""
    low: list[str | None] = [None] * n
    high: list[str | None] = [None] * n
    long = set[int]()
    for row, text in zip(owner.tolist(), texts.tolist(), strict=True):
        least, largest = low[row], high[row]
        if len(text) > _LONG:
            long.add(row)
        if least is None or largest is None:
            low[row] = high[row] = text
        elif text < least:
            low[row] = text
        elif text > largest:
            high[row] = text
    for row in long:
        low[row] = high[row] = None
    pa = arrow()
    return pa.array(low, pa.string()), pa.array(high, pa.string())


def _date_bounds(n: int, owner: Any, texts: Any, tag: int) -> list[Any]:
    """Instants in microseconds, rounded outwards; a time without a zone may be in any."""
    pa = arrow()
    spans = [instants_of(tag, text) for text in texts.tolist()]
    usable = np.array([one is not None for one in spans], np.bool_)
    known = np.array([one for one in spans if one is not None], np.int64).reshape(-1, 2)
    most = np.iinfo(np.int64).max
    low, high = _bounds(n, owner[usable], known[:, 0], known[:, 1], most)
    has = np.bincount(owner[usable], minlength=n) > 0
    odd = np.bincount(owner[~usable], minlength=n) > 0
    return [pa.array(low, mask=~has), pa.array(high, mask=~has), pa.array(odd)]


def instants_of(tag: int, text: str) -> tuple[int, int] | None:
    """The instants that a text may be; None if it is none of the type, or too far away."""
    if _DATED.match(text) is None:
        return None
    try:
        value = parse_calendar(tag, text)
    except Error:
        return None
    return span_of(value)


def span_of(value: Any) -> tuple[int, int] | None:
    """The instants that a date may be."""
    away = 0 if value.offset is not None else _ZONES
    first, last = (value.instant() - away) // MICRO, -(-(value.instant() + away) // MICRO)
    return (first, last) if abs(first) < 1 << 62 and abs(last) < 1 << 62 else None
