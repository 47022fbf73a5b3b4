"""Bands from one value to another, sorted by where they begin, in blocks that know how far they go.

Of a value, the blocks that begin behind it or end before it are not looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Any, Final

from xstreamcast.model.delta import Key, Rank

Band = tuple[Any, Rank, Key, Any]  # the lower bound, rank and key of the row, the upper bound
_FULL: Final = 256


class BandIndex:
    """around(value)  →  the keys of the rows whose bands hold it, both ends included."""

    def __init__(self) -> None:
        self._blocks: list[list[Band]] = []
        self._low: list[Any] = []  # the lower bound of each block's first band
        self._last: list[Band] = []
        self._high: list[Any] = []  # the greatest upper bound in each block

    def fill(self, bands: Iterable[Band]) -> None:
        """Exactly these bands."""
        ordered, half = sorted(bands), _FULL // 2
        self._blocks = [ordered[at : at + half] for at in range(0, len(ordered), half)]
        self._low = [block[0][0] for block in self._blocks]
        self._last = [block[-1] for block in self._blocks]
        self._high = [_highest(block) for block in self._blocks]

    def add(self, band: Band) -> None:
        """One more band."""
        if not self._blocks:
            self.fill([band])
            return
        at = min(bisect_left(self._last, band), len(self._blocks) - 1)
        block = self._blocks[at]
        insort(block, band)
        if len(block) > _FULL:
            half = _FULL // 2
            rest = block[half:]
            del block[half:]
            self._blocks.insert(at + 1, rest)
            self._low.insert(at + 1, rest[0][0])
            self._last.insert(at + 1, rest[-1])
            self._high.insert(at + 1, _highest(rest))
        self._renew(at)

    def remove(self, band: Band) -> None:
        """One band less."""
        at = bisect_left(self._last, band)
        block = self._blocks[at]
        del block[bisect_left(block, band)]
        if block:
            self._renew(at)
        else:
            del self._blocks[at], self._low[at], self._last[at], self._high[at]

    def _renew(self, at: int) -> None:
        block = self._blocks[at]
        self._low[at], self._last[at] = block[0][0], block[-1]
        self._high[at] = _highest(block)

    def around(self, value: Any) -> Iterator[Key]:
        """The rows whose lower bound is not behind a value, nor their upper bound before it."""
        for at in range(bisect_right(self._low, value)):
            if self._high[at] >= value:
                for low, _, key, high in self._blocks[at]:
                    if low <= value <= high:
                        yield key


def _highest(block: list[Band]) -> Any:
    return max(band[3] for band in block)
