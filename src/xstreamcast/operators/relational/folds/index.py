"""Values in order with folds over all those before or behind a bound, in sorted blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import accumulate
from typing import Any, Final

Plus = Callable[[Any, Any], Any]
_FULL: Final = 512


class _Block:
    """Some entries in order; sums from either end are made when they are first read."""

    __slots__ = ("_lower", "_upper", "keys", "values")

    def __init__(self, keys: list[Any], values: list[Any]) -> None:
        self.keys, self.values = keys, values
        self.changed()

    def changed(self) -> None:
        """Forget the sums."""
        self._lower: list[Any] | None = None
        self._upper: list[Any] | None = None

    def lower(self, plus: Plus, zero: Any) -> list[Any]:
        """The sum of the values before each place."""
        if self._lower is None:
            self._lower = list(accumulate(self.values, plus, initial=zero))
        return self._lower

    def upper(self, plus: Plus, zero: Any) -> list[Any]:
        """The sum of the values from each place on."""
        if self._upper is None:
            self._upper = list(accumulate(self.values[::-1], plus, initial=zero))[::-1]
        return self._upper


class FoldIndex:
    """below(bound)  →  the sum of the summaries of all entries that sort before it.

    Summaries are added by `plus`, in any order. A change costs the block that it is in; the first
    look-up after it the sums of that block and of all blocks, the next ones nothing but the search.
    """

    def __init__(self, plus: Plus, zero: Any) -> None:
        self._plus, self._zero = plus, zero
        self._blocks: list[_Block] = []
        self._last: list[Any] = []  # the last key of each block
        self._changed()

    def __len__(self) -> int:
        return sum(len(block.keys) for block in self._blocks)

    def fill(self, entries: Iterable[tuple[Any, Any]]) -> None:
        """Exactly these entries."""
        ordered = sorted(entries, key=lambda entry: entry[0])
        half = _FULL // 2
        self._blocks = [
            _Block([k for k, _ in part], [v for _, v in part])
            for at in range(0, len(ordered), half)
            for part in [ordered[at : at + half]]
        ]
        self._last = [block.keys[-1] for block in self._blocks]
        self._changed()

    def add(self, key: Any, summary: Any) -> None:
        """One more entry."""
        self._changed()
        if not self._blocks:
            self.fill([(key, summary)])
            return
        at = min(bisect_left(self._last, key), len(self._blocks) - 1)
        block = self._blocks[at]
        place = bisect_left(block.keys, key)
        block.keys.insert(place, key)
        block.values.insert(place, summary)
        block.changed()
        if len(block.keys) > _FULL:
            half = _FULL // 2
            self._blocks.insert(at + 1, _Block(block.keys[half:], block.values[half:]))
            self._last.insert(at + 1, block.keys[-1])
            del block.keys[half:], block.values[half:]
        self._last[at] = block.keys[-1]

    def remove(self, key: Any) -> None:
        """One entry less."""
        self._changed()
        at = bisect_left(self._last, key)
        block = self._blocks[at]
        place = bisect_left(block.keys, key)
        del block.keys[place], block.values[place]
        block.changed()
        if block.keys:
            self._last[at] = block.keys[-1]
        else:
            del self._blocks[at], self._last[at]

    def _changed(self) -> None:
        self._lower: list[Any] | None = None  # of all blocks before each one
        self._upper: list[Any] | None = None  # of all blocks from each one on

    def below(self, bound: Any) -> Any:
        """The sum of all entries before the bound."""
        plus, zero = self._plus, self._zero
        if self._lower is None:
            sums = [block.lower(plus, zero)[-1] for block in self._blocks]
            self._lower = list(accumulate(sums, plus, initial=zero))
        at = bisect_left(self._last, bound)
        if at == len(self._blocks):
            return self._lower[-1]
        block = self._blocks[at]
        return plus(self._lower[at], block.lower(plus, zero)[bisect_left(block.keys, bound)])

    def above(self, bound: Any) -> Any:
        """The sum of all entries from the bound on."""
        plus, zero = self._plus, self._zero
        if self._upper is None:
            sums = [block.upper(plus, zero)[0] for block in self._blocks]
            self._upper = list(accumulate(sums[::-1], plus, initial=zero))[::-1]
        at = bisect_left(self._last, bound)
        if at == len(self._blocks):
            return zero
        block = self._blocks[at]
        return plus(block.upper(plus, zero)[bisect_left(block.keys, bound)], self._upper[at + 1])

    def between(self, first: Any, last: Any) -> Any:
        """The sum of the entries from one key to another, both included."""
        plus, zero = self._plus, self._zero
        low, high = bisect_left(self._last, first), bisect_left(self._last, last)
        if low == len(self._blocks):
            return zero
        high = min(high, len(self._blocks) - 1)
        begin = bisect_left(self._blocks[low].keys, first)
        end = bisect_right(self._blocks[high].keys, last)
        if low == high:
            return reduce(plus, self._blocks[low].values[begin:end], zero)
        total = self._blocks[low].upper(plus, zero)[begin]
        for block in self._blocks[low + 1 : high]:
            total = plus(total, block.lower(plus, zero)[-1])
        return plus(total, self._blocks[high].lower(plus, zero)[end])

    def keys_between(self, first: Any, last: Any) -> list[Any]:
        """The keys from one to another, both included, in order."""
        low, high = bisect_left(self._last, first), bisect_left(self._last, last)
        found = [key for block in self._blocks[low : high + 1] for key in block.keys]
        return found[bisect_left(found, first) : bisect_right(found, last)]

    def keys_below(self, bound: Any) -> list[Any]:
        """The keys before the bound, in order."""
        at = bisect_left(self._last, bound)
        found = [key for block in self._blocks[:at] for key in block.keys]
        if at < len(self._blocks):
            keys = self._blocks[at].keys
            found += keys[: bisect_left(keys, bound)]
        return found

    def keys_above(self, bound: Any) -> list[Any]:
        """The keys from the bound on, in order."""
        at = bisect_left(self._last, bound)
        if at == len(self._blocks):
            return []
        keys = self._blocks[at].keys
        found = keys[bisect_left(keys, bound) :]
        return found + [key for block in self._blocks[at + 1 :] for key in block.keys]
