"""Window clauses: start conditions for all items at once, end conditions for blocks of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error, error
from xstreamcast.evaluate.flwor import boundaries as b
from xstreamcast.evaluate.flwor.window_index import bounds, window_index
from xstreamcast.evaluate.frame import Frame, Key, Value, positions
from xstreamcast.evaluate.walk import evaluate, truth
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.column import Column, ranges
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.model.column import Bools, Ints

_MOST_ITEMS: Final = 20  # of which all sub-sequences are made
_PAIRS: Final = 1 << 18


def window(plan: p.ForWindow, tuples: Frame) -> Iterator[Frame]:
    """The tuples, each with one window of its items."""
    if tuples.n == 0:
        return
    column = evaluate(plan.items, tuples)
    yield _Sequence(plan, column, tuples).windows()


def found_windows(
    plan: p.ForWindow,
    tuples: Frame,
    *,
    before: int = 0,
    skip: int = 0,
    around: tuple[int, int] | None = None,
) -> tuple[Frame, Ints, Ints]:
    """The windows, and for each the places of its first and last item among the items given.

    The items are a part of a sequence: `before` of its items precede them, and at the first
    `skip` of them no window begins. `around`: of landmark windows only those that end at the first
    of these places or behind it, and begin at the second or before it.
    """
    found = _Sequence(plan, evaluate(plan.items, tuples), tuples, before, skip, around)
    starts, bounds_ = found.bounds()
    return found.bound(starts, bounds_), bounds_.first, bounds_.last


def bound_at(
    boundary: p.Boundary,
    at: Ints,
    take: Callable[[Ints], Items],
    origin: Ints,
    stop: Ints,
    before: int = 0,
) -> dict[Key, Value]:
    """The variables of a boundary at these places of items in [origin, stop).

    `before`: the number of items of their sequence before them.
    """

    def neighbour(there: Bools, by: int) -> Column:
        return Column.from_lengths(take(at[there] + by), there.astype(np.int64))

    values: dict[Key, Value] = {}
    if boundary.current is not None:
        values[boundary.current.number] = lambda: Column(take(at))
    if boundary.position is not None:
        values[boundary.position.number] = Column(Items(INTEGER, at - origin + 1 + before))
    if boundary.previous is not None:
        values[boundary.previous.number] = lambda: neighbour(at > origin, -1)
    if boundary.next is not None:
        values[boundary.next.number] = lambda: neighbour(at + 1 < stop, 1)
    return values


def all_subsequences(offsets: Ints) -> tuple[Ints, Ints, Ints]:
    """The row and length of each, and the places of their items; XPDY0130 if they are too many."""
    longest = int(np.diff(offsets).max(initial=0))
    if longest > _MOST_ITEMS:
        raise error(
            "XPDY0130",
            f"forseq without a window type makes all sub-sequences: at most {_MOST_ITEMS} "
            f"items; got {longest}",
            hint="say tumbling window, sliding window or landmark window",
        )
    return b.subsequences(offsets, _MOST_ITEMS)


class _Sequence:
    """The items of all rows end to end, and what is bound at each of them."""

    def __init__(
        self,
        plan: p.ForWindow,
        column: Column,
        tuples: Frame,
        before: int = 0,
        skip: int = 0,
        around: tuple[int, int] | None = None,
    ) -> None:
        self.plan = plan
        self.before, self.skip, self.around = before, skip, around
        self.column = column
        self.tuples = tuples
        self.offsets = column.bounds()
        self.rows = column.rows()
        self.stop = self.offsets[1:][self.rows]
        self.origin = self.offsets[:-1][self.rows]

    def windows(self) -> Frame:
        """A frame with a row for each window, in the requested order."""
        plan = self.plan
        if plan.kind == "general" or plan.start is None:
            return self._subsequences()
        return self.bound(*self.bounds())

    def bounds(self) -> tuple[Frame, b.Bounds]:
        """A row for every item, and where windows begin and end, in the requested order."""
        plan = self.plan
        assert plan.start is not None
        starts = self._started(plan.start)
        found = self._found(starts)
        return starts, found.by_last() if plan.order == "last" else found

    # -- conditions -----------------------------------------------------------------------------

    def _started(self, start: p.Boundary) -> Frame:
        """A row for every item, with the variables of the start condition."""
        every = np.arange(len(self.rows), dtype=np.int64)
        return Frame(
            self.tuples.context, len(every), self.tuples, self.rows, self._variables(start, every)
        )

    def _found(self, starts: Frame) -> b.Bounds:
        plan = self.plan
        assert plan.start is not None
        assert plan.start.test is not None
        opens = truth(plan.start.test, starts)
        if self.skip:
            opens = opens.copy()
            opens[: self.skip] = False
        if plan.end is None:
            return b.tumbling_open(opens, self.stop)
        least = 0
        if self.around is None and plan.index is not None:
            found = self._indexed(plan.index, starts, opens)
            if found is not None:
                return found
        ends = self._ends(plan.end, starts, opens)
        if self.around is not None:  # where others would start ends windows, too
            least, opens = self.around[0], opens.copy()
            opens[self.around[1] + 1 :] = False
        match plan.kind:
            case "tumbling":
                return b.tumbling(opens, self.offsets, self.stop, ends, plan.only_end)
            case "sliding":
                return b.sliding(opens, self.stop, ends, plan.only_end)
            case _:
                return b.landmark(opens, self.stop, ends, plan.only_end, least)

    def _indexed(self, key: p.JoinKey, starts: Frame, opens: Bools) -> b.Bounds | None:
        """Windows by looking up their ends; None if that fails for one that may not matter."""
        assert self.plan.end is not None
        try:
            index = window_index(key, starts, self._started(self.plan.end), opens, self.stop)
        except Error:
            return None
        return None if index is None else bounds(self.plan, index, opens, self.offsets, self.stop)

    def _ends(self, end: p.Boundary, starts: Frame, opens: Bools) -> Bools | b.PairTest:
        """For each item whether windows end there, if that does not depend on their start."""
        if end.test is None:
            return self._before(opens)
        assert self.plan.start is not None
        keys = self.tuples.context.reads.of(end.test).keys
        if keys.isdisjoint(v.number for v in self.plan.start.variables()):
            ends = self._ends_alone(end)
            if ends is not None:
                return ends
        return lambda first, last: self._pairs(end, starts, first, last)

    def _before(self, opens: Bools) -> Bools:
        """newstart: a window ends before the item at which another would start."""
        ends = np.zeros(len(opens), np.bool_)
        ends[:-1] = opens[1:] & (self.rows[1:] == self.rows[:-1])
        return ends

    def _ends_alone(self, end: p.Boundary) -> Bools | None:
        """The end condition for every item; None if it fails for one that may not matter."""
        assert end.test is not None
        try:
            return truth(end.test, self._started(end))
        except Error:
            return None

    def _pairs(self, end: p.Boundary, starts: Frame, first: Ints, last: Ints) -> Bools:
        assert end.test is not None
        parts = [
            truth(
                end.test,
                self._pair_frame(end, starts, first[at : at + _PAIRS], last[at : at + _PAIRS]),
            )
            for at in range(0, len(first), _PAIRS)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.bool_)

    def _pair_frame(self, end: p.Boundary | None, starts: Frame, first: Ints, last: Ints) -> Frame:
        values = {} if end is None else self._variables(end, last)
        return Frame(self.tuples.context, len(first), starts, first, values)

    # -- bindings -------------------------------------------------------------------------------

    def _variables(self, boundary: p.Boundary, at: Ints) -> dict[Key, Value]:
        """The variables of a boundary at these items."""
        take = self.column.items.take
        return bound_at(boundary, at, take, self.origin[at], self.stop[at], self.before)

    def bound(self, starts: Frame, found: b.Bounds) -> Frame:
        """The windows with the variables of both boundaries."""
        lengths = found.last - found.first + 1
        frame = self._pair_frame(self.plan.end, starts, found.first, found.last)
        items = self.column.items
        return frame.extend(
            {
                self.plan.variable.number: lambda: Column.from_lengths(
                    items.take(ranges(found.first, lengths)), lengths
                )
            }
        )

    def _subsequences(self) -> Frame:
        rows, lengths, places = all_subsequences(self.offsets)
        value = Column.from_lengths(self.column.items.take(places), lengths)
        values: dict[Key, Value] = {self.plan.variable.number: value}
        return Frame(self.tuples.context, len(rows), self.tuples, rows, values)


__all__ = ["all_subsequences", "bound_at", "positions", "window"]
