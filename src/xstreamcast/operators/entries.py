"""Items of an answer with names that last: what stays keeps its serial, whatever comes between."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_MOST: Final = 4_000_000  # pairs that are worth comparing


class Entry(NamedTuple):
    """An item and its serial number within its group."""

    serial: int
    item: str


class Entries(NamedTuple):
    """The items of one group in order; `used` serials were given so far."""

    listed: tuple[Entry, ...] = ()
    used: int = 0

    def revised(self, items: Sequence[str]) -> Entries:
        """The entries for new items: those that stay keep their serials, others are revised."""
        if not self.listed:
            made = tuple(Entry(self.used + at, item) for at, item in enumerate(items))
            return Entries(made, self.used + len(made))
        old = [entry.item for entry in self.listed]
        front = _common(old, items)
        back = _common(old[front:][::-1], items[front:][::-1])
        kept = list(self.listed[:front])
        used = self.used
        middle = old[front : len(old) - back], items[front : len(items) - back]
        for low, high, first, last in _blocks(*middle):
            for offset in range(last - first):
                place = low + offset
                if place < high:
                    serial = self.listed[front + place].serial
                else:
                    serial, used = used, used + 1
                kept.append(Entry(serial, items[front + first + offset]))
        kept += self.listed[len(old) - back :] if back else ()
        return Entries(tuple(kept), used)


EMPTY: Final = Entries()


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many items both begin with."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """[low, high) of the old for [first, last) of the new, equal ones among them."""
    if not old or not new or len(old) * len(new) > _MOST:
        return [(0, len(old), 0, len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(low, high, first, last) for _, low, high, first, last in matcher.get_opcodes()]


def longest_ascending(values: Sequence[int]) -> frozenset[int]:
    """The places of a longest ascending subsequence of different numbers."""
    if all(a < b for a, b in itertools.pairwise(values)):
        return frozenset(range(len(values)))
    ends: list[int] = []  # the smallest value that ends a run of each length, and its place
    places: list[int] = []
    before: list[int] = []
    for i, value in enumerate(values):
        at = bisect_left(ends, value)
        ends[at : at + 1], places[at : at + 1] = [value], [i]
        before.append(places[at - 1] if at else -1)
    kept, at = set(), places[-1] if places else -1
    while at >= 0:
        kept.add(at)
        at = before[at]
    return frozenset(kept)
