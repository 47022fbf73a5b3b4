"""Evaluates conditions and results over the items of one tick, many places at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.calls import library_call
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.evaluate.flwor.windows import bound_at
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate, truth
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import DOUBLE, UNTYPED
from xstreamcast.model.column import Column, offsets_of, ranges

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit.windows.folds import WindowFold
    from xstreamcast.circuit.windows.windowed import Windowed
    from xstreamcast.evaluate.context import Context
    from xstreamcast.model.column import Bools, Ints
    from xstreamcast.model.items import Items
    from xstreamcast.operators.growing_windows.buffer import BufferedItems

_NUMERIC: Final = frozenset({"sum", "avg", "min", "max"})


class Sight:
    """Items that are at hand, of a sequence that has `stop` of them by now."""

    def __init__(self, shape: Windowed, context: Context, base: Frame | None = None) -> None:
        self.shape, self.window = shape, shape.window
        self.context = context
        self.base = base or gathered(shape.before, context.root)
        self.loaded: BufferedItems | None = None
        self.stop = 0
        self.pairs_asked = 0

    def at_hand(self, loaded: BufferedItems, stop: int) -> None:
        """These items are available from now on."""
        self.loaded, self.stop = loaded, stop

    # -- frames ---------------------------------------------------------------------------------

    def at(self, boundary: p.Boundary, places: Ints) -> Frame:
        """A row for each place, with the variables of a boundary at that place."""
        origin = np.zeros(len(places), np.int64)
        values = self._variables(boundary, places)
        return Frame(self.context, len(places), self.base, origin, values)

    def pairs(self, first: Ints, last: Ints) -> Frame:
        """A row for each window, with the variables of both boundaries."""
        assert self.window.start is not None
        distinct, row = np.unique(first, return_inverse=True)
        starts = self.at(self.window.start, distinct)
        end = self.window.end
        values = {} if end is None else self._variables(end, last)
        return Frame(self.context, len(first), starts, row.astype(np.int64), values)

    def _variables(self, boundary: p.Boundary, places: Ints) -> dict[Key, Value]:
        assert self.loaded is not None
        origin, stop = np.zeros(1, np.int64), np.full(1, self.stop, np.int64)
        return bound_at(boundary, places, self.loaded.take, origin, stop)

    # -- questions ------------------------------------------------------------------------------

    def opens(self, low: int, high: int) -> Bools:
        """Whether a window may start, for each place from `low` to before `high`."""
        start = self.window.start
        if start is None or start.test is None or low >= high:
            return np.zeros(max(high - low, 0), np.bool_)
        return truth(start.test, self.at(start, np.arange(low, high, dtype=np.int64)))

    def ends(self, low: int, high: int) -> Bools:
        """Whether windows end, for each place, where that does not depend on their start."""
        end = self.window.end
        assert end is not None
        assert end.test is not None
        return truth(end.test, self.at(end, np.arange(low, high, dtype=np.int64)))

    def ended(self, first: Ints, last: Ints) -> Bools:
        """Whether a window that starts at `first` ends at `last`."""
        assert self.window.end is not None
        assert self.window.end.test is not None
        self.pairs_asked += len(first)
        return truth(self.window.end.test, self.pairs(first, last))

    def values(self, plan: p.Expression, boundary: p.Boundary, places: Ints) -> Column:
        """The atomised values of an expression at some places."""
        return atomize(self.context.store, evaluate(plan, self.at(boundary, places)))

    def constant(self, plan: p.Expression) -> Items:
        """The atomised value of an expression that reads no item."""
        return atomize(self.context.store, evaluate(plan, self.base)).items

    def results(self, first: Ints, last: Ints) -> tuple[Frame, Column]:
        """What windows give → and the frame it was found in."""
        lengths = last - first + 1
        frame = self.pairs(first, last)
        if self.shape.folds and len(first) > 1:
            try:
                return self._by_columns(frame, first, lengths)
            except Error:
                pass  # the failing pair may not matter: windows are evaluated one by one
        return self._results(frame, ranges(first, lengths), lengths)

    def _by_columns(self, frame: Frame, first: Ints, lengths: Ints) -> tuple[Frame, Column]:
        """The same where items are only folded: each is evaluated once for all windows."""
        low = int(first.min())
        marks = np.zeros(int((first + lengths).max()) - low + 1, np.int64)
        np.add.at(marks, first - low, 1)
        np.add.at(marks, first + lengths - low, -1)
        inside = np.cumsum(marks) > 0
        places = low + np.flatnonzero(inside)
        at = (np.cumsum(inside) - 1)[ranges(first - low, lengths)]
        alone = Frame(self.context, len(places), self.base, np.zeros(len(places), np.int64), {})
        each = self.bound(alone, places, np.ones(len(places), np.int64))
        folds: dict[Key, Value] = {
            fold.variable.number: (lambda fold=fold: self._fold(fold, each, at, frame, lengths))  # type: ignore[misc]
            for fold in self.shape.folds
        }
        bound = frame.extend(folds)
        assert self.shape.folded is not None
        return bound, evaluate(self.shape.folded, bound)

    def _fold(self, fold: WindowFold, each: Frame, at: Ints, frame: Frame, lengths: Ints) -> Column:
        values = evaluate(fold.values, each)
        if fold.name not in ("count", "exists", "empty"):
            values = atomize(self.context.store, values)
        if fold.name in _NUMERIC and values.items.tag == UNTYPED:
            values = values.with_items(cast(values.items, DOUBLE))  # once, as the function would
        taken = values.take(at)
        column = Column(taken.items, taken.bounds()[offsets_of(lengths)])
        function = lookup(FN, fold.name, 1)
        assert function is not None
        return library_call(function, [column], frame, None)

    def results_of(self, places: Ints, lengths: Ints) -> tuple[Frame, Column]:
        """What subsequences give, whose items need not follow each other."""
        frame = Frame(self.context, len(lengths), self.base, np.zeros(len(lengths), np.int64), {})
        return self._results(frame, places, lengths)

    def _results(self, frame: Frame, places: Ints, lengths: Ints) -> tuple[Frame, Column]:
        bound = self.bound(frame, places, lengths)
        return bound, evaluate(self.shape.result, bound)

    def bound(self, frame: Frame, places: Ints, lengths: Ints) -> Frame:
        """The frame with the items at these places as the windows of its rows."""
        loaded = self.loaded
        assert loaded is not None
        return frame.extend(
            {self.window.variable.number: lambda: Column.from_lengths(loaded.take(places), lengths)}
        )
