"""A fold over any run of a sequence: what comes or goes costs its block, not the runs that hold it.

value(first, last)  →  the function over the values from one rank to another, in their order
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sortedcontainers import SortedList

from xstreamcast.model.atomic import DOUBLE
from xstreamcast.operators.relational.folds.folds import as_summand
from xstreamcast.operators.relational.folds.gathered import applied
from xstreamcast.operators.relational.folds.index import FoldIndex
from xstreamcast.operators.relational.folds.summaries import summary_of

if TYPE_CHECKING:
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Cell, Rank
    from xstreamcast.operators.relational.tick import Round


class SequenceFold:
    """The values of a sequence by rank, with sums of blocks."""

    def __init__(self, fold: Fold) -> None:
        self._fold, self._summary = fold, summary_of(fold)
        self._index = FoldIndex(self._summary.plus, self._summary.zero)
        self._cells: dict[Rank, Cell] = {}
        self._doubles: _Doubles | None = None  # created when sums of doubles are needed

    def fill(self, values: Iterable[tuple[Rank, Cell]]) -> None:
        """Exactly these values."""
        self._cells = dict(values)
        self._index.fill((rank, self._summary.of(cell)) for rank, cell in self._cells.items())
        self._doubles = None

    def update(self, gone: list[Rank], come: list[tuple[Rank, Cell]]) -> None:
        """Remove values and add others."""
        if len(gone) + len(come) > 64 + len(self._cells) // 64:
            left = dict(self._cells)
            for rank in gone:
                del left[rank]
            left.update(come)
            self.fill(left.items())
            return
        for rank in gone:
            self._index.remove(rank)
            self._replace(rank, self._cells.pop(rank), ())
        for rank, cell in come:
            self._index.add(rank, self._summary.of(cell))
            self._cells[rank] = cell
            self._replace(rank, (), cell)

    def _replace(self, rank: Rank, old: Cell, new: Cell) -> None:
        if self._doubles is not None and not self._doubles.replace(rank, old, new):
            self._doubles = None

    def value(self, first: Rank, last: Rank, turn: Round) -> Cell:
        """The function over the values from a rank to another, both included."""
        found = self._summary.value(self._index.between(first, last))
        if found is not None:
            return found
        if self._fold.name in ("sum", "avg"):
            total = self._added(first, last)
            if total is not None:
                return total
        assert self._fold.call is not None
        keys = self._index.keys_between(first, last)
        return applied(self._fold.call, [atom for key in keys for atom in self._cells[key]], turn)

    def _added(self, first: Rank, last: Rank) -> Cell | None:
        """The sum of doubles in their order; None if some values are no numbers."""
        if self._doubles is None:
            self._doubles = _Doubles.of(self._cells)
        return None if self._doubles is None else self._doubles.sum(first, last, self._fold.name)


class _Doubles:
    """Numbers in the order of their ranks, as they are added where one of them is a double."""

    def __init__(self, entries: SortedList, values: Any) -> None:
        self._entries, self._values = entries, values

    @staticmethod
    def of(cells: dict[Rank, Cell]) -> _Doubles | None:
        """The values of all ranks; None if some are no numbers."""
        numbers = {
            (rank, at): as_summand(atom)
            for rank, cell in cells.items()
            for at, atom in enumerate(cell)
        }
        if any(number is None for number in numbers.values()):
            return None
        entries: SortedList = SortedList(numbers)
        return _Doubles(entries, np.array([numbers[one] for one in entries], np.float64))

    def replace(self, rank: Rank, old: Cell, new: Cell) -> bool:
        """Other values for a rank; False if one of them is no number."""
        place = self._entries.bisect_left((rank,))
        for at, _ in enumerate(old):
            self._entries.remove((rank, at))
            self._values = np.delete(self._values, place)
        numbers = [as_summand(atom) for atom in new]
        if any(number is None for number in numbers):
            return False
        self._entries.update((rank, at) for at in range(len(new)))
        if new:
            self._values = np.insert(self._values, place, np.array(numbers, np.float64))
        return True

    def sum(self, first: Rank, last: Rank, name: str) -> Cell:
        """The sum from one rank to another; of doubles, for one of the values is one."""
        begin, end = self._entries.bisect_left((first,)), self._entries.bisect_right((last, np.inf))
        with np.errstate(all="ignore"):
            total = float(np.add.accumulate(self._values[begin:end])[-1])
            return ((DOUBLE, total / (end - begin) if name == "avg" else total),)
