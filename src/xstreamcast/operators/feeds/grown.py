"""Answers of other queries that only grow, where readers keep values of their items alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.answer import AnswerFeed, document_of
from xstreamcast.operators.units.units import Numbered, UnitDelta

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.store import Store

_BLOCK: Final = 4096  # items that are compressed together
_LEVEL: Final = 1


class GrownFeed(AnswerFeed):
    """Keeps all items compressed: they are read again only if an error breaks a tick off.

    feed(changes)  →  the items that came, each behind all others
    """

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name, names)
        self.numbers = Numbered()
        self.blocks: list[bytes] = []  # of _BLOCK items each
        self.last: list[str] = []  # the items behind them

    def feed(self, changes: Iterable[Change]) -> UnitDelta:
        """Apply changes → the units that they made."""
        found = [change.item for change in changes]  # nothing is ever taken back
        return self._unit_delta(self.extend(found), found)

    def extend(self, items: Sequence[str]) -> range:
        """Keep more items → their numbers."""
        first = self.numbers.count
        self.numbers.count += len(items)
        self.last += items
        while len(self.last) >= _BLOCK:
            full, self.last = self.last[:_BLOCK], self.last[_BLOCK:]
            self.blocks.append(zlib.compress("\0".join(full).encode("utf-8"), _LEVEL))
        return range(first, self.numbers.count)

    def items(self) -> Iterator[str]:
        """All items, in their order; no item holds a zero byte, which XML does not have."""
        for block in self.blocks:
            yield from zlib.decompress(block).decode("utf-8").split("\0")
        yield from self.last

    def everything(self) -> UnitDelta:
        """All units, to be evaluated again."""
        return self._unit_delta(range(self.numbers.count), list(self.items()))

    def again(self, keys: Sequence[str]) -> UnitDelta:
        """Some units, to be evaluated again."""
        wanted = sorted({int(key) for key in keys})
        each, at = [], -1
        block: list[str] = []
        for number in wanted:
            if number // _BLOCK != at:
                at = number // _BLOCK
                block = self._block(at)
            each.append(block[number % _BLOCK])
        return self._unit_delta(wanted, each)

    def _block(self, at: int) -> list[str]:
        if at == len(self.blocks):
            return self.last
        return zlib.decompress(self.blocks[at]).decode("utf-8").split("\0")

    def _unit_delta(self, numbers: Sequence[int], items: list[str]) -> UnitDelta:
        minis = self._minis_of(list(map(str, numbers)), items) if items else None
        return UnitDelta(minis, places=self.numbers)

    def whole(self, store: Store) -> Items:
        """The document of the answer, in a store."""
        return Items.of_nodes(np.array([store.read(document_of(self.items()))], np.int64))

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        return sum(map(len, self.blocks)) + sum(map(len, self.last))
