"""Open windows by what will end them: an item is looked up once, however many are open."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Any

from xstreamcast.operators.growing_windows.keys import OPS, Test


class Equal:
    """Windows by the value that ends them."""

    def __init__(self) -> None:
        self._by: dict[Any, dict[int, None]] = {}
        self.probes = 0

    def add(self, first: int, key: Any) -> None:
        self._by.setdefault(key, {})[first] = None

    def drop(self, firsts: Iterable[tuple[int, Any]]) -> None:
        for first, key in firsts:
            bucket = self._by[key]
            del bucket[first]
            if not bucket:
                del self._by[key]

    def hits(self, key: Any, test: Test) -> list[int]:
        """The windows that an item with this key may end."""
        self.probes += 1
        return list(self._by.get(key, ()))


class WindowsByEnd:
    """Windows in the order of the value that ends them: an item ends neighbours.

    end op start is true for all starts up to some, or from some on.
    """

    def __init__(self, op: str) -> None:
        self._low = op in ("gt", "ge")
        self._keys: list[tuple[Any, int]] = []
        self.probes = 0

    def add(self, first: int, key: Any) -> None:
        insort(self._keys, (key, first))

    def drop(self, firsts: Iterable[tuple[int, Any]]) -> None:
        gone = sorted((key, first) for first, key in firsts)
        if not gone:
            return
        low = bisect_left(self._keys, gone[0])
        if self._keys[low : low + len(gone)] == gone:
            del self._keys[low : low + len(gone)]
            return
        for one in gone:
            del self._keys[bisect_left(self._keys, one)]

    def hits(self, key: Any, test: Test) -> list[int]:
        """The windows that an item with this key may end."""
        low, high = 0, len(self._keys)
        while low < high:
            self.probes += 1
            middle = (low + high) // 2
            if test(key, self._keys[middle][0]) == self._low:
                low = middle + 1
            else:
                high = middle
        found = self._keys[:low] if self._low else self._keys[low:]
        return [first for _, first in found]


Ends = Equal | WindowsByEnd


def ends_for(op: str) -> Ends:
    """An empty index for a comparison."""
    assert op in OPS
    return Equal() if op == "eq" else WindowsByEnd(op)
