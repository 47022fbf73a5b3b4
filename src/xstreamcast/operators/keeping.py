"""The items of all units, kept for what follows to be computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.model.atomic import NODE
from xstreamcast.model.items import Items
from xstreamcast.operators.asking import Asking, listed
from xstreamcast.operators.found import Found
from xstreamcast.operators.kept_items import Kept, placed, read, written
from xstreamcast.tape.join import joined
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.operators.units import Moved

_MANY: Final = 4  # units whose tapes are worth joining


class Keeping:
    """Items by unit; their nodes stay on the tapes on which they were found or made."""

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        self._part = part
        self._kept: dict[str, Kept] = {}
        self._order: Mapping[str, int] = {}
        if snapshot is not None:
            items, self._order = snapshot
            self._kept = read(items)

    def on_batch(self, moved: Moved, asking: Asking) -> bool:
        """Take the batch in → whether the value may have changed."""
        return self.take(self.ask(moved, asking))

    def ask(self, moved: Moved, asking: Asking) -> Found:
        """The items of the units that were asked, with the tapes that their nodes lie on."""
        if moved.asked is None:
            return Found.of(moved)
        frame = asking.units(moved.asked, self._part.document)
        column = listed(self._part.shape.expression, frame)  # type: ignore[union-attr]
        rows = [column.row(row) for row in range(len(moved.asked))]
        return Found.of(moved, [_with_tapes(items, frame.context.store) for items in rows])

    def take(self, found: Found) -> bool:
        """What units give now → whether the value may have changed."""
        gone = [self._kept.pop(key, None) for key in found.leaving(self._kept)]
        changed = found.reordered or found.complete or any(one is not None for one in gone)
        self._order = found.places
        for key, kept in found.pairs():
            changed = self._keep(key, kept) or changed
        if found.append and len(self._kept) > _MANY:
            self._put_together()
        return changed

    def _keep(self, key: str, kept: Kept) -> bool:
        """Keep what a unit gives now → whether it gave anything, now or before."""
        before = self._kept.pop(key, None)
        if len(kept[0]):
            self._kept[key] = kept
        return before is not None or len(kept[0]) > 0

    def _put_together(self) -> None:
        """What will not change again, as if one unit had given it: one tape in place of many."""
        tapes = {id(tape): tape for _, found in self._kept.values() for tape in found.values()}
        first, bases = 0, dict[int, int]()
        for tape in tapes.values():
            bases[id(tape)], first = first, first + len(tape)
        items = Items.concat([_on_one(one, bases) for one in self._kept.values()])
        whole = {0: joined(list(tapes.values()))} if tapes else {}
        self._kept = {next(reversed(self._kept)): (items, whole)}

    def value(self, asking: Asking, store: Store) -> Items:
        """All items in order, their nodes in a store."""
        ordered = sorted(self._kept, key=lambda key: self._order.get(key, 0))
        return Items.concat([*placed({k: self._kept[k] for k in ordered}, store).values()])

    def snapshot(self) -> Any:
        """What brings it back; Unwritten if it keeps a node that has no XML of its own."""
        names = [tape.names for _, found in self._kept.values() for tape in found.values()]
        store = Store(names[0] if names else None)
        order = {key: self._order[key] for key in self._kept}
        return written(placed(self._kept, store), store), order

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        tapes = {id(tape): tape for _, found in self._kept.values() for tape in found.values()}
        held = sum(column.nbytes for tape in tapes.values() for column in tape.columns)
        return held + sum(100 + 16 * len(items) for items, _ in self._kept.values())


def _with_tapes(items: Items, store: Store) -> Kept:
    _ = items.values  # read now: the store does not stay
    return items, {n: store.tape(n) for n in _numbers(items)} if len(items) else {}


def _numbers(items: Items) -> list[int]:
    nodes = items.all_tags() == NODE
    handles = items.values[nodes].astype(np.int64)
    found: list[int] = np.unique(handles >> 32).tolist()
    return found


def _on_one(kept: Kept, bases: dict[int, int]) -> Items:
    """The items with handles into one tape, on which theirs begin at these rows."""
    items, tapes = kept
    tags = items.all_tags().tolist()
    values: list[Any] = [
        bases[id(tapes[int(value) >> 32])] + (int(value) & 0xFFFFFFFF) if tag == NODE else value
        for tag, value in zip(tags, items.values.tolist(), strict=True)
    ]
    return Items.mixed(tags, values)
