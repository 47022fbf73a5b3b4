"""The items of a sequence that are still needed, by their positions in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.model.atomic import NODE
from xstreamcast.model.items import Items, empty_items
from xstreamcast.operators.growing_windows.compact import compacted
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.model.column import Ints

_MOST_ROWS: Final = 1 << 15  # of tapes that are worth joining
_FEW: Final = 16  # items of a segment, below which leaving some out is not worth while


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Items that came together: their positions, and the tapes of the nodes among them.

    Handles count the tapes of the segment from 0.
    """

    places: Ints
    items: Items
    tapes: tuple[Tape, ...]
    made_of: int  # items when its tapes were made

    @property
    def rows(self) -> int:
        """Nodes held."""
        return sum(map(len, self.tapes))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        held = sum(column.nbytes for tape in self.tapes for column in tape.columns)
        return held + 24 * len(self.places)


class Buffer:
    """Segments in the order of their positions; small ones grow together as they age."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def __len__(self) -> int:
        return sum(len(one.places) for one in self.segments)

    @property
    def nbytes(self) -> int:
        """About what it holds; a heap that several tapes share counts once for each."""
        return sum(one.nbytes for one in self.segments)

    def append(self, items: Items, first: int, store: Store) -> None:
        """Items from a position on, their nodes in a store."""
        if len(items) == 0:
            return
        places = np.arange(first, first + len(items), dtype=np.int64)
        kept, tapes = taken_out(items, store)
        self._add(Segment(places, kept, tapes, len(items)))

    def append_alone(self, items: Items, first: int, keep: Ints, low: int, store: Store) -> None:
        """Nodes from a position on, as far as they are needed: each with nothing around it."""
        places = np.arange(first, first + len(items), dtype=np.int64)
        at = np.flatnonzero((places >= low) | np.isin(places, keep))
        if len(at) == 0:
            return
        kept, tapes = taken_out(items.take(at), store)
        for number, tape in enumerate(tapes):
            mine = np.flatnonzero(kept.values >> 32 == number)
            made, rows = compacted(tape, kept.values[mine] & 0xFFFFFFFF)
            self._add(Segment(places[at[mine]], Items.of_nodes(rows), (made,), len(mine)))

    def _add(self, one: Segment) -> None:
        self.segments.append(one)
        while len(self.segments) > 1 and _worth_joining(*self.segments[-2:]):
            last = self.segments.pop()
            self.segments[-1] = _joined(self.segments[-1], last)

    def release(self, keep: Ints, low: int, alone: bool) -> None:
        """Forget all but the positions from `low` on and those of `keep`, which is sorted.

        `alone`: nothing is read around an item, so that its tape may lose what is.
        """
        left = []
        for one in self.segments:
            needed = (one.places >= low) | np.isin(one.places, keep, assume_unique=True)
            if needed.all():
                left.append(one)
            elif needed.any():
                left.append(_shrunk(one, needed, alone))
        self.segments = left

    def loaded(self, store: Store) -> BufferedItems:
        """The items with handles into a store, to which the tapes are added in order."""
        return BufferedItems(self.segments, store)


class BufferedItems:
    """Items of a buffer, and of what has just come, in the store of one evaluation."""

    def __init__(self, segments: Sequence[Segment], store: Store) -> None:
        self._places = [one.places for one in segments]
        self._items = [put_into(one.items, one.tapes, store) for one in segments]
        self._all: tuple[Ints, Items] | None = None

    def add(self, items: Items, first: int) -> None:
        """Items that have come, from a position on."""
        self._places.append(np.arange(first, first + len(items), dtype=np.int64))
        self._items.append(items)
        self._all = None

    def take(self, at: Ints) -> Items:
        """The items at some positions, which must be there."""
        if self._all is None:
            places = np.concatenate([np.zeros(0, np.int64), *self._places])
            self._all = places, Items.concat(self._items)
        places, items = self._all
        return items.take(np.searchsorted(places, at)) if len(at) else empty_items()


def _worth_joining(one: Segment, other: Segment) -> bool:
    size = max(other.rows, len(other.places))
    return 2 * size >= max(one.rows, len(one.places)) and size < _MOST_ROWS


def _joined(one: Segment, other: Segment) -> Segment:
    """Two segments as one, its nodes on one tape."""
    tapes = one.tapes + other.tapes
    items = Items.concat([one.items, _renumbered(other.items, len(one.tapes), None)])
    places = np.concatenate((one.places, other.places))
    if tapes:
        base = np.cumsum([0, *map(len, tapes[:-1])])
        items, tapes = _renumbered(items, 0, base), (joined(tapes),)
    return Segment(places, items, tapes, one.made_of + other.made_of)


def _shrunk(one: Segment, needed: Any, alone: bool) -> Segment:
    at = np.flatnonzero(needed)
    items, places = one.items.take(at), one.places[at]
    if not alone or items.tag != NODE or 2 * len(at) > one.made_of or one.made_of < _FEW:
        return Segment(places, items, one.tapes, one.made_of)
    tape = one.tapes[0] if len(one.tapes) == 1 else None
    if tape is None:
        return Segment(places, items, one.tapes, one.made_of)
    tape, rows = compacted(tape, items.values)
    return Segment(places, Items.of_nodes(rows), (tape,), len(at))


def taken_out(items: Items, store: Store) -> tuple[Items, tuple[Tape, ...]]:
    """The items with handles that count only their own tapes → and these."""
    _ = items.values  # read now: the store does not stay
    if items.tag == NODE:
        used, numbers = np.unique(items.values >> 32, return_inverse=True)
        handles = (numbers.astype(np.int64) << 32) | (items.values & 0xFFFFFFFF)
        return Items.of_nodes(handles), tuple(store.tape(int(n)) for n in used)
    nodes = items.all_tags() == NODE
    if not nodes.any():
        return Items(items.tag, items.values, items.tags), ()
    used = np.unique(items.values[nodes].astype(np.int64) >> 32)
    place = {int(n): i for i, n in enumerate(used)}
    return _mixed(items, lambda h: (place[h >> 32] << 32) | (h & 0xFFFFFFFF)), tuple(
        store.tape(n) for n in place
    )


def put_into(items: Items, tapes: Sequence[Tape], store: Store) -> Items:
    """The items with handles into a store that takes their tapes in."""
    numbers = [store.add(tape) for tape in tapes]
    return _renumbered(items, numbers[0], None) if numbers else items


def _renumbered(items: Items, shift: int, base: Any) -> Items:
    """Handles with tape numbers shifted; or all on one tape, rows shifted by `base` of theirs."""

    def changed(handles: Any) -> Any:
        if base is None:
            return handles + (shift << 32)
        return (handles & 0xFFFFFFFF) + base[handles >> 32]

    if items.tag == NODE:
        return Items.of_nodes(changed(items.values))
    if items.tags is None or not (items.tags == NODE).any():
        return items
    return _mixed(items, lambda handle: int(changed(handle)))


def _mixed(items: Items, change: Any) -> Items:
    pairs = list(items.pairs())
    values = [change(int(value)) if tag == NODE else value for tag, value in pairs]
    return Items.mixed([tag for tag, _ in pairs], values)
