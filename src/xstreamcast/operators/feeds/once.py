"""Streams whose items are read once: each takes part in the tick that it comes in, and is dropped.

    declare option xsc:once "crossing body=notice";

All readers of `crossing` read it once, and the body reads `notice` once. What was emitted because
of an item stays: it is neither retracted when the item is dropped, nor revised by what comes later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.signature import XSC
from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.answer import AnswerFeed, document_of
from xstreamcast.operators.units.units import Numbered, UnitDelta

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.change import Change
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.store import Store

OPTION: Final = "once"
BODY: Final = "body"  # what the last query is called in the option; elsewhere it has no name


def read_once(programs: Mapping[str, Program]) -> frozenset[tuple[str, str]]:
    """The pairs of a query and a stream that it reads once, by the options of the prolog."""
    words = {
        word
        for program in programs.values()
        for uri, local, value in program.settings.options
        if (uri, local) == (XSC, OPTION)
        for word in value.split()
    }
    out: set[tuple[str, str]] = set()
    for word in sorted(words):
        reader, _, stream = word.rpartition("=")
        last = list(programs)[-1]
        readers = list(programs) if not reader else [last if reader == BODY else reader]
        if stream not in programs or not set(readers) <= set(programs):
            raise error(
                "XSCS0005", f"xsc:once must name declared streams; got {word}",
                hint="NAME, or READER=NAME for one query that reads it; the body is called body",
            )  # fmt: skip
        out |= {(one, stream) for one in readers}
    return frozenset(out)


class OnceFeed(AnswerFeed):
    """Keeps the items of one tick; they follow all that came before.

    feed(changes)  →  the items that came and did not go in the same tick
    """

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name, names)
        self._numbers = Numbered()
        self._here: dict[str, str] = {}  # numbers of this tick, by the key of the change
        self._items: dict[str, str] = {}

    def feed(self, changes: Iterable[Change]) -> UnitDelta:
        """Apply changes → the units that they made; what was dropped is not changed again."""
        for change in changes:
            known = self._here.pop(change.key, None)
            if known is not None:
                del self._items[known]
            if change.diff > 0:
                key = str(self._numbers.count)
                self._numbers.count += 1
                self._here[change.key], self._items[key] = key, change.item
        return self.everything()

    def drop(self) -> UnitDelta:
        """Let all items go."""
        gone = tuple(self._items)
        self._here, self._items = {}, {}
        return UnitDelta(None, gone, self._numbers)

    def everything(self) -> UnitDelta:
        """The items of this tick."""
        return self.again(list(self._items))

    def again(self, keys: Sequence[str]) -> UnitDelta:
        """Some of them."""
        known = [key for key in keys if key in self._items]
        minis = self._minis(known) if known else None
        return UnitDelta(minis, places=self._numbers)

    def _item(self, key: str) -> str:
        return self._items[key]

    def whole(self, store: Store) -> Items:
        """The document of these items, in a store."""
        raw = document_of(self._items.values())
        return Items.of_nodes(np.array([store.read(raw)], np.int64))

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        return sum(300 + len(item) for item in self._items.values())
