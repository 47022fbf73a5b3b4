"""Nodes around the units of a document, counted by identity while elements open and close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.evaluate.frame import Frame
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import BOOLEAN, INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.model.delta import Cell
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.units.units import Minis
    from xstreamcast.tape.layout import I64

_ROW: Final = 0xFFFFFFFF


class CountedAround:
    """How many different nodes; of each open element whether it was found, and what waits below it.

    What is below an element that was not found waits: it counts when the element, or one
    above it, is found after all. When the element ends, it waits for the one around it.
    """

    def __init__(self, node: c.Rows, fold: c.Fold) -> None:
        assert fold.around is not None
        assert isinstance(node.source, c.Units)
        self._name, self._below_test = fold.name, fold.around.below
        self._tuples, self._column, self._units = node.tuples, fold.column, node.source
        self._total = 0
        self._found = np.zeros(1, np.bool_)
        self._waiting = np.zeros(1, np.int64)

    def take(self, units: list[str], turn: Round) -> None:
        """Add pieces of the document."""
        for piece in turn.read(self._units.source, set(units)) if units else ():
            self._take(piece, turn)

    def _take(self, piece: Minis, turn: Round) -> None:
        assert piece.around is not None
        before, behind = (np.concatenate([[0], rows]) for rows in piece.around)
        frame = turn.asking.units(piece, self._units.document)
        nodes = _rows(gathered(self._tuples, frame).variable(self._column.number))
        known = before[self._found]
        marked = np.union1d(nodes, known)
        if self._below_test is not None:
            self._count_below(frame, marked, before, behind)
        else:
            self._total += len(marked) - len(known)
        self._found = np.isin(behind, marked)

    def _count_below(self, frame: Frame, marked: I64, before: I64, behind: I64) -> None:
        # what is below an open element is below all that are open around it
        counts = np.logical_or.accumulate(np.isin(before, marked))
        self._total += int(self._waiting[counts].sum())
        waiting = np.where(counts, 0, self._waiting)
        stay = int(np.count_nonzero(before[: len(behind)] == behind[: len(before)]))
        left = np.zeros(len(behind), np.int64)
        left[:stay] = waiting[:stay]
        left[stay - 1] += waiting[stay:].sum()
        there = self._below(frame, np.zeros(1, np.int64))
        here = self._below(frame, marked)
        self._total += len(here)
        rest = np.setdiff1d(there, here, assume_unique=True)
        np.add.at(left, np.searchsorted(behind, rest) - 1, 1)
        self._waiting = left

    def _below(self, frame: Frame, rows: I64) -> I64:
        """The rows of what is counted below some rows of the piece, which is the first tape."""
        assert self._below_test is not None
        if len(rows) == 0:
            return rows
        given = Column(Items.of_nodes(rows), np.array([0, len(rows)], np.int64))
        inner = Frame(frame.context, 1, frame, None, {self._column.number: given})
        step = p.Step(p.Var(self._column), "descendant", self._below_test)
        return _rows(evaluate(step, inner))

    def value(self, turn: Round) -> Cell:
        """The number, or whether there is any."""
        match self._name:
            case "exists":
                return ((BOOLEAN, self._total > 0),)
            case "empty":
                return ((BOOLEAN, self._total == 0),)
            case _:
                return ((INTEGER, self._total),)


def _rows(column: Column) -> I64:
    return np.unique(column.items.values.astype(np.int64) & _ROW)
