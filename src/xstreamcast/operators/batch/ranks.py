"""Keys of `order by` as bytes that sort as the keys do.

The bytes of a tuple are those of its keys, one after another. They can be compared over tasks only
if all keys of a column are of one class: whether a decimal is compared as a double depends on
whether there is any double at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.functions.compare.keys import sortable
from xstreamcast.functions.compare.values import ordinals
from xstreamcast.model.atomic import (
    ANY_URI,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    PRIMITIVE,
    STRING,
    UNTYPED,
)
from xstreamcast.operators.batch.sending import decoded, encoded

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import OrderKey
    from xstreamcast.model.column import Column
    from xstreamcast.model.items import Items

Classes = tuple[frozenset[int], ...]  # of each key, the classes that were met
_CLASS: Final = {DECIMAL: INTEGER, FLOAT: DOUBLE, UNTYPED: STRING, ANY_URI: STRING}
_EMPTY, _NAN, _VALUE, _NAN_LAST, _EMPTY_LAST = (bytes([n]) for n in range(1, 6))
_INVERTED: Final = bytes(255 - n for n in range(256))


def classes(columns: Sequence[Column]) -> Classes:
    """What must agree over all tasks, if their keys are to be compared."""
    return tuple(
        frozenset(_CLASS.get(kind := PRIMITIVE.get(tag, tag), kind) for tag in one.items.kinds())
        for one in columns
    )


def met(found: Sequence[bytes]) -> Classes:
    """The classes that occur in all tasks, from their messages."""
    sent = [decoded(one) for one in found]
    return tuple(frozenset[int]().union(*same) for same in zip(*sent, strict=True))


def told_classes(found: Classes) -> bytes:
    """Classes on their way to the process that compares them."""
    return encoded(tuple(tuple(sorted(one)) for one in found))


def ranks(keys: Sequence[OrderKey], columns: Sequence[Column], timezone: int) -> list[bytes]:
    """The bytes by which each tuple is sorted."""
    encoded = [
        _ranks(column, key.descending, key.empty_greatest, timezone)
        for key, column in zip(keys, columns, strict=True)
    ]
    if len(encoded) == 1:
        return encoded[0]
    return [b"".join(one) for one in zip(*encoded, strict=True)]


def _ranks(column: Column, descending: bool, last: bool, timezone: int) -> list[bytes]:
    empty, nan = (_EMPTY_LAST, _NAN_LAST) if last else (_EMPTY, _NAN)
    found = [nan if one is None else _VALUE + one for one in _values(column.items, timezone)]
    values = iter(found)
    out = [next(values) if length else empty for length in column.lengths().tolist()]
    return [one.translate(_INVERTED) for one in out] if descending else out


def _values(items: Items, timezone: int) -> list[bytes | None]:
    """Each value as bytes, none of which is the beginning of another; None for NaN."""
    if len(items) == 0:
        return []
    items = sortable(items)
    kind = PRIMITIVE[items.tag]
    values = ordinals(items, timezone)
    if kind in (FLOAT, DOUBLE):
        return _doubles(values)
    if kind == BOOLEAN:
        return [b"\1" if one else b"\0" for one in values.tolist()]
    return [_bytes(one) for one in values.tolist()]


def _doubles(values: Any) -> list[bytes | None]:
    bits = (values + 0.0).view(np.int64)  # -0 is 0
    flipped = np.where(bits < 0, ~bits, bits ^ np.int64(-(1 << 63))).astype(">i8").tobytes()
    nan = np.isnan(values).tolist()
    return [None if nan[i] else flipped[8 * i : 8 * i + 8] for i in range(len(nan))]


def _bytes(value: Any) -> bytes:
    match value:
        case str():
            return _ended(value.encode("utf-8", "surrogatepass"))
        case bytes():
            return _ended(value)
        case tuple():
            return b"".join(_bytes(one) for one in value)
        case _:
            return _exact(Decimal(value))


def _ended(value: bytes) -> bytes:
    return value.replace(b"\0", b"\0\xff") + b"\0\0"


def _exact(value: Decimal) -> bytes:
    """A number by its sign, where its digits begin, and the digits."""
    if value == 0:
        return b"\x80"
    sign, digits, _ = value.as_tuple()
    shown = bytes(digit + 1 for digit in digits).rstrip(b"\1") + b"\0"
    size = (value.adjusted() + (1 << 31)).to_bytes(4, "big") + shown
    return b"\x7f" + size.translate(_INVERTED) if sign else b"\x81" + size
