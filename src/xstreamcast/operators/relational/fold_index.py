"""Values in order with folds over all that stand before or behind a bound, in sorted blocks."""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Final

Entry = tuple[Any, Any]  # (what it is sorted by, its summary)
_FULL: Final = 512


class FoldIndex:
    """below(bound)  →  the sum of the summaries of all entries that sort before it.

    Summaries are added by `plus`, in any order. A change costs the block that it is in; a look-up
    costs one block, and the list of block sums once after a change.
    """

    def __init__(self, plus: Callable[[Any, Any], Any], zero: Any) -> None:
        self._plus, self._zero = plus, zero
        self._blocks: list[list[Entry]] = []
        self._last: list[Any] = []  # what the last entry of each block is sorted by
        self._sums: list[Any] = []
        self._lower: list[Any] | None = None  # of all blocks before each one
        self._upper: list[Any] | None = None  # of all blocks behind each one

    def __len__(self) -> int:
        return sum(map(len, self._blocks))

    def fill(self, entries: Iterable[Entry]) -> None:
        """Exactly these entries."""
        ordered = sorted(entries, key=_sorted_by)
        half = _FULL // 2
        self._blocks = [ordered[at : at + half] for at in range(0, len(ordered), half)]
        self._last = [block[-1][0] for block in self._blocks]
        self._sums = [self._sum(block) for block in self._blocks]
        self._lower = self._upper = None

    def add(self, key: Any, summary: Any) -> None:
        """One more entry."""
        if not self._blocks:
            self.fill([(key, summary)])
            return
        at = min(bisect_left(self._last, key), len(self._blocks) - 1)
        block = self._blocks[at]
        insort(block, (key, summary), key=_sorted_by)
        if len(block) > _FULL:
            self._blocks[at : at + 1] = block[: _FULL // 2], block[_FULL // 2 :]
            self._last.insert(at, None)
            self._sums.insert(at, None)
            self._renew(at + 1)
        self._renew(at)

    def remove(self, key: Any) -> None:
        """One entry less."""
        at = bisect_left(self._last, key)
        block = self._blocks[at]
        del block[bisect_left(block, key, key=_sorted_by)]
        if block:
            self._renew(at)
            return
        del self._blocks[at], self._last[at], self._sums[at]
        self._lower = self._upper = None

    def _renew(self, at: int) -> None:
        block = self._blocks[at]
        self._last[at], self._sums[at] = block[-1][0], self._sum(block)
        self._lower = self._upper = None

    def _sum(self, block: list[Entry]) -> Any:
        return reduce(self._plus, (summary for _, summary in block), self._zero)

    def below(self, bound: Any) -> Any:
        """The sum of all entries before the bound."""
        if self._lower is None:
            self._lower = list(itertools.accumulate(self._sums, self._plus, initial=self._zero))
        at = bisect_left(self._last, bound)
        if at == len(self._blocks):
            return self._lower[-1]
        block = self._blocks[at]
        own = self._sum(block[: bisect_left(block, bound, key=_sorted_by)])
        return self._plus(self._lower[at], own)

    def above(self, bound: Any) -> Any:
        """The sum of all entries behind the bound."""
        if self._upper is None:
            sums = itertools.accumulate(self._sums[::-1], self._plus, initial=self._zero)
            self._upper = list(sums)[::-1]
        at = bisect_left(self._last, bound)
        if at == len(self._blocks):
            return self._zero
        block = self._blocks[at]
        own = self._sum(block[bisect_left(block, bound, key=_sorted_by) :])
        return self._plus(own, self._upper[at + 1])

    def keys_below(self, bound: Any) -> list[Any]:
        """What the entries before the bound are sorted by, in order."""
        at = bisect_left(self._last, bound)
        found = [key for block in self._blocks[:at] for key, _ in block]
        if at < len(self._blocks):
            block = self._blocks[at]
            found += [key for key, _ in block[: bisect_left(block, bound, key=_sorted_by)]]
        return found

    def keys_above(self, bound: Any) -> list[Any]:
        """What the entries behind the bound are sorted by, in order."""
        at = bisect_left(self._last, bound)
        if at == len(self._blocks):
            return []
        block = self._blocks[at]
        found = [key for key, _ in block[bisect_left(block, bound, key=_sorted_by) :]]
        return found + [key for block in self._blocks[at + 1 :] for key, _ in block]


def _sorted_by(entry: Entry) -> Any:
    return entry[0]
