"""Where windows begin and end: positions of items in, (first, last) of each window out.

Items of all outer rows are stored end to end; `stop[i]` is where the row of item i ends. An end
condition is evaluated for many (first item, candidate) pairs at once. It is evaluated
speculatively, for pairs that may turn out not to matter; if that fails, they are evaluated one by
one, so that no error comes from a pair that the definition never looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.model.column import ranges
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.column import Bools, Ints

PairTest: TypeAlias = "Callable[[Ints, Ints], Bools]"

_BLOCK: Final = 8  # items a window looks ahead at first; doubles
_FEW: Final = 1 << 8  # pairs whose evaluation costs little more than that of one
_PAIRS: Final = 1 << 18  # pairs evaluated in one round
_SHORT: Final = 24  # windows shorter than this are cheaper to guess than to wait for
NEVER: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Bounds:
    """Windows by the positions of their first and last items."""

    first: Ints
    last: Ints

    def by_last(self) -> Bounds:
        """In the order of their last items, as forseq binds them."""
        order = np.lexsort((self.first, self.last))
        return Bounds(self.first[order], self.last[order])


def next_true(mask: Bools) -> Ints:
    """The nearest position under the mask at or after each, NEVER if none; one more at the end."""
    found = np.full(len(mask) + 1, NEVER, np.int64)
    found[:-1][mask] = np.flatnonzero(mask)
    return np.minimum.accumulate(found[::-1])[::-1]


def first_ends(first: Ints, stop: Ints, test: PairTest) -> Ints:
    """For each window, the first item at which its end condition holds; -1 if none does."""
    try:
        return _first_ends(first, stop, test, max(_BLOCK, _FEW // max(len(first), 1)))
    except Error:
        return _first_ends(first, stop, test, 1)


def _first_ends(first: Ints, stop: Ints, test: PairTest, block: int) -> Ints:
    last = np.full(len(first), -1, np.int64)
    waiting, at, grows = np.arange(len(first)), first.copy(), block > 1
    while len(waiting):
        width = np.minimum(block, stop[first[waiting]] - at)
        candidates = ranges(at, width)
        owner = np.repeat(waiting, width)
        hit = np.flatnonzero(test(first[owner], candidates))
        found, index = np.unique(owner[hit], return_index=True)
        last[found] = candidates[hit[index]]
        at = at + width
        alive = (last[waiting] < 0) & (at < stop[first[waiting]])
        waiting, at = waiting[alive], at[alive]
        if grows and len(waiting):
            block = max(_BLOCK, min(block * 2, _PAIRS // len(waiting)))
    return last


def sliding(starts: Bools, stop: Ints, ends: Bools | PairTest, only: bool) -> Bounds:
    """Every item that starts opens a window; it closes at its first end."""
    first = np.flatnonzero(starts)
    if callable(ends):
        last = first_ends(first, stop, ends)
    else:
        last = next_true(ends)[first]
        last[last >= stop[first]] = -1
    return closed(first, last, stop, only)


def closed(first: Ints, last: Ints, stop: Ints, only: bool) -> Bounds:
    """Windows without end close with their sequence, or are dropped if `only` real ends count."""
    ended = last >= 0
    if only:
        return Bounds(first[ended], last[ended])
    return Bounds(first, np.where(ended, last, stop[first] - 1))


def landmark(
    starts: Bools, stop: Ints, ends: Bools | PairTest, only: bool, least: int = 0
) -> Bounds:
    """Every pair of a start and an end at or after it is a window; `least`: no end before it."""
    first = np.flatnonzero(starts)
    from_ = np.maximum(first, least)
    parts: list[tuple[Ints, Ints]] = []
    for begin, end in _cuts(stop[first] - from_):
        width = stop[first[begin:end]] - from_[begin:end]
        owner, last = np.repeat(first[begin:end], width), ranges(from_[begin:end], width)
        keep = ends(owner, last) if callable(ends) else ends[last]
        if not only:
            keep = keep | (last == stop[owner] - 1)
        parts.append((owner[keep], last[keep]))
    if not parts:
        return Bounds(first, first)
    return Bounds(*(np.concatenate(side) for side in zip(*parts, strict=True)))


def _cuts(widths: Ints) -> list[tuple[int, int]]:
    """Runs of windows whose pairs fit in one round, at least one window each."""
    totals, cuts, begin = np.cumsum(widths), [], 0
    while begin < len(widths):
        before = int(totals[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(totals, before + _PAIRS, "right")))
        cuts.append((begin, end))
        begin = end
    return cuts


def tumbling_open(starts: Bools, stop: Ints) -> Bounds:
    """Tumbling windows without end condition: each reaches to the item before the next start."""
    first = np.flatnonzero(starts)
    following = next_true(starts)[first + 1]
    return Bounds(first, np.minimum(following, stop[first]) - 1)


def tumbling(
    starts: Bools, offsets: Ints, stop: Ints, ends: Bools | PairTest, only: bool
) -> Bounds:
    """A window opens at the first start after the one before has closed."""
    chain = _Chain(starts, offsets, stop)
    if callable(ends):
        chain.follow(ends)
    else:
        last = next_true(ends)[:-1]
        chain.walk(np.where(last < stop, last, -1).tolist())
    return closed(*chain.windows(), stop, only)


def tumbling_known(starts: Bools, offsets: Ints, stop: Ints, last: Ints, only: bool) -> Bounds:
    """The same where the end of a window from each item is known; -1 if there is none."""
    chain = _Chain(starts, offsets, stop)
    chain.walk(last.tolist())
    return closed(*chain.windows(), stop, only)


class _Chain:
    """Tumbling windows of all rows as they are found: each row is at its next start."""

    def __init__(self, starts: Bools, offsets: Ints, stop: Ints) -> None:
        self.starts = starts
        self.stop = stop
        self.next_start = next_true(starts)
        heads = self.next_start[offsets[:-1]]
        self.heads = heads[heads < offsets[1:]]
        self.first: list[int] = []
        self.last: list[int] = []

    def windows(self) -> tuple[Ints, Ints]:
        """What was found, in the order of first items."""
        first, last = np.array(self.first, np.int64), np.array(self.last, np.int64)
        order = np.argsort(first, kind="stable")
        return first[order], last[order]

    def walk(self, last: list[int | None] | list[int]) -> None:
        """Continue as far as ends are known: last[i] is None if unknown, -1 if there is none."""
        heads: list[int] = []
        following, stop = self.next_start, self.stop
        for head in self.heads.tolist():
            limit = int(stop[head])
            at = head
            while at < limit:
                end = last[at]
                if end is None:
                    heads.append(at)
                    break
                self.first.append(at)
                self.last.append(end)
                at = int(following[end + 1]) if end >= 0 else limit
        self.heads = np.array(heads, np.int64)

    def follow(self, test: PairTest) -> None:
        """Evaluate the ends of the next windows, guessing further starts if windows are short."""
        known: list[int | None] = [None] * len(self.starts)
        reach = 1
        while len(self.heads):
            candidates = self._guesses(reach)
            try:
                last = first_ends(candidates, self.stop, test)
            except Error:
                if reach == 1:
                    raise
                candidates, reach = self.heads, 1
                last = first_ends(candidates, self.stop, test)
            for at, end in zip(candidates.tolist(), last.tolist(), strict=True):
                known[at] = end
            reach = self._reach(candidates, last, reach)
            self.walk(known)

    def _guesses(self, reach: int) -> Ints:
        if reach == 1:
            return self.heads
        width = np.minimum(reach, self.stop[self.heads] - self.heads)
        near = ranges(self.heads, width)
        return near[self.starts[near]]

    def _reach(self, first: Ints, last: Ints, reach: int) -> int:
        """How many items ahead starts are guessed, from the lengths just seen.

        It grows step by step: one short window, perhaps the rest of a long one, proves little, and
        each wrong guess is compared with all items that follow.
        """
        length = float(np.mean(np.where(last < 0, self.stop[first], last + 1) - first))
        if length > _SHORT:
            return 1
        most = int(_PAIRS / max(length, _BLOCK) / len(self.heads))
        return max(1, min(_BLOCK * reach, most))


def subsequences(offsets: Ints, limit: int) -> tuple[Ints, Ints, Ints]:
    """All non-empty subsequences of each row, by last item: (row, length) of each, and positions.

    (a, b, c)  →  (a) (a,b) (b) (a,b,c) (a,c) (b,c) (c)
    """
    rows: list[int] = []
    lengths: list[int] = []
    places: list[Ints] = [np.empty(0, np.int64)]
    for row, (begin, end) in enumerate(
        zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ):
        for size in range(min(end - begin, limit)):
            masks = np.arange((1 << size) - 1, -1, -1, dtype=np.int64)
            bits = (masks[:, None] >> np.arange(size - 1, -1, -1)) & 1
            chosen = np.concatenate((bits, np.ones((len(masks), 1), np.int64)), axis=1)
            rows += [row] * len(masks)
            lengths += chosen.sum(axis=1).tolist()
            places.append(begin + np.nonzero(chosen)[1])
    return np.array(rows, np.int64), np.array(lengths, np.int64), np.concatenate(places)
