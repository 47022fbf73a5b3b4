"""Values that ends are looked up by: as Python compares them, in one way for all of a stream."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.functions.cast import cast
from xstreamcast.functions.cast.calendar import CALENDAR
from xstreamcast.functions.compare.values import FAMILY, ordinals
from xstreamcast.model.atomic import (
    DATE,
    DATE_TIME,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    INTEGER,
    PRIMITIVE,
    STRING,
    TIME,
    UNTYPED,
)

if TYPE_CHECKING:
    from xstreamcast.circuit.windows.windowed import EndKey
    from xstreamcast.model.column import Column
    from xstreamcast.model.items import Items

Test = Callable[[Any, Any], bool]  # of the value at an end and that of a start
OPS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": operator.eq, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge
}  # fmt: skip
_EXACT: Final = frozenset({INTEGER, DECIMAL})
_NUMBERS: Final = frozenset({INTEGER, DECIMAL, DOUBLE, UNTYPED})
_TIMES: Final = frozenset({DATE_TIME, DATE, TIME})
_NANOS: Final = 1_000_000_000


class Odd(Exception):
    """Values that only the comparison itself can compare."""


class ComparedKeys:
    """Both sides of a comparison as keys. The first values determine their kind."""

    def __init__(self, key: EndKey) -> None:
        self.key = key
        self.way: str | None = None
        self._left: set[int] = set()
        self._right: set[int] = set()

    def both(self, left: Column, right: Column) -> tuple[list[Any], list[Any]]:
        """The keys of some starts and of some ends, None where a value compares with none."""
        for column in (left, right):
            if column.offsets is not None and int(column.lengths().max(initial=0)) > 1:
                raise Odd
        self._left |= {PRIMITIVE.get(tag, tag) for tag in left.items.kinds()}
        self._right |= {PRIMITIVE.get(tag, tag) for tag in right.items.kinds()}
        way = self._way()
        if way is not None and self.way not in (None, way):
            raise Odd
        self.way = way or self.way
        return self._spread(left), self._spread(right)

    def _way(self) -> str | None:
        # where one side has said nothing yet, it is taken to be as the other one
        a, b = self._left or self._right, self._right or self._left
        if not a:
            return None
        if self.key.distance is not None:
            return _far_way(a, b)
        if all(FAMILY.get(tag) == STRING for tag in a | b):
            return "text"
        if len(a) > 1 or len(b) > 1 or (UNTYPED in a | b and not self.key.general):
            raise Odd
        if a | b <= _EXACT:
            return "exact"
        if a | b <= _NUMBERS:
            return "double"
        if a == b and a <= CALENDAR:
            return "time"
        raise Odd

    def _spread(self, column: Column) -> list[Any]:
        out: list[Any] = [None] * column.n
        if self.way is None or len(column.items) == 0:
            return out
        keys = _keys(column.items, self.way)
        if column.offsets is None:
            return keys
        for row, key in zip((column.lengths() > 0).nonzero()[0].tolist(), keys, strict=True):
            out[row] = key
        return out

    def test(self, distance: Items | None) -> Test:
        """The comparison of two keys."""
        op = OPS[self.key.op]
        if self.key.distance is None or self.way is None:
            return op
        far = self._far(distance)
        return lambda end, start: op(end - start, far)

    def _far(self, distance: Items | None) -> Any:
        if distance is None or len(distance) != 1:
            raise Odd
        kind, value = PRIMITIVE.get(distance.tag), distance.values.tolist()[0]
        if self.way == "time" and kind == DAY_TIME_DURATION:
            return value.seconds * _NANOS
        if self.way == "exact" and kind in _EXACT:
            return value
        if self.way == "double" and kind in _EXACT | {DOUBLE} and value == value:
            return float(value)
        raise Odd


def _far_way(a: set[int], b: set[int]) -> str:
    if len(a) > 1 or len(b) > 1:
        raise Odd
    if a | b <= _EXACT:
        return "exact"
    if a | b <= _NUMBERS:
        return "double"
    if a == b and a <= _TIMES:
        return "time"
    raise Odd


def _keys(items: Items, way: str) -> list[Any]:
    match way:
        case "text" | "exact":
            found: list[Any] = items.values.tolist()
            return found
        case "double":
            numbers = cast(items, DOUBLE).values.tolist()
            return [one if one == one else None for one in numbers]
        case _:
            return list(ordinals(items).tolist())
