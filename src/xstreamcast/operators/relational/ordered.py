"""Rows in the order of their ranks: positions, the first ones, and neighbours, without sorting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sortedcontainers import SortedList

from xstreamcast.model.delta import Key, Rank


class Ordered:
    """Keys by rank; no two have one rank."""

    __slots__ = ("_list",)

    def __init__(self) -> None:
        self._list: SortedList = SortedList()

    def __len__(self) -> int:
        return len(self._list)

    def replace(self, gone: Iterable[tuple[Rank, Key]], come: Iterable[tuple[Rank, Key]]) -> None:
        """Take out and put in; what goes goes first, because ranks are handed on."""
        gone = list(gone)
        if 4 * len(gone) > len(self._list):
            left = set(self._list).difference(gone)
            self._list = SortedList(left)
        else:
            for one in gone:
                self._list.remove(one)
        self._list.update(come)

    def keys(self, first: int = 0, last: int | None = None) -> list[Key]:
        """The keys at positions from `first`, counted from 0, up to but not `last`."""
        return [key for _, key in self._list[first:last]]

    def position(self, rank: Rank) -> int:
        """How many keys stand before a rank."""
        found: int = self._list.bisect_left((rank,))
        return found

    def first(self) -> tuple[Rank, Key]:
        """The first key with its rank."""
        found: tuple[Rank, Key] = self._list[0]
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)
