"""Nodes around the units of a document, counted by identity while elements open and close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.frame import Frame
from xstreamcast.model.atomic import BOOLEAN, INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.asking import Asking, listed

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.operators.units import Minis, Moved
    from xstreamcast.tape.layout import I64
    from xstreamcast.tape.store import Store

_ROW: Final = 0xFFFFFFFF


class CountingAround:
    """How many different nodes; of each open element whether it was found, and what waits below it.

    What stands below an element that was not found waits: it counts when the element, or one
    above it, is found after all. When the element ends, it waits for the one around it.
    """

    def __init__(self, part: Part) -> None:
        self._part = part
        self._total = 0
        self._found = np.zeros(1, np.bool_)
        self._waiting = np.zeros(1, np.int64)

    def on_batch(self, moved: Moved, asking: Asking) -> bool:
        """Take the batch in → whether the value may have changed."""
        before = self._total
        if moved.asked is not None:
            self._take(moved.asked, asking)
        return self._total != before

    def _take(self, piece: Minis, asking: Asking) -> None:
        assert piece.around is not None
        before, behind = (np.concatenate([[0], rows]) for rows in piece.around)
        frame = asking.units(piece, self._part.document)
        nodes = _rows(listed(self._part.shape.expression, frame))  # type: ignore[union-attr]
        known = before[self._found]
        marked = np.union1d(nodes, known)
        if self._part.around is not None and self._part.around.below is not None:
            self._count_below(frame, marked, before, behind)
        else:
            self._total += len(marked) - len(known)
        self._found = np.isin(behind, marked)

    def _count_below(self, frame: Frame, marked: I64, before: I64, behind: I64) -> None:
        # what stands below an open element stands below all that are open around it
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
        """The rows of what is asked below some rows of the piece, which is the first tape."""
        assert self._part.around is not None
        assert self._part.around.below is not None
        if len(rows) == 0:
            return rows
        given = Column(Items.of_nodes(rows), np.array([0, len(rows)], np.int64))
        inner = Frame(frame.context, 1, frame, None, {self._part.variable.number: given})
        step = p.Step(p.Var(self._part.variable), "descendant", self._part.around.below)
        return _rows(listed(step, inner))

    def value(self, asking: Asking, store: Store) -> Items:
        """The number, or whether there is any."""
        match self._part.fold:
            case "exists":
                return Items.of(BOOLEAN, [self._total > 0])
            case "empty":
                return Items.of(BOOLEAN, [self._total == 0])
            case _:
                return Items.of(INTEGER, [self._total])

    @property
    def state_bytes(self) -> int:
        """A number, and two for each element that is open."""
        return 8 + self._found.nbytes + self._waiting.nbytes


def _rows(column: Column) -> I64:
    return np.unique(column.items.values.astype(np.int64) & _ROW)
