"""Rows that came and never change, as columns: rows are made of those alone that are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.model.delta import Cell, Delta, Key, Row, RowDelta

if TYPE_CHECKING:
    import numpy.typing as npt

    from xstreamcast.model.column import Column
    from xstreamcast.operators.relational.late_columns import LateColumns
    from xstreamcast.operators.relational.workspace import Workspace


class AppendedRows:
    """columns  =  those of the delta in which each of these rows is new"""

    __slots__ = ("_columns", "_failed", "_nested", "_origin", "_source", "space")

    def __init__(
        self,
        source: Sequence[tuple[Key, Row]],
        origin: npt.NDArray[np.int64],
        columns: LateColumns,
        space: Workspace,
        nested: bool,
        failed: Callable[[], None],
    ) -> None:
        """`failed` is called before an error of a column that is evaluated late is raised."""
        self._columns = columns
        self._source, self._origin = source, origin  # of each row, the one it was made of
        self.space, self._nested, self._failed = space, nested, failed

    def __len__(self) -> int:
        return len(self._origin)

    @property
    def columns(self) -> list[Column]:
        """All columns, of all rows."""
        return [self.column(at) for at in range(len(self._columns))]

    def column(self, at: int) -> Column:
        """One column, of all rows."""
        try:
            return self._columns.whole(at)
        except Error:
            self._failed()
            raise

    def delta(self) -> Delta:
        """The same as rows, one by one."""
        return {key: RowDelta(None, row) for key, row in self.rows(range(len(self)))}

    def cells(self, column: int, chosen: npt.NDArray[np.int64]) -> list[Cell]:
        """The values of a column in some of the rows."""
        return self.space.cells(self.column(column).take(chosen))

    def rows(self, chosen: Sequence[int]) -> list[tuple[Key, Row]]:
        """Some of the rows, with their keys."""
        at = np.array(chosen, np.int64)
        origin = self._origin[at]
        serials = at - np.searchsorted(self._origin, origin)
        cells = [self.space.cells(column) for column in self._some(at)]
        made = []
        each = zip(*cells, strict=True)
        for one, serial, own in zip(origin.tolist(), serials.tolist(), each, strict=True):
            key, row = self._source[one]
            more = (serial,) if self._nested else ()
            made.append(((*key, *more), Row((*row.rank, *more), own)))
        return made

    def _some(self, at: npt.NDArray[np.int64]) -> list[Column]:
        try:
            return self._columns.some(at)
        except Error:
            self._failed()
            raise
