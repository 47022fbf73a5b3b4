"""Columns that are evaluated when they are read, for the rows alone that are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.walk import evaluate

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column

Lets: TypeAlias = Sequence[tuple[int, p.Expression]]  # the number of a variable, and its value


def late_lets(tuples: p.Tuples, late: frozenset[p.Variable]) -> tuple[p.Tuples, Lets]:
    """The tuples without the `let` clauses at their end that bind some variables, and these."""
    found: list[tuple[int, p.Expression]] = []
    while isinstance(tuples, p.Let) and tuples.variable in late:
        found.append((tuples.variable.number, tuples.value))
        tuples = tuples.source
    return tuples, found[::-1]


class LateColumns:
    """The variables of tuples, some of which are bound by `let` clauses that follow."""

    __slots__ = ("_frame", "_known", "_late", "_numbers", "_tuples")

    def __init__(self, tuples: Frame, numbers: Sequence[int], late: Lets) -> None:
        self._tuples, self._numbers, self._late = tuples, numbers, late
        self._frame = _bound(tuples, late)
        own = {number for number, _ in late}
        self._known = {
            at: tuples.variable(number) for at, number in enumerate(numbers) if number not in own
        }

    def __len__(self) -> int:
        return len(self._numbers)

    def whole(self, at: int) -> Column:
        """A column of all tuples."""
        if at not in self._known:
            self._known[at] = self._frame.variable(self._numbers[at])
        return self._known[at]

    def some(self, rows: npt.NDArray[np.int64]) -> list[Column]:
        """All columns of some of the tuples."""
        frame = _bound(self._tuples.select(rows), self._late)
        return [
            self._known[at].take(rows) if at in self._known else frame.variable(number)
            for at, number in enumerate(self._numbers)
        ]


def _bound(frame: Frame, late: Lets) -> Frame:
    for number, value in late:
        frame = _with(frame, number, value)
    return frame


def _with(frame: Frame, number: int, value: p.Expression) -> Frame:
    return frame.extend({number: lambda: evaluate(value, frame)})
