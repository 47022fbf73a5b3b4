"""The value of an expression for one row, as Python values: a column with lazy arrays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from xstreamcast.model.atomic import BOOLEAN, MAP, MIXED, NODE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

SHORT: Final = 32  # items that are cheaper to handle one by one than as an array


class SingleRow(Column):
    """One sequence whose items are of one type; arrays are created on first use."""

    __slots__ = ("cells", "tag")

    def __init__(self, tag: int, cells: tuple[Any, ...]) -> None:
        self.n = 1
        self.tag = tag
        self.cells = cells

    def __getattr__(self, name: str) -> Any:
        if name == "items":
            self.items = made = Items.of(self.tag, self.cells)
            return made
        if name == "offsets":
            count = len(self.cells)
            self.offsets = None if count == 1 else np.array((0, count), np.int64)
            return self.offsets
        raise AttributeError(name)


NOTHING: Final = SingleRow(NODE, ())
TRUE: Final = SingleRow(BOOLEAN, (True,))
FALSE: Final = SingleRow(BOOLEAN, (False,))


def row_of(column: Column) -> SingleRow | None:
    """A column of one row as Python values, if it is short and of one type that has them."""
    if column.__class__ is SingleRow:
        return column
    items = column.items
    if items.tag >= MAP or items.tag == MIXED or items.nodes is not None or len(items) > SHORT:
        return None
    return SingleRow(items.tag, tuple(items.values.tolist()))
