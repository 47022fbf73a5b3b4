"""Windows that are open: which items start them, which end them, as the items come."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.flwor.boundaries import NEVER, Bounds, next_true
from xstreamcast.model.column import Column, ranges
from xstreamcast.model.items import empty_items
from xstreamcast.operators.growing_windows.ends import Ends, ends_for
from xstreamcast.operators.growing_windows.keys import ComparedKeys, Odd, Test
from xstreamcast.operators.growing_windows.tumbling import tumbled

if TYPE_CHECKING:
    from xstreamcast.circuit.windows.windowed import Windowed
    from xstreamcast.model.column import Bools, Ints
    from xstreamcast.operators.growing_windows.sight import Sight

_BLOCK: Final = 8  # items for which open windows are tested at first; doubles
_PAIRS: Final = 1 << 18
_CANDIDATES: Final = 64  # items whose look-ups are tested together
Pairs = list[tuple[int, int]]


class Opened:
    """The windows open after the items that are settled: what they start and end is certain.

    sliding: a window is open until its first end; landmark: for ever; tumbling: one at a time.
    """

    def __init__(self, shape: Windowed) -> None:
        self.shape, self.kind = shape, shape.window.kind
        self.settled = 0
        self.open: dict[int, Any] = {}  # the first item of each, with its key
        self._at_last: frozenset[int] = frozenset()  # landmarks that end at the last item settled
        self.keys = None if shape.key is None else ComparedKeys(shape.key)
        self.index: Ends | None = None if shape.key is None else ends_for(shape.key.op)
        self._ahead: Test | None = None  # whether an item may still end a window, by position

    def __len__(self) -> int:
        return len(self.open)

    @property
    def probes(self) -> int:
        """How often open windows were looked up."""
        return 0 if self.index is None else self.index.probes

    @property
    def lowest(self) -> int:
        """The first item that an open window has, or will have."""
        return min(next(iter(self.open), self.settled), self.settled)

    # -- going on -------------------------------------------------------------------------------

    def advance(self, sight: Sight, high: int) -> Bounds:
        """Settle the items before `high` → the windows that end at them."""
        low = self.settled
        if high <= low:
            return bounds_of([])
        found = self._advanced(sight, low, high)
        if self.kind == "landmark" and self.shape.ends_with_items:
            self._at_last = frozenset(found.first[found.last == high - 1].tolist())
        return found

    def _advanced(self, sight: Sight, low: int, high: int) -> Bounds:
        opens, ends = self._asked(sight, low, high)
        self.settled = high
        if self.kind == "tumbling":
            found, still = tumbled(self.shape, sight, list(self.open), low, opens, ends)
            self.open = dict.fromkeys(still)
            return found
        new = low + np.flatnonzero(opens)
        if ends is not None:
            found = self._alone(low, ends, new)
        elif self.index is not None:
            return self._by_key(sight, low, high, new)
        else:
            found = self._by_pairs(sight, low, high, self._firsts(new))
        self._update(found, new)
        return found

    def give_up(self) -> None:
        """Close windows that no item to come can end."""
        ahead, position = self._ahead, self.settled + 1
        if ahead is None or self.index is None or not self.shape.passes:
            return
        keyed = ((first, key) for first, key in self.open.items() if key is not None)
        self._close([first for first, key in keyed if not ahead(position, key)])

    def tail(self, sight: Sight) -> tuple[Bounds, Ints]:
        """Windows that end at items not yet settled, if nothing came after → and those open."""
        low, high = self.settled, sight.stop
        opens, ends = self._asked(sight, low, high)
        if self.kind == "tumbling":
            found, still = tumbled(self.shape, sight, list(self.open), low, opens, ends)
            return found, np.array(still if self.shape.ends_with_items else [], np.int64)
        new = low + np.flatnonzero(opens)
        if high == low:
            found = bounds_of([])
        elif ends is not None:
            found = self._alone(low, ends, new)
        elif self.index is not None:
            found = self._tail_by_key(sight, low, high, new)
        else:
            found = self._by_pairs(sight, low, high, self._firsts(new))
        if not self.shape.ends_with_items:
            return found, np.zeros(0, np.int64)
        opened = self._firsts(new)
        if self.kind == "sliding":
            return found, opened[~np.isin(opened, found.first)]
        # the last item ends all windows that do not end there by themselves
        ended = list(self._at_last) if high == low else found.first[found.last == high - 1]
        return found, opened[~np.isin(opened, ended)]

    def _asked(self, sight: Sight, low: int, high: int) -> tuple[Bools, Bools | None]:
        """Starts and ends at each item; None for ends that depend on the start, or may fail."""
        end = self.shape.window.end
        if end is None or low >= high:
            return np.zeros(0, np.bool_), np.zeros(0, np.bool_)
        if end.test is None:  # a window ends before the item at which another would start
            opens = sight.opens(low, min(high + 1, sight.stop))
            ends = np.zeros(high - low, np.bool_)
            ends[: len(opens) - 1] = opens[1:]
            return opens[: high - low], ends
        opens = sight.opens(low, high)
        if self.shape.reads_start:
            return opens, None
        try:
            return opens, sight.ends(low, high)
        except Error:
            return opens, None  # perhaps it is not read where it fails

    def _firsts(self, new: Ints) -> Ints:
        return np.concatenate((np.fromiter(self.open, np.int64, len(self.open)), new))

    def _update(self, found: Bounds, new: Ints) -> None:
        for first in new.tolist():
            self._add(first, None)
        if self.kind == "sliding":
            for first in found.first.tolist():
                del self.open[first]

    def _add(self, first: int, key: Any) -> None:
        self.open[first] = key
        if self.index is not None and key is not None:
            self.index.add(first, key)

    # -- ends that do not depend on the start -----------------------------------------------------

    def _alone(self, low: int, ends: Bools, new: Ints) -> Bounds:
        if not ends.any():
            return bounds_of([])
        firsts = self._firsts(new)
        if self.kind == "sliding":
            last = next_true(ends)[np.maximum(firsts - low, 0)]
            ended = last != NEVER
            return Bounds(firsts[ended], last[ended] + low)
        at = low + np.flatnonzero(ends)
        counts = np.searchsorted(firsts, at, "right").astype(np.int64)
        return Bounds(firsts[ranges(np.zeros(len(at), np.int64), counts)], np.repeat(at, counts))

    # -- end conditions of every open window ------------------------------------------------------

    def _by_pairs(self, sight: Sight, low: int, high: int, firsts: Ints) -> Bounds:
        try:
            return self._pairs(sight, low, high, firsts, _BLOCK)
        except Error:
            return self._pairs(sight, low, high, firsts, 1)

    def _pairs(self, sight: Sight, low: int, high: int, firsts: Ints, block: int) -> Bounds:
        """Blocks of items, each with all windows that are open when it comes."""
        grows, parts, waiting = block > 1, [], firsts
        while low < high and len(waiting):
            to = min(high, low + block)
            pairs = np.arange(low, to)[None, :] >= waiting[:, None]
            row, at = np.nonzero(pairs)
            first, last = waiting[row], at + low
            hit = self._tested(sight, first, last)
            found = Bounds(first[hit], last[hit])
            if self.kind == "sliding":
                found = Bounds(
                    *(side[_first_rows(found.first)] for side in (found.first, found.last))
                )
                waiting = waiting[~np.isin(waiting, found.first)]
            parts.append(found)
            low = to
            if grows:
                block = max(_BLOCK, min(block * 2, _PAIRS // max(len(waiting), 1)))
        return _together(parts)

    def _tested(self, sight: Sight, first: Ints, last: Ints) -> Bools:
        parts = [
            sight.ended(first[at : at + _PAIRS], last[at : at + _PAIRS])
            for at in range(0, len(first), _PAIRS)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.bool_)

    # -- ends that are looked up ------------------------------------------------------------------

    def _keys(
        self, sight: Sight, new: Ints, low: int, high: int
    ) -> tuple[list[Any], list[Any], Test]:
        """The keys of some starts and of the items as ends, and how they compare."""
        key, window = self.shape.key, self.shape.window
        assert key is not None
        assert self.keys is not None
        assert window.start is not None
        assert window.end is not None
        nothing = Column(empty_items(), np.zeros(1, np.int64))
        left = sight.values(key.left, window.start, new) if len(new) else nothing
        at = np.arange(low, high, dtype=np.int64)
        right = sight.values(key.right, window.end, at) if len(at) else nothing
        starts, ends = self.keys.both(left, right)
        far = None if key.distance is None else sight.constant(key.distance)
        return starts, ends, self.keys.test(far)

    def _by_key(self, sight: Sight, low: int, high: int, new: Ints) -> Bounds:
        try:
            starts, ends, test = self._keys(sight, new, low, high)
        except (Odd, Error):
            self.index = None  # from now on, the condition itself must be evaluated
            found = self._by_pairs(sight, low, high, self._firsts(new))
            self._update(found, new)
            return found
        opening = dict(zip(new.tolist(), starts, strict=True))
        assert self.shape.key is not None
        self._ahead = operator.le if self.shape.key.op == "eq" else test
        if self.shape.key.decides:
            return bounds_of(self._looked_up(range(low, high), low, opening, ends, test))
        tried: Pairs = []
        for at in range(low, high, _CANDIDATES):
            part = range(at, min(at + _CANDIDATES, high))
            tried += self._tried(sight, self._looked_up(part, low, opening, ends, test, False))
        return bounds_of(tried)

    def _looked_up(
        self, places: range, low: int, opening: dict[int, Any], ends: list[Any], test: Test,
        closes: bool = True,
    ) -> Pairs:  # fmt: skip
        """Items one after another: each may start a window, and is looked up once."""
        index, found = self.index, []
        assert index is not None
        for at in places:
            if at in opening:
                self._add(at, opening[at])
            key = ends[at - low]
            if key is None:
                continue
            hits = index.hits(key, test)
            found += [(first, at) for first in hits]
            if closes and self.kind == "sliding":
                self._close(hits)
        return found

    def _tried(self, sight: Sight, candidates: Pairs) -> Pairs:
        """The candidates that end in truth; of a sliding window the first one, which closes it."""
        if not candidates:
            return []
        found = bounds_of(candidates)
        hit = self._tested(sight, found.first, found.last)
        if self.kind != "sliding":
            return [pair for pair, true in zip(candidates, hit.tolist(), strict=True) if true]
        ended: dict[int, int] = {}
        for (first, last), true in zip(candidates, hit.tolist(), strict=True):
            if true:
                ended.setdefault(first, last)
        self._close(list(ended))
        return list(ended.items())

    def _close(self, firsts: list[int]) -> None:
        assert self.index is not None
        self.index.drop([(first, self.open.pop(first)) for first in firsts])

    def _tail_by_key(self, sight: Sight, low: int, high: int, new: Ints) -> Bounds:
        """The same for the few items that are not settled, with nothing changed."""
        index = self.index
        assert index is not None
        none = np.zeros(0, np.int64)
        try:
            _, ends, test = self._keys(sight, none, low, high)
        except (Odd, Error):
            return self._by_pairs(sight, low, high, self._firsts(new))
        known = [
            (first, at) for at in range(low, high) if ends[at - low] is not None
            for first in index.hits(ends[at - low], test)
        ]  # fmt: skip
        fresh = [(first, at) for first in new.tolist() for at in range(first, high)]
        pairs = bounds_of(sorted(known + fresh))
        hit = self._tested(sight, pairs.first, pairs.last)
        found = Bounds(pairs.first[hit], pairs.last[hit])
        if self.kind == "sliding":
            return Bounds(*(side[_first_rows(found.first)] for side in (found.first, found.last)))
        return found


def bounds_of(pairs: Pairs) -> Bounds:
    """Windows by their first and last items."""
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return Bounds(array[:, 0], array[:, 1])


def _first_rows(firsts: Ints) -> Ints:
    """Where each window occurs first."""
    return np.unique(firsts, return_index=True)[1]


def _together(parts: list[Bounds]) -> Bounds:
    if not parts:
        return bounds_of([])
    return Bounds(np.concatenate([p.first for p in parts]), np.concatenate([p.last for p in parts]))
