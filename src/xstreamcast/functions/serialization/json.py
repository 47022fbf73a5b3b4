"""The method json: one item as a JSON text."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from xstreamcast.errors import error
from xstreamcast.functions.cast import string_value
from xstreamcast.functions.json.strings import quoted
from xstreamcast.functions.numbers.numeric import is_numeric
from xstreamcast.functions.serialization.characters import Characters
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.model.atomic import ARRAY, BOOLEAN, FUNCTION, MAP, NODE, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from collections.abc import Callable

    from xstreamcast.model.array_item import ArrayItem
    from xstreamcast.model.map_item import MapItem


class JsonWriter:
    """Writes values as JSON; `of_node` returns the text of a node."""

    def __init__(self, parameters: Parameters, of_node: Callable[[int], str]) -> None:
        self._parameters = parameters
        self._chars = Characters(parameters)
        self._of_node = of_node

    def written(self, items: Items, depth: int = 0) -> str:
        """A sequence of at most one item."""
        if len(items) == 0:
            return "null"
        if len(items) > 1:
            raise error("SERE0023", f"JSON has no form for a sequence of {len(items)} items")
        ((tag, value),) = items.pairs()
        if tag == MAP:
            return self._map(value, depth)
        if tag == ARRAY:
            return self._array(value, depth)
        if tag == FUNCTION:
            raise error("SERE0021", "JSON has no form for a function")
        return self._string(self._of_node(value)) if tag == NODE else self._atom(tag, value)

    def _atom(self, tag: int, value: Any) -> str:
        if PRIMITIVE[tag] == BOOLEAN:
            return "true" if value else "false"
        if not is_numeric(tag):
            return self._string(string_value(tag, value))
        if isinstance(value, float) and not math.isfinite(value):
            raise error("SERE0020", f"JSON has no number {string_value(tag, value)}")
        return string_value(tag, value)

    def _string(self, value: str) -> str:
        return f'"{self._chars.json(value, quoted)}"'

    def _map(self, value: MapItem, depth: int) -> str:
        keys = [string_value(tag, key) for tag, key in value.own_keys().pairs()]
        if not self._parameters.allow_duplicate_names and len(set(keys)) < len(keys):
            raise error("SERE0022", "the JSON object would have a key twice")
        colon = " : " if self._parameters.indent else ":"
        rows = zip(keys, _rows(value.own_values()), strict=True)
        cells = [self._string(key) + colon + self.written(row, depth + 1) for key, row in rows]
        return self._joined("{", cells, "}", depth)

    def _array(self, value: ArrayItem, depth: int) -> str:
        cells = [self.written(row, depth + 1) for row in _rows(value.members())]
        return self._joined("[", cells, "]", depth)

    def _joined(self, opens: str, cells: list[str], closes: str, depth: int) -> str:
        if not self._parameters.indent or not cells:
            return opens + ",".join(cells) + closes
        space = "\n" + "  " * depth
        return opens + ",".join(f"{space}  {cell}" for cell in cells) + space + closes


def _rows(column: Column) -> list[Items]:
    bounds = column.bounds().tolist()
    return [column.items.slice(a, b) for a, b in pairwise(bounds)]
