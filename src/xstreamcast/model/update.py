"""An update of an answer: the current item and rank of a key, or its deletion.

updates, the last of each key, in the order of ranks  →  the answer
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from sortedcontainers import SortedList

from xstreamcast.model.change import show_time

if TYPE_CHECKING:
    from xstreamcast.model.change import Change

_WIDTH: Final = 8  # bytes of a rank, unless others were inserted in between
_APART: Final = 1 << 20  # free ranks between two neighbours
_MIDDLE: Final = 1 << 63


class Update(NamedTuple):
    """At an instant; `item` is None if the key was deleted. Ranks are sortable bytes."""

    instant: int
    key: str
    rank: bytes
    item: str | None

    def to_json(self, query: str = "") -> str:
        """The update as a line of JSON; the digits of the rank sort as its bytes do."""
        named = {"query": query} if query else {}
        record = {"time": show_time(self.instant), "key": self.key}
        what = {"deleted": True} if self.item is None else {
            "rank": self.rank.hex(), "item": self.item
        }  # fmt: skip
        return json.dumps({**named, **record, **what}, ensure_ascii=False, separators=(",", ":"))


class RankedAnswer:
    """Assigns ranks to items of an answer whose changes name only the previous key."""

    def __init__(self) -> None:
        self.ranks: dict[str, bytes] = {}
        self.ticks = 0
        self._order: SortedList = SortedList()

    @staticmethod
    def of(ranks: dict[str, bytes], ticks: int) -> RankedAnswer:
        """An answer whose items have ranks already."""
        made = RankedAnswer()
        made.ranks, made._order, made.ticks = dict(ranks), SortedList(ranks.values()), ticks
        return made

    def updates(self, changes: Iterable[Change]) -> list[Update]:
        """The net effect of the changes of a tick, for each key that they name."""
        self.ticks += 1
        found: dict[str, Update] = {}
        new: set[str] = set()  # keys of which no reader knows
        for one in changes:
            if one.diff < 0:
                rank = self.ranks.pop(one.key)
                self._order.remove(rank)
                found[one.key] = Update(one.instant, one.key, rank, None)
                if one.key in new:
                    del found[one.key]
            else:
                if one.key not in found:
                    new.add(one.key)
                rank = self._placed(one.after)
                self.ranks[one.key] = rank
                self._order.add(rank)
                found[one.key] = Update(one.instant, one.key, rank, one.item)
        return list(found.values())

    def _placed(self, after: str | None) -> bytes:
        """A rank between that of a key and the next."""
        low = None if after is None else self.ranks[after]
        at = 0 if low is None else self._order.bisect_left(low) + 1
        high = self._order[at] if at < len(self._order) else None
        return between(low, high)


def between(low: bytes | None, high: bytes | None) -> bytes:
    """Bytes that sort between two; None: there is no bound."""
    if low is None and high is None:
        return _MIDDLE.to_bytes(_WIDTH, "big")
    if high is None:
        assert low is not None
        return (int.from_bytes(low[:_WIDTH], "big") + _APART).to_bytes(_WIDTH, "big")
    first = int.from_bytes(high[:_WIDTH], "big")
    if low is None:
        if first > _APART:
            return (first - _APART).to_bytes(_WIDTH, "big")
        low = bytes(_WIDTH)
    last = int.from_bytes(low[:_WIDTH], "big")
    if first - last > 1:
        return ((first + last) // 2).to_bytes(_WIDTH, "big")
    return _longer(low, high)


def _longer(low: bytes, high: bytes) -> bytes:
    """Digits in base 256, as many as are needed; none ends in a zero, so that more fit before."""
    out, bounded, at = bytearray(), True, 0
    while True:
        a = low[at] if at < len(low) else 0
        b = high[at] if bounded and at < len(high) else 256
        if b - a > 1:
            out.append((a + b) // 2)
            return bytes(out)
        out.append(a)
        bounded = bounded and a == b
        at += 1
