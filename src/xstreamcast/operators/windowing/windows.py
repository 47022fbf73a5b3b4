"""Items in, windows out: which have closed, which would if nothing came any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.boundaries import Bounds
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.windows import all_subsequences
from xstreamcast.operators.windowing.buffer import Buffer, put_into, renamed, taken_out
from xstreamcast.operators.windowing.folding import Folding
from xstreamcast.operators.windowing.opened import Opened
from xstreamcast.operators.windowing.sequence import Units, items_of
from xstreamcast.operators.windowing.sight import Sight
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.algebra.windowed import Windowed
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column, Ints
    from xstreamcast.model.items import Items
    from xstreamcast.operators.asking import Asking
    from xstreamcast.operators.units import Moved

T = TypeVar("T")
Rows = Callable[["Frame", "Column"], "list[T]"]  # what each window gives, as somebody keeps it
_ROUND: Final = 1 << 18  # items of windows that are asked together
_SHIFT: Final = 40
_IDLE: Final = 64  # items that may lie about before they are looked through


@dataclass(slots=True)
class Revision(Generic[T]):
    """What windows give from now on, by name; their ranks; below `final` nothing changes again."""

    contents: dict[str, T] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    ranks: dict[str, int] = field(default_factory=dict)
    final: int = 0
    finals: dict[int, int] = field(default_factory=dict)  # the same for ranks from others on

    def merge(self, other: Revision[T]) -> None:
        """Take in what came after it."""
        for name in other.gone:
            self.contents.pop(name, None)
            self.ranks.pop(name, None)
        self.gone = (self.gone | other.gone) - set(other.contents)
        self.contents |= other.contents
        self.ranks |= other.ranks
        self.final = other.final
        self.finals |= other.finals


class Windows(Generic[T]):
    """Open windows and the items that they still need; all items where these may change.

    told after each tick  →  the windows of all items so far, or those that nothing can change
    """

    def __init__(self, part: Part, rows: Rows[T], snapshot: Any = None) -> None:
        shape: Windowed = part.shape  # type: ignore[assignment]
        self.shape, self._document, self._rows = shape, part.document, rows
        self.arrived = 0
        self._enumerated = 0  # items of which all subsequences were told
        self.units: Units | None = None  # of a stream whose items may change
        self._provisional: set[str] = set()  # windows that may not be what they seem
        self._closed: list[tuple[int, int, str]] = []  # (last, first, name), where items may change
        self._decided, self._again, self._restored = False, False, snapshot is not None
        self.pairs_asked = 0
        self.folding: Folding | None = None  # of the window that is open
        opened = None
        if snapshot is not None:
            self.arrived, held, opened, self._provisional, self._decided, folds = snapshot
            self.folding = None if folds is None else Folding(shape, *folds)
            self._enumerated = self.arrived
            self.buffer = Buffer(held)
        else:
            self.buffer = Buffer()
        self.opened = Opened(shape, opened)

    def snapshot(self) -> Any:
        """What brings it back; None where units are to be asked again."""
        if self.units is not None:
            return None
        held, opened = self.buffer.snapshot(), self.opened.snapshot()
        folds = None if self.folding is None else self.folding.snapshot()
        return self.arrived, held, opened, self._provisional, self._decided, folds

    @property
    def anew(self) -> bool:
        """Whether nothing is known of windows that may have been told."""
        return self.units is None

    @property
    def waits(self) -> bool:
        """Whether it failed over items that further ones may mend."""
        return self._again

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        marks = 0 if self.units is None else 100 * len(self.units.marks)
        return self.buffer.nbytes + 100 * len(self.opened) + 120 * len(self._closed) + marks

    # -- ticks ----------------------------------------------------------------------------------

    def on_tick(
        self, moves: Sequence[Moved], asking: Asking, decided: bool, ended: bool
    ) -> Revision[T] | None:
        """What a tick changed. `decided`: open windows may be told; `ended`: nothing comes."""
        if not moves and decided == self._decided and not self._again:
            return None
        try:
            return deep(lambda: self._on_tick(moves, asking, decided, ended))
        except Error:
            # what was found is not told: if the stream goes on, all its units are asked again
            self.units, self._closed = None, []
            raise

    def _on_tick(
        self, moves: Sequence[Moved], asking: Asking, decided: bool, ended: bool
    ) -> Revision[T]:
        sight = Sight(self.shape, asking.context(Store(asking.names)))
        return self.on_moves(moves, sight, decided, ended)

    def on_moves(
        self, moves: Sequence[Moved], sight: Sight, decided: bool, ended: bool
    ) -> Revision[T]:
        """The same with a sight of one's own, whatever has moved."""
        self._rename(sight)
        revision: Revision[T] = Revision()
        for moved in moves:
            if moved.append:
                self._append(moved, sight)
            else:
                self._revise(moved, sight, revision)
        sight.at_hand(self.buffer.loaded(sight.context.store), self.arrived)
        self._found(sight, revision, decided, ended)
        if self.units is None:
            self._release()
        return revision

    def on_items(self, items: Items, sight: Sight, decided: bool, ended: bool) -> Revision[T]:
        """What further items changed; of those that are needed later, nothing around is kept."""
        self._rename(sight)
        revision: Revision[T] = Revision()
        first, self.arrived = self.arrived, self.arrived + len(items)
        store = sight.context.store
        loaded = self.buffer.loaded(store)
        if self.buffer.segments:  # behind what came before, also in the order of documents
            items = put_into(*taken_out(items, store), store)
        loaded.add(items, first)
        sight.at_hand(loaded, self.arrived)
        self._found(sight, revision, decided, ended)
        low, kept = self._needed()
        keep = self._starts(kept)
        self.buffer.release(keep, low, True)
        self.buffer.append_alone(items, first, keep, low, store)
        return revision

    def _rename(self, sight: Sight) -> None:
        if self._restored:
            names = sight.context.store.names
            self.buffer.segments = list(renamed(self.buffer.segments, names))
            self._restored = False

    def _found(self, sight: Sight, revision: Revision[T], decided: bool, ended: bool) -> None:
        self._settle(sight, revision)
        self._look_ahead(sight, revision, decided, ended)
        self._decided = decided
        self.pairs_asked += sight.pairs_asked
        revision.final = self._final()
        if self.units is None:
            self._fold(sight)

    def _append(self, moved: Moved, sight: Sight) -> None:
        if moved.asked is None:
            return
        items = items_of(moved.asked, sight, self._document).items
        self.buffer.append(items, self.arrived, sight.context.store)
        self.arrived += len(items)

    def _revise(self, moved: Moved, sight: Sight, revision: Revision[T]) -> None:
        """Items have changed: what was found from the first of them on is found again."""
        if self.units is None:
            self.units, self.arrived, self.buffer = Units(), 0, Buffer()
            self.opened = Opened(self.shape)
        first, items = self.units.revise(moved, sight, self._document)
        self.buffer.truncate(first)
        self.buffer.append(items, first, sight.context.store)
        self.arrived = first + len(items)
        low = min(self.opened.settled, max(0, first - self.shape.ahead))
        if low < self.opened.settled:
            sight.at_hand(self.buffer.loaded(sight.context.store), self.arrived)
            opened = self._reopened(low, revision)
            self.opened.rewind(sight, low, opened, self._ended_at(low - 1))

    def _reopened(self, low: int, revision: Revision[T]) -> list[int]:
        """The windows open before an item; those that ended from there on are taken back."""
        opened = {first for first in self.opened.open if first < low}
        while self._closed and self._closed[-1][0] >= low:
            _, first, name = self._closed.pop()
            revision.gone.add(name)
            if first < low:
                opened.add(first)
        return sorted(opened)

    def _ended_at(self, last: int) -> frozenset[int]:
        found = set()
        for at, first, _ in reversed(self._closed):
            if at < last:
                break
            found.add(first)
        return frozenset(found)

    # -- windows --------------------------------------------------------------------------------

    def _settle(self, sight: Sight, revision: Revision[T]) -> None:
        if self.shape.window.kind == "general":
            self._subsequences(sight, revision)
            return
        found = self.opened.advance(sight, self.arrived - self.shape.ahead)
        self._tell(sight, found, revision, False)
        if self.units is None:
            self.opened.give_up()

    def _look_ahead(self, sight: Sight, revision: Revision[T], decided: bool, ended: bool) -> None:
        """Windows as they are if nothing comes any more."""
        before, self._provisional = self._provisional, set()
        self._again = False
        if decided and self.shape.window.kind != "general":
            try:
                found, still = self.opened.tail(sight)
                told = self._tell(sight, found, revision, None)
                last = np.full(len(still), self.arrived - 1, np.int64)
                told += self._tell(sight, Bounds(still, last), revision, True)
            except Error:
                if ended:
                    raise
                self._again, told = True, []  # what is still to come may mend it
            self._provisional = set(told)
        revision.gone |= before
        revision.gone -= set(revision.contents)

    def _tell(
        self, sight: Sight, found: Bounds, revision: Revision[T], by_items: bool | None
    ) -> list[str]:
        """The results of windows → their names. `by_items`: only the end of the items ends them;
        None: they end by themselves, but not for certain."""
        if self.shape.by_last:
            found = found.by_last()
        names = [
            self._name(first, last, bool(by_items))
            for first, last in zip(found.first.tolist(), found.last.tolist(), strict=True)
        ]
        rows = self._results(sight, found)
        ranks = self._ranks(found)
        revision.contents |= dict(zip(names, rows, strict=True))
        revision.ranks |= dict(zip(names, ranks, strict=True))
        if by_items is False and self.units is not None:
            ends = zip(found.last.tolist(), found.first.tolist(), names, strict=True)
            self._closed += sorted(ends)
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
        """Go on with the window that is open."""
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
        """A name that lasts, whatever comes before it."""
        if not self.shape.by_last:
            return self._item(first)
        return f"{self._item(first)}-{'' if by_items else self._item(last)}"

    def _item(self, place: int) -> str:
        if self.units is None:
            return str(place)
        mark = self.units.marks[place]
        return f"{mark.unit}:{mark.ordinal}"

    def _subsequences(self, sight: Sight, revision: Revision[T]) -> None:
        """All that end at items that are new."""
        low, high = self.opened.settled, self.arrived
        _, lengths, places = all_subsequences(np.array([0, high], np.int64))
        known = (1 << low) - 1  # that end before
        gone = range(known, (1 << self._enumerated) - 1)
        revision.gone |= {str(number) for number in gone}
        lengths = lengths[known:]
        rows = self._rows(*sight.results_of(places[len(places) - int(lengths.sum()) :], lengths))
        numbers = range(known, known + len(lengths))
        revision.contents |= dict(zip(map(str, numbers), rows, strict=True))
        revision.ranks |= {str(number): number for number in numbers}
        revision.gone -= set(revision.contents)
        self.opened.settled = self._enumerated = high

    # -- what is needed no more -------------------------------------------------------------------

    def _final(self) -> int:
        """The rank below which nothing changes again."""
        if self.units is not None:
            return 0
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
        """The places that variables of open windows stand for, if items there are kept."""
        start = self.shape.window.start
        if not kept or start is None:
            return np.zeros(0, np.int64)
        first = np.fromiter(self.opened.open, np.int64, len(self.opened))
        parts = [first] if start.current is not None else []
        parts += [first - 1] if start.previous is not None else []
        parts += [first + 1] if start.next is not None else []
        return np.unique(np.concatenate(parts))
