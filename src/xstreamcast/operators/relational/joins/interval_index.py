"""Intervals sorted by their beginnings, in blocks that know their earliest and latest ends.

An end that is NOW moves with the clock: such intervals are sorted apart, and have one end. None
begins so.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sortedcontainers import SortedList

from xstreamcast.model.delta import Key, Rank
from xstreamcast.model.instant import NOW

Span = tuple[int, int]
_FULL: Final = 256
FIRST: Final = -(1 << 63)
LAST: Final = (1 << 63) - 1


class Box(NamedTuple):
    """Intervals that begin between two instants and end between two others, all inclusive."""

    begin_from: int = FIRST
    begin_to: int = LAST
    end_from: int = FIRST
    end_to: int = LAST


def box_of_second(word: str, a: int, b: int) -> Box:
    """The intervals [c, d] with [a, b] word [c, d]."""
    match word:
        case "before":
            return Box(begin_from=b + 1)
        case "after":
            return Box(end_to=a - 1)
        case "meets":
            return Box(begin_from=b, begin_to=b)
        case "touches":
            return Box(begin_to=b, end_from=a)
        case "overlaps":
            return Box(begin_from=a + 1, begin_to=b - 1, end_from=b + 1)
        case "during":
            return Box(begin_to=a - 1, end_from=b + 1)
        case "contains":
            return Box(begin_from=a + 1, end_to=b - 1)
        case "starts":
            return Box(begin_from=a, begin_to=a, end_from=b + 1)
        case "finishes":
            return Box(begin_to=a - 1, end_from=b, end_to=b)
        case _:
            return Box(a, a, b, b)


def box_of_first(word: str, c: int, d: int) -> Box:
    """The intervals [a, b] with [a, b] word [c, d]."""
    match word:
        case "before":
            return Box(end_to=c - 1)
        case "after":
            return Box(begin_from=d + 1)
        case "meets":
            return Box(end_from=c, end_to=c)
        case "overlaps":
            return Box(begin_to=c - 1, end_from=c + 1, end_to=d - 1)
        case "starts":
            return Box(begin_from=c, begin_to=c, end_to=d - 1)
        case "finishes":
            return Box(begin_from=c + 1, end_from=d, end_to=d)
        case "touches":
            return box_of_second("touches", c, d)
        case "during":
            return box_of_second("contains", c, d)
        case "contains":
            return box_of_second("during", c, d)
        case _:
            return Box(c, c, d, d)


Entry = tuple[int, Rank, Key, int]  # beginning, rank and key of the row, end


class IntervalIndex:
    """within(box, clock)  →  the keys of intervals that begin and end so; NOW is the clock."""

    def __init__(self) -> None:
        self._blocks: list[list[Entry]] = []
        self._first: list[int] = []  # the beginning of each block's first entry
        self._ends: list[tuple[int, int]] = []
        self._open: SortedList = SortedList()
        self._instants: SortedList = SortedList()  # (instant, rank, key): where the clock matters

    def add(self, span: Span, rank: Rank, key: Key) -> None:
        """One more interval."""
        self._instants.update((one, rank, key) for one in {*span} - {NOW})
        if span[1] == NOW:
            self._open.add((span[0], rank, key, span[1]))
            return
        entry = (span[0], rank, key, span[1])
        if not self._blocks:
            self._blocks, self._first, self._ends = [[entry]], [span[0]], [(span[1], span[1])]
            return
        at = max(0, bisect_right(self._first, span[0]) - 1)
        block = self._blocks[at]
        insort(block, entry)
        if len(block) > _FULL:
            half = _FULL // 2
            self._blocks[at : at + 1] = block[:half], block[half:]
            self._first.insert(at + 1, 0)
            self._ends.insert(at + 1, (0, 0))
            self._renew(at + 1)
        self._renew(at)

    def remove(self, span: Span, rank: Rank, key: Key) -> None:
        """One interval less."""
        for one in {*span} - {NOW}:
            self._instants.remove((one, rank, key))
        entry = (span[0], rank, key, span[1])
        if span[1] == NOW:
            self._open.remove(entry)
            return
        at = max(0, bisect_left(self._first, span[0]) - 1)
        while True:  # equal beginnings may fill several blocks
            place = bisect_left(self._blocks[at], entry)
            if place < len(self._blocks[at]) and self._blocks[at][place] == entry:
                break
            at += 1
        del self._blocks[at][place]
        if self._blocks[at]:
            self._renew(at)
        else:
            del self._blocks[at], self._first[at], self._ends[at]

    def _renew(self, at: int) -> None:
        block = self._blocks[at]
        ends = [entry[3] for entry in block]
        self._first[at], self._ends[at] = block[0][0], (min(ends), max(ends))

    def within(self, box: Box, clock: int) -> Iterator[Key]:
        """The keys of the intervals in a box."""
        yield from self._closed_within(box)
        if box.end_from <= clock <= box.end_to:
            begins = self._open.irange((box.begin_from,), (box.begin_to + 1,))
            yield from (key for _, _, key, _ in begins)

    def _closed_within(self, box: Box) -> Iterator[Key]:
        at = max(0, bisect_left(self._first, box.begin_from) - 1)
        while at < len(self._blocks) and self._first[at] <= box.begin_to:
            earliest, latest = self._ends[at]
            if latest >= box.end_from and earliest <= box.end_to:
                for begin, _, key, end in self._blocks[at]:
                    if (
                        box.begin_from <= begin <= box.begin_to
                        and box.end_from <= end <= box.end_to
                    ):
                        yield key
            at += 1

    def open_keys(self, clock: int) -> Iterator[Key]:
        """The rows with an interval that ends now, or has an instant ahead."""
        yield from (key for _, _, key, _ in self._open)
        yield from (key for _, _, key in self._instants.irange((clock,)))

    def between(self, first: int, last: int) -> Iterator[Key]:
        """The rows that begin or end between two instants."""
        found: Iterable[tuple[int, Rank, Key]] = self._instants.irange((first,), (last + 1,))
        return (key for _, _, key in found)
