"""Rows that came and never change, as columns: rows are made of those alone that are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.delta import Cell, Delta, Key, Row, RowDelta

if TYPE_CHECKING:
    import numpy.typing as npt

    from xstreamcast.model.column import Column
    from xstreamcast.operators.relational.workspace import Workspace


class AppendedRows:
    """columns  =  those of the delta in which each of these rows is new"""

    __slots__ = ("_nested", "_origin", "_source", "_space", "columns")

    def __init__(
        self,
        source: Sequence[tuple[Key, Row]],
        origin: npt.NDArray[np.int64],
        columns: Sequence[Column],
        space: Workspace,
        nested: bool,
    ) -> None:
        self.columns = columns
        self._source, self._origin = source, origin  # of each row, the one it was made of
        self._space, self._nested = space, nested

    def __len__(self) -> int:
        return len(self._origin)

    def delta(self) -> Delta:
        """The same as rows, one by one."""
        return {key: RowDelta(None, row) for key, row in self.rows(range(len(self)))}

    def cells(self, column: int, chosen: npt.NDArray[np.int64]) -> list[Cell]:
        """The values of a column in some of the rows."""
        return self._space.cells(self.columns[column].take(chosen))

    def rows(self, chosen: Sequence[int]) -> list[tuple[Key, Row]]:
        """Some of the rows, with their keys."""
        at = np.array(chosen, np.int64)
        origin = self._origin[at]
        serials = at - np.searchsorted(self._origin, origin)
        cells = [self._space.cells(column.take(at)) for column in self.columns]
        made = []
        each = zip(*cells, strict=True)
        for one, serial, own in zip(origin.tolist(), serials.tolist(), each, strict=True):
            key, row = self._source[one]
            more = (serial,) if self._nested else ()
            made.append(((*key, *more), Row((*row.rank, *more), own)))
        return made
