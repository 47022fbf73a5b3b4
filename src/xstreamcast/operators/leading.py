"""The first items of all units: as many as decide what follows, and no more."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.model.atomic import NODE
from xstreamcast.model.items import Items
from xstreamcast.operators.asking import Asking, listed
from xstreamcast.operators.kept_items import Kept, placed, read, written
from xstreamcast.operators.units import chosen
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.operators.units import Minis, Moved

_ROW = 0xFFFFFFFF


class Leading:
    """How many items each unit gives, and the items of those units that come first.

    value  →  the first `limit` items of all units, in order
    """

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        assert part.limit is not None
        self._part, self._limit = part, part.limit
        self._places: dict[str, int] = {}  # of units that give anything
        self._order: list[tuple[int, str]] = []  # they, sorted
        self._counts: dict[str, int] = {}
        self._kept: dict[str, Kept] = {}  # in order
        if snapshot is not None:
            self._counts, self._places, items = snapshot
            self._order = sorted((place, key) for key, place in self._places.items())
            self._kept = read(items)

    def on_batch(self, moved: Moved, asking: Asking) -> bool:
        """Take the batch in → whether the value may have changed."""
        if moved.append and self._is_full:
            return False
        for key in moved.leaving(self._counts):
            self._drop(key)
        fresh = {} if moved.asked is None else self._asked(moved.asked, asking)
        for key, found in fresh.items():
            self._note(key, len(found[0]), moved.places)
        if moved.reordered:
            self._reorder(moved.places)
        return self._lead(fresh, moved, asking)

    @property
    def _is_full(self) -> bool:
        return sum(self._counts[key] for key in self._kept) >= self._limit

    def _asked(self, minis: Minis, asking: Asking) -> dict[str, Kept]:
        frame = asking.units(minis, self._part.document)
        column = listed(self._part.shape.expression, frame)  # type: ignore[union-attr]
        store = frame.context.store
        rows = enumerate(minis.keys)
        return {key: _alone(column.row(row), row, minis, store) for row, key in rows}

    def _note(self, key: str, count: int, places: Mapping[str, int]) -> None:
        self._drop(key)
        if count:
            self._counts[key], self._places[key] = count, places[key]
            insort(self._order, (places[key], key))

    def _drop(self, key: str) -> None:
        if key in self._places:
            del self._order[bisect_left(self._order, (self._places.pop(key), key))]
            del self._counts[key]

    def _reorder(self, places: Mapping[str, int]) -> None:
        self._places = {key: places[key] for key in self._places}
        self._order = sorted((place, key) for key, place in self._places.items())

    def _lead(self, fresh: dict[str, Kept], moved: Moved, asking: Asking) -> bool:
        """Keep the units that come first → whether anything of them is new."""
        first = self._first()
        lacking = [key for key in first if key not in fresh and key not in self._kept]
        if lacking:
            assert moved.again is not None
            fresh = fresh | self._asked(moved.again(lacking), asking)
        kept = {key: fresh[key] if key in fresh else self._kept[key] for key in first}
        changed = list(kept) != list(self._kept) or any(key in fresh for key in first)
        changed = changed or any(key in self._kept for key in fresh)
        self._kept = kept
        if moved.append:  # what comes later is not asked for
            self._counts = {key: self._counts[key] for key in first}
            self._places = {key: self._places[key] for key in first}
            del self._order[len(first) :]
        return changed

    def _first(self) -> list[str]:
        found, items = [], 0
        for _, key in self._order:
            if items >= self._limit:
                break
            found.append(key)
            items += self._counts[key]
        return found

    def value(self, asking: Asking, store: Store) -> Items:
        """The first items, their nodes in a store."""
        return _first_of(placed(self._kept, store).values(), self._limit)

    def snapshot(self) -> Any:
        """What brings it back; Unwritten if it keeps a node that has no XML of its own."""
        names = [tape.names for _, found in self._kept.values() for tape in found.values()]
        store = Store(names[0] if names else None)
        return self._counts, self._places, written(placed(self._kept, store), store)

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        tapes = {id(tape): tape for _, found in self._kept.values() for tape in found.values()}
        held = sum(column.nbytes for tape in tapes.values() for column in tape.columns)
        return held + 250 * len(self._counts)


def _first_of(parts: Iterable[Items], limit: int) -> Items:
    items = Items.concat([*parts])
    return items.slice(0, min(limit, len(items)))


def _alone(items: Items, row: int, minis: Minis, store: Store) -> Kept:
    """The items of one unit on a tape of its own, so that tapes stand in the order of units."""
    tags = items.all_tags()
    nodes = tags == NODE
    if not nodes.any():
        return items, {}
    handles = items.values[nodes].astype(np.int64)
    tapes = {number: store.tape(number) for number in np.unique(handles >> 32).tolist()}
    if 0 in tapes:  # the tape of the units is the first of its store
        tapes[0] = chosen(minis, np.array([row])).tape
    first = int(minis.documents[row])
    values = [
        int(value) - first if tag == NODE and int(value) <= _ROW else value
        for tag, value in items.pairs()
    ]
    return Items.mixed(tags.tolist(), values), tapes
