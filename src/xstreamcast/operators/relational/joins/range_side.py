"""One side of a fold over rows that compare by order: its rows, and what each is sorted by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xstreamcast.model.delta import Cell, Delta, Key, Row
from xstreamcast.operators.relational.joins.range_values import (
    Mode,
    NotSorted,
    key_cells,
    raise_error,
    sort_values,
)

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.relational.tick import Round


class RangeSide:
    """Rows with the values that they compare by; the one that compares if any does counts."""

    def __init__(self, node: c.Node, plan: p.Expression, smallest: bool) -> None:
        self._node, self._plan, self._smallest = node, plan, smallest
        self.rows: dict[Key, Row] = {}
        self.cells: dict[Key, Cell | None] = {}  # None: the values cannot be made
        self.tags: Counter[int] = Counter()
        self._failed = 0
        self._several = 0  # rows with more than one value

    def cells_of(self, delta: Delta, turn: Round) -> dict[Key, Cell | None]:
        """The values of the rows that a delta brings."""
        new = [(key, row) for key, (_, row) in delta.items() if row is not None]
        found = key_cells(self._plan, self._node.columns, new, turn)
        return {key: cell for (key, _), cell in zip(new, found, strict=True)}

    def update(self, delta: Delta, cells: Mapping[Key, Cell | None]) -> None:
        """Add rows whose values are known."""
        for key in delta:
            self.rows.pop(key, None)
            if key in self.cells:
                self._count(self.cells.pop(key), -1)
        for key, (_, row) in delta.items():
            if row is not None:
                self.rows[key], self.cells[key] = row, cells[key]
                self._count(cells[key], 1)

    def _count(self, cell: Cell | None, sign: int) -> None:
        if cell is None:
            self._failed += sign
            return
        self._several += sign * (len(cell) > 1)
        for tag, _ in cell:
            self.tags[tag] += sign

    @property
    def kinds(self) -> list[int]:
        """The types of all values."""
        return [tag for tag, count in self.tags.items() if count]

    @property
    def fails(self) -> bool:
        """Whether the values of some row cannot be made."""
        return self._failed > 0

    @property
    def is_single(self) -> bool:
        """Whether no row has several values."""
        return self._several == 0

    def check(self, turn: Round) -> None:
        """Raise the error of a row whose values cannot be made."""
        for key, cell in self.cells.items():
            if cell is None:
                raise_error(self._plan, self._node.columns, self.rows[key], turn)

    def check_one(self, key: Key, turn: Round) -> None:
        """Raise the error of a row if its values cannot be made."""
        if self.cells[key] is None:
            raise_error(self._plan, self._node.columns, self.rows[key], turn)

    def entry(self, key: Key, mode: Mode) -> Any | None:
        """What a row is sorted by: its value, then its rank; None if it compares with nothing.

        NotSorted: every pair must be compared.
        """
        cell = self.cells[key]
        found = None if cell is None else sort_values(cell, mode)
        if found is None:
            raise NotSorted
        if not found:
            return None
        return (min(found) if self._smallest else max(found), self.rows[key].rank, key)
