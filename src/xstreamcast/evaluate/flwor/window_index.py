"""Ends of windows looked up by value: one sort instead of a test for every open window.

A window whose value never comes again is hopeless, and known to be so without looking further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.evaluate.flwor import boundaries as b
from xstreamcast.evaluate.flwor.key_pairs import ranked_alike
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare.keys import shared_ranks
from xstreamcast.model.column import ranges

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Bools, Column, Ints


class WindowIndex:
    """The items of all rows by the value that ends windows: sorted by value, then position."""

    def __init__(self, first: Ints, wanted: Ints, values: Ints, stop: Ints) -> None:
        """`wanted[i]`: what ends the window that starts at first[i]; `values`: of every item."""
        self._n = len(values) + 1
        self._first, self._wanted, self._stop = first, wanted, stop
        there = np.flatnonzero(values >= 0)
        self._places = np.sort(values[there] * self._n + there)

    def next(self) -> Ints:
        """For every window its first end, -1 if there is none."""
        sought = self._wanted * self._n + self._first
        at = np.searchsorted(self._places, sought)
        found = np.append(self._places, -1)[at]
        last = found % self._n
        ends = (self._wanted >= 0) & (found // self._n == self._wanted)
        ends &= (found >= 0) & (last < self._stop[self._first])
        return np.where(ends, last, -1)

    def all(self) -> tuple[Ints, Ints]:
        """(window, end) for all ends of every window."""
        base = self._wanted * self._n
        start = np.searchsorted(self._places, base + self._first)
        end = np.searchsorted(self._places, base + self._stop[self._first])
        count = np.where(self._wanted >= 0, end - start, 0)
        owner = np.repeat(np.arange(len(self._first), dtype=np.int64), count)
        return owner, self._places[ranges(start, count)] % self._n


def window_index(
    key: p.JoinKey, starts: Frame, ends: Frame, opens: Bools, stop: Ints
) -> WindowIndex | None:
    """The index; None if there are several values or no order decides which are equal."""
    first = np.flatnonzero(opens)
    store = starts.context.store
    one = atomize(store, evaluate(key.left, starts.select(first)))
    other = atomize(store, evaluate(key.right, ends))
    if _several(one) or _several(other):
        return None
    if not ranked_alike(one.items, other.items, key.general):
        return None
    if len(one.items) == 0 or len(other.items) == 0:
        nothing = np.full(len(first), -1, np.int64)
        return WindowIndex(first, nothing, np.full(ends.n, -1, np.int64), stop)
    ranks = shared_ranks(one.items, other.items)
    if ranks is None:
        return None
    return WindowIndex(first, _spread(one, ranks[0]), _spread(other, ranks[1]), stop)


def _several(column: Column) -> bool:
    return column.offsets is not None and int(column.lengths().max(initial=0)) > 1


def _spread(column: Column, ranks: Ints) -> Ints:
    out = np.full(column.n, -1, np.int64)
    out[column.lengths() > 0] = ranks
    return out


def bounds(
    plan: p.ForWindow, index: WindowIndex, opens: Bools, offsets: Ints, stop: Ints
) -> b.Bounds:
    """The windows of the clause."""
    first = np.flatnonzero(opens)
    if plan.kind == "landmark":
        return _landmark(index, first, stop, plan.only_end)
    last = index.next()
    if plan.kind == "sliding":
        return b.closed(first, last, stop, plan.only_end)
    known = np.full(len(opens), -1, np.int64)
    known[first] = last
    return b.tumbling_known(opens, offsets, stop, known, plan.only_end)


def _landmark(index: WindowIndex, first: Ints, stop: Ints, only: bool) -> b.Bounds:
    owner, last = index.all()
    starts = first[owner]
    if not only:  # the last item ends every window, too
        starts = np.concatenate((starts, first))
        last = np.concatenate((last, stop[first] - 1))
    width = len(stop) + 1
    both = np.unique(starts * width + last)
    return b.Bounds(both // width, both % width)
