"""A window that is open, folded: values so far in the place of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.calls import library_call
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN, INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items, empty_items

if TYPE_CHECKING:
    from xstreamcast.circuit.windows.folds import WindowFold
    from xstreamcast.circuit.windows.windowed import Windowed
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.operators.growing_windows.sight import Sight


class Folding:
    """The one open window: from which item on, up to which it is folded, and to what.

    f(values so far, values of further items)  →  f over all of them
    """

    def __init__(self, shape: Windowed, first: int) -> None:
        self.shape, self.first = shape, first
        self.since = first  # the first item that is not folded yet
        self._counts = [0] * len(shape.folds)
        self._values = [empty_items() for _ in shape.folds]

    def fold(self, sight: Sight, to: int) -> None:
        """Add the items before `to`; where that fails, they wait until a window needs them."""
        if to <= self.since:
            return
        frame = self._frame(sight, to - 1)
        try:
            made = [self._gone_on(at, frame) for at in range(len(self.shape.folds))]
        except Error:
            return
        self._counts = [count for count, _ in made]
        self._values = [values for _, values in made]
        self.since = to

    def _gone_on(self, at: int, frame: Frame) -> tuple[int, Items]:
        fold = self.shape.folds[at]
        column = evaluate(fold.values, frame)
        count = self._counts[at] + len(column.items)
        if fold.name in ("count", "exists", "empty"):
            return count, empty_items()
        return count, self._so_far(at, fold, column, frame)

    def _so_far(self, at: int, fold: WindowFold, column: Column, frame: Frame) -> Items:
        items = atomize(frame.context.store, column).items
        _ = items.values  # read now: the store does not stay
        both = Items.concat([self._values[at], items])
        return (
            applied("sum" if fold.name == "avg" else fold.name, both, frame) if len(both) else both
        )

    def result(self, sight: Sight, last: int) -> tuple[Frame, Column]:
        """What the window gives if it ends at `last`."""
        frame = self._frame(sight, last)
        bound = frame.extend(
            {
                fold.variable.number: (lambda at=at: self._value(at, frame))  # type: ignore[misc]
                for at, fold in enumerate(self.shape.folds)
            }
        )
        assert self.shape.folded is not None
        return bound, evaluate(self.shape.folded, bound)

    def _value(self, at: int, frame: Frame) -> Column:
        count, values = self._gone_on(at, frame)
        match self.shape.folds[at].name:
            case "count":
                items = Items.of(INTEGER, [count])
            case "exists" | "empty" as name:
                items = Items.of(BOOLEAN, [(count > 0) == (name == "exists")])
            case "avg" if count:
                applied("avg", values, frame)  # whether there is a mean at all
                items = arithmetic("div", values, Items.of(INTEGER, [count]))
            case name:
                items = applied(name, values, frame)
        return Column(items, np.array([0, len(items)], np.int64))

    def _frame(self, sight: Sight, last: int) -> Frame:
        """One row: the window with its items that are not folded yet."""
        first = np.array([self.first], np.int64)
        items = np.arange(self.since, last + 1, dtype=np.int64)
        lengths = np.array([len(items)], np.int64)
        return sight.bound(sight.pairs(first, np.array([last], np.int64)), items, lengths)


def applied(name: str, items: Items, frame: Frame) -> Items:
    """A function of one sequence."""
    function = lookup(FN, name, 1)
    assert function is not None
    column = Column(items, np.array([0, len(items)], np.int64))
    return library_call(function, [column], frame, None).items
