"""Folds over all units of documents: each continues from its last value, and no unit is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.passes.growing import COUNTS
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.delta import Cell, Delta, Row
from xstreamcast.operators.relational.folds.counted_around import CountedAround
from xstreamcast.operators.relational.folds.folds import counted
from xstreamcast.operators.relational.folds.running import LibraryFold

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class AccumulateOperator:
    """units, in order  →  one row: the outer one with the folds so far."""

    def __init__(self, node: c.Nest) -> None:
        self._node = node
        self._folds = [_fold(one, fold) for one, fold in node.inner if isinstance(one, c.Rows)]
        outer = node.outer.columns
        into = [fold.into for _, fold in node.inner]
        self._cells = [
            (None, outer.index(v)) if v in outer else (into.index(v), 0) for v in node.columns
        ]
        self._outer: Row | None = None
        self._made: Row | None = None

    def apply(self, turn: Round, outer: Delta, units: Sequence[Delta]) -> Delta:
        """The row, if a fold has another value now."""
        for _, new in outer.values():
            self._outer = new
        for fold, delta in zip(self._folds, units, strict=True):
            fold.take([key[0] for key in delta], turn)
        assert self._outer is not None
        values = [fold.value(turn) for fold in self._folds]
        cells = tuple(
            self._outer.cells[at] if which is None else values[which] for which, at in self._cells
        )
        old, self._made = self._made, Row(self._outer.rank, cells)
        out: Delta = {}
        turn.put(out, (), old, self._made)
        return out


def _fold(node: c.Rows, fold: c.Fold) -> _Fold | CountedAround:
    return _Fold(node, fold) if fold.around is None else CountedAround(node, fold)


class _Fold:
    """One fold over what the units give."""

    def __init__(self, node: c.Rows, fold: c.Fold) -> None:
        self._name, self._tuples, self._column = fold.name, node.tuples, fold.column.number
        assert isinstance(node.source, c.Units)
        self._units = node.source
        self._count, self._folded = 0, LibraryFold(fold.name)

    def take(self, units: list[str], turn: Round) -> None:
        for minis in turn.read(self._units.source, set(units)) if units else ():
            frame = turn.asking.units(minis, self._units.document)
            tuples = gathered(self._tuples, frame)
            if tuples.n == 0:
                continue
            value = tuples.variable(self._column)
            self._count += len(value.items)
            if self._name not in COUNTS and len(value.items):
                column = atomize(frame.context.store, value)
                _ = column.items.values  # read now: the store does not stay
                self._folded.take(column.items, turn)

    def value(self, turn: Round) -> Cell:
        if self._name in COUNTS:
            return counted(self._name, self._count)
        return self._folded.value(turn)
