"""Rows in the order of their ranks: positions, the first ones, and neighbours, without sorting."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sortedcontainers import SortedList

from xstreamcast.model.delta import Key, Rank

_FEW: Final = 32  # keys that are kept in a list


class Ordered:
    """Keys by rank; no two have one rank."""

    __slots__ = ("_list",)

    def __init__(self) -> None:
        self._list: Any = []  # a SortedList once it is long: a list is made sooner

    def __len__(self) -> int:
        return len(self._list)

    def begin(self, rank: Rank, key: Key) -> None:
        """Put the first key in."""
        self._list = [(rank, key)]

    def replace(self, gone: Iterable[tuple[Rank, Key]], come: Iterable[tuple[Rank, Key]]) -> None:
        """Remove rows, then add others, because a new row may have the rank of a removed one."""
        gone, come = list(gone), list(come)
        if isinstance(self._list, list) or 4 * len(gone) > len(self._list):
            left = set(self._list).difference(gone) if gone else self._list
            self._list = sorted([*left, *come])
            if len(self._list) > _FEW:
                self._list = SortedList(self._list)
            return
        for one in gone:
            self._list.remove(one)
        self._list.update(come)

    def keys(self, first: int = 0, last: int | None = None) -> list[Key]:
        """The keys at positions from `first`, counted from 0, up to but not `last`."""
        return [key for _, key in self._list[first:last]]

    def between_places(self, first: int, last: int) -> list[tuple[Rank, Key]]:
        """The keys at these positions with their ranks."""
        return list(self._list[first:last])

    def position(self, rank: Rank) -> int:
        """How many keys come before a rank."""
        if isinstance(self._list, list):
            return bisect_left(self._list, (rank,))
        found: int = self._list.bisect_left((rank,))
        return found

    def at(self, place: int) -> tuple[Rank, Key]:
        """The key at a position, with its rank; -1: the last one."""
        found: tuple[Rank, Key] = self._list[place]
        return found

    def next(self, rank: Rank) -> tuple[Rank, Key] | None:
        """The first key at or behind a rank."""
        place = self.position(rank)
        return None if place == len(self._list) else self.at(place)

    def behind(self, entry: tuple[Rank, Key]) -> tuple[Rank, Key] | None:
        """The key that follows another."""
        short = isinstance(self._list, list)
        place = bisect_right(self._list, entry) if short else self._list.bisect_right(entry)
        return None if place == len(self._list) else self.at(place)

    def before(self, rank: Rank) -> tuple[Rank, Key] | None:
        """The last key before a rank."""
        place = self.position(rank)
        return self.at(place - 1) if place else None

    def between(self, first: Rank | None, last: Rank | None) -> list[tuple[Rank, Key]]:
        """The keys from a rank on, up to but not another one; None: from the begin, to the end."""
        begin = 0 if first is None else self.position(first)
        end = len(self._list) if last is None else self.position(last)
        return list(self._list[begin:end])

    def first(self) -> tuple[Rank, Key]:
        """The first key with its rank."""
        found: tuple[Rank, Key] = self._list[0]
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)
