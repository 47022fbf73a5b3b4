"""Items in, windows out: which have closed, which would if nothing came any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.flwor.boundaries import Bounds
from xstreamcast.evaluate.flwor.windows import all_subsequences
from xstreamcast.evaluate.frame import Frame
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.growing_windows.buffer import Buffer, put_into, taken_out
from xstreamcast.operators.growing_windows.folding import Folding
from xstreamcast.operators.growing_windows.opened import Opened
from xstreamcast.operators.growing_windows.sight import Sight
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit.windows.windowed import Windowed
    from xstreamcast.model.column import Ints
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.operators.units.units import Minis

T = TypeVar("T")
Rows = Callable[["Frame", "Column"], "list[T]"]  # the results of windows, as kept
_ROUND: Final = 1 << 18  # items of windows that are evaluated together
_SHIFT: Final = 40
_IDLE: Final = 64  # items that may be kept in vain before they are looked through


@dataclass(slots=True)
class Revision(Generic[T]):
    """What windows give from now on, by name; their ranks; below `final` nothing changes again.

    `provisional`: those of them that are open, or may end otherwise when more has come.
    """

    contents: dict[str, T] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    ranks: dict[str, int] = field(default_factory=dict)
    provisional: set[str] = field(default_factory=set)
    final: int = 0
    finals: dict[int, int] = field(default_factory=dict)  # the same for ranks from others on


class Windows(Generic[T]):
    """Open windows and the items that they still need.

    emitted after each tick  →  the windows of all items so far, or those that nothing can change
    """

    def __init__(self, shape: Windowed, document: p.Variable, rows: Rows[T]) -> None:
        self.shape, self._document, self._rows = shape, document, rows
        self.arrived = 0
        self._provisional: set[str] = set()
        self._decided, self._again = False, False
        self.pairs_asked = 0
        self.folding: Folding | None = None  # of the window that is open
        self.buffer = Buffer()
        self.opened = Opened(shape)

    @property
    def waits(self) -> bool:
        """Whether it failed over items that further ones may mend."""
        return self._again

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self.buffer.nbytes + 100 * len(self.opened)

    # -- ticks ----------------------------------------------------------------------------------

    def on_tick(
        self, pieces: Sequence[Minis], asking: EvaluationContext, decided: bool, ended: bool
    ) -> Revision[T] | None:
        """What a tick changed. `decided`: open windows may be emitted; `ended`: nothing comes."""
        if not pieces and decided == self._decided and not self._again:
            return None
        sight = Sight(self.shape, asking.context(Store(asking.names)))
        store = sight.context.store
        for piece in pieces:
            items = _items_of(piece, sight, self._document)
            self.buffer.append(items, self.arrived, store)
            self.arrived += len(items)
        sight.at_hand(self.buffer.loaded(store), self.arrived)
        revision = self._found(sight, decided, ended)
        self._release()
        return revision

    def on_items(self, items: Items, sight: Sight, decided: bool, ended: bool) -> Revision[T]:
        """What further items changed; of those that are needed later, nothing around is kept."""
        first, self.arrived = self.arrived, self.arrived + len(items)
        store = sight.context.store
        loaded = self.buffer.loaded(store)
        if self.buffer.segments:  # behind what came before, also in the order of documents
            items = put_into(*taken_out(items, store), store)
        loaded.add(items, first)
        sight.at_hand(loaded, self.arrived)
        revision = self._found(sight, decided, ended)
        low, kept = self._needed()
        keep = self._starts(kept)
        self.buffer.release(keep, low, True)
        self.buffer.append_alone(items, first, keep, low, store)
        return revision

    def _found(self, sight: Sight, decided: bool, ended: bool) -> Revision[T]:
        revision: Revision[T] = Revision()
        self._settle(sight, revision)
        self._look_ahead(sight, revision, decided, ended)
        self._decided = decided
        self.pairs_asked += sight.pairs_asked
        revision.final = self._final()
        self._fold(sight)
        return revision

    # -- windows --------------------------------------------------------------------------------

    def _settle(self, sight: Sight, revision: Revision[T]) -> None:
        if self.shape.window.kind == "general":
            self._subsequences(sight, revision)
            return
        found = self.opened.advance(sight, self.arrived - self.shape.ahead)
        self._emit(sight, found, revision, False)
        self.opened.give_up()

    def _look_ahead(self, sight: Sight, revision: Revision[T], decided: bool, ended: bool) -> None:
        """Windows as they are if nothing comes any more."""
        before, self._provisional = self._provisional, set()
        self._again = False
        if decided and self.shape.window.kind != "general":
            try:
                found, still = self.opened.tail(sight)
                named = self._emit(sight, found, revision, False)
                last = np.full(len(still), self.arrived - 1, np.int64)
                named += self._emit(sight, Bounds(still, last), revision, True)
            except Error:
                if ended:
                    raise
                self._again, named = True, []  # what is still to come may mend it
            self._provisional = set(named)
        revision.provisional = self._provisional
        revision.gone |= before
        revision.gone -= set(revision.contents)

    def _emit(
        self, sight: Sight, found: Bounds, revision: Revision[T], by_items: bool
    ) -> list[str]:
        """The results of windows → their names. `by_items`: only the end of the items ends them."""
        if self.shape.by_last:
            found = found.by_last()
        names = [
            self._name(first, last, by_items)
            for first, last in zip(found.first.tolist(), found.last.tolist(), strict=True)
        ]
        rows = self._results(sight, found)
        revision.contents |= dict(zip(names, rows, strict=True))
        revision.ranks |= dict(zip(names, self._ranks(found), strict=True))
        return names

    def _results(self, sight: Sight, found: Bounds) -> list[T]:
        if self.folding is not None and self.folding.first in found.first:
            return self._folded(sight, found, self.folding)
        out: list[T] = []
        lengths = np.cumsum(found.last - found.first + 1)
        at = 0
        while at < len(lengths):
            before = int(lengths[at - 1]) if at else 0
            to = max(at + 1, int(np.searchsorted(lengths, before + _ROUND, "right")))
            to = to if self.shape.reads_items else len(lengths)
            out += self._rows(*sight.results(found.first[at:to], found.last[at:to]))
            at = to
        return out

    def _folded(self, sight: Sight, found: Bounds, folding: Folding) -> list[T]:
        """The first of these windows is the one that was folded."""
        assert found.first[0] == folding.first
        rows = self._rows(*folding.result(sight, int(found.last[0])))
        rest = Bounds(found.first[1:], found.last[1:])
        return rows + self._results(sight, rest)

    def _fold(self, sight: Sight) -> None:
        """Continue the window that is open."""
        first = next(iter(self.opened.open), None)
        if first is None or not self.shape.folds_on:
            self.folding = None
            return
        if self.folding is None or self.folding.first != first:
            self.folding = Folding(self.shape, first)
        self.folding.fold(sight, self.opened.settled)

    def _ranks(self, found: Bounds) -> list[int]:
        one, other = found.first.tolist(), found.last.tolist()
        if self.shape.by_last:
            one, other = other, one
        return [(a << _SHIFT) | b for a, b in zip(one, other, strict=True)]

    def _name(self, first: int, last: int, by_items: bool) -> str:
        """A name that lasts, whatever comes behind it."""
        if not self.shape.by_last:
            return str(first)
        return f"{first}-{'' if by_items else last}"

    def _subsequences(self, sight: Sight, revision: Revision[T]) -> None:
        """All that end at items that are new."""
        low, high = self.opened.settled, self.arrived
        _, lengths, places = all_subsequences(np.array([0, high], np.int64))
        known = (1 << low) - 1  # that end before
        lengths = lengths[known:]
        rows = self._rows(*sight.results_of(places[len(places) - int(lengths.sum()) :], lengths))
        numbers = range(known, known + len(lengths))
        revision.contents |= dict(zip(map(str, numbers), rows, strict=True))
        revision.ranks |= {str(number): number for number in numbers}
        self.opened.settled = high

    # -- what is needed no more -------------------------------------------------------------------

    def _final(self) -> int:
        """The rank below which nothing changes again."""
        if self.shape.window.kind == "general":
            return (1 << self.arrived) - 1
        if self.shape.by_last:
            return max(0, min(self.arrived - 1, self.opened.settled)) << _SHIFT
        return self.opened.lowest << _SHIFT

    def _release(self) -> None:
        low, kept = self._needed()
        if 2 * len(self.buffer) > 3 * (self.arrived - low + kept) + _IDLE:
            self.buffer.release(self._starts(kept), low, self.shape.alone)

    def _needed(self) -> tuple[int, int]:
        """From which place on all items are still needed, and how many before it."""
        window = self.shape.window
        if window.kind == "general" or window.start is None or window.end is None:
            return 0, 0
        start = window.start
        back = int(start.previous is not None or window.end.previous is not None)
        reads_items = self.shape.reads_items
        low = self.opened.lowest if reads_items else self.opened.settled
        if self.folding is not None:
            reads_items, low = False, self.folding.since
        read = sum(one is not None for one in (start.current, start.previous, start.next))
        return low - back, 0 if reads_items else read * len(self.opened)

    def _starts(self, kept: int) -> Ints:
        """The places of items that variables of open windows are bound to, if these are kept."""
        start = self.shape.window.start
        if not kept or start is None:
            return np.zeros(0, np.int64)
        first = np.fromiter(self.opened.open, np.int64, len(self.opened))
        parts = [first] if start.current is not None else []
        parts += [first - 1] if start.previous is not None else []
        parts += [first + 1] if start.next is not None else []
        return np.unique(np.concatenate(parts))


def _items_of(piece: Minis, sight: Sight, document: p.Variable) -> Items:
    """The items of a piece of the document, in the store of this tick."""
    store = sight.context.store
    handles = (store.add(piece.tape) << 32) | piece.documents
    origin = np.zeros(len(handles), np.int64)
    units = Column(Items.of_nodes(handles))
    frame = Frame(sight.context, len(handles), sight.base, origin, {document.number: units})
    return evaluate(sight.window.items, frame).items
