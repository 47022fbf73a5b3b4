"""The method adaptive: every item as a query author would write it, for eyes."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from xstreamcast.functions.cast import string_value
from xstreamcast.functions.cast.canonical import decimal_text
from xstreamcast.functions.serialization.characters import Characters
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.functions.signature import PREFIXES
from xstreamcast.model import atomic
from xstreamcast.model.atomic import (
    ANY_URI,
    BOOLEAN,
    BY_TAG,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    INTEGER,
    PRIMITIVE,
    QNAME,
    STRING,
    UNTYPED,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.model.function_item import FunctionItem
    from xstreamcast.model.map_item import MapItem


_DURATIONS = frozenset({DAY_TIME_DURATION, YEAR_MONTH_DURATION})


class AdaptiveWriter:
    """Writes any item; `of_node` returns the text of a node."""

    def __init__(self, parameters: Parameters, of_node: Callable[[int], str]) -> None:
        self._parameters = parameters
        self._chars = Characters(parameters)
        self._of_node = of_node

    def item(self, tag: int, value: Any) -> str:
        """One item."""
        match tag:
            case atomic.NODE:
                return self._of_node(value)
            case atomic.MAP:
                return self._map(value)
            case atomic.ARRAY:
                return f"[{','.join(map(self._sequence, _rows(value.members())))}]"
            case atomic.FUNCTION:
                return _function(value)
            case _:
                return self._atom(tag, value)

    def _map(self, value: MapItem) -> str:
        keys = [self._atom(tag, key) for tag, key in value.own_keys().pairs()]
        rows = zip(keys, _rows(value.own_values()), strict=True)
        return f"map{{{','.join(f'{key}:{self._sequence(row)}' for key, row in rows)}}}"

    def _sequence(self, items: Items) -> str:
        shown = [self.item(tag, value) for tag, value in items.pairs()]
        return shown[0] if len(shown) == 1 else f"({','.join(shown)})"

    def _atom(self, tag: int, value: Any) -> str:
        primitive = PRIMITIVE[tag]
        text = string_value(tag, value)
        if primitive in (STRING, UNTYPED, ANY_URI):
            return f'"{self._chars.raw(text.replace(chr(34), chr(34) * 2))}"'
        if primitive == BOOLEAN:
            return f"{text}()"
        if primitive in (INTEGER, DECIMAL):
            return text
        if primitive == DOUBLE:
            return _double(value)
        if primitive == QNAME:
            return str(value.eqname)
        name = "duration" if primitive in _DURATIONS else BY_TAG[primitive].name
        return f'xs:{name}("{text}")'


def _double(value: float) -> str:
    """A double with an exponent: 1.0e0."""
    if not math.isfinite(value):
        return string_value(DOUBLE, value)
    exact = Decimal(repr(value))
    if exact == 0:
        return "-0.0e0" if math.copysign(1, value) < 0 else "0.0e0"
    power = exact.adjusted()
    plain = decimal_text(exact.scaleb(-power))
    return f"{plain if '.' in plain else plain + '.0'}e{power}"


def _function(value: FunctionItem) -> str:
    if value.name is None:
        return f"(anonymous-function)#{value.arity}"
    uri, local = value.name
    prefix = next((known for known, bound in PREFIXES.items() if bound == uri), None)
    name = f"{prefix}:{local}" if prefix and prefix != "local" else f"Q{{{uri}}}{local}"
    return f"{name}#{value.arity}"


def _rows(column: Column) -> list[Items]:
    bounds = column.bounds().tolist()
    return [column.items.slice(a, b) for a, b in pairwise(bounds)]
