"""The items of all units as one sequence: from which item on it is another than before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xstreamcast.evaluate.frame import Frame
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items, empty_items

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.operators.units import Minis, Moved
    from xstreamcast.operators.windowing.sight import Sight


class Mark(NamedTuple):
    """An item of a stream that may change: its unit, its number there, what it looks like."""

    unit: str
    ordinal: int
    looks: int


def items_of(minis: Minis, sight: Sight, document: p.Variable) -> Column:
    """The items of each unit, in the store of this tick."""
    store = sight.context.store
    handles = (store.add(minis.tape) << 32) | minis.documents
    origin = np.zeros(len(handles), np.int64)
    units = Column(Items.of_nodes(handles))
    frame = Frame(sight.context, len(handles), sight.base, origin, {document.number: units})
    return evaluate(sight.window.items, frame)


class Units:
    """Units in order with the items of each, so that a change is found where it begins."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.counts: dict[str, int] = {}
        self.marks: list[Mark] = []
        self._begun = False

    def revise(self, moved: Moved, sight: Sight, document: p.Variable) -> tuple[int, Items]:
        """Take units in → the first item that differs, and all items from there on."""
        fresh = frozenset(() if moved.asked is None else moved.asked.keys)
        order = self._order(moved, fresh)
        same, base = self._unchanged(order, fresh)
        items, marks, counts = self._asked(order[same:], moved, sight, document)
        alike = _common(self.marks[base:], marks)
        for unit in self.order[same:]:
            del self.counts[unit]
        self.counts |= counts
        self.order = order
        self.marks[base + alike :] = marks[alike:]
        return base + alike, items.slice(alike, len(items))

    def _asked(
        self, units: Sequence[str], moved: Moved, sight: Sight, document: p.Variable
    ) -> tuple[Items, list[Mark], dict[str, int]]:
        """The items of units, all on one tape: so they are in the order of the input."""
        minis = moved.asked
        if minis is None or minis.keys != tuple(units):
            if not units:
                return empty_items(), [], {}
            assert moved.again is not None
            minis = moved.again(units)
        column = items_of(minis, sight, document)
        looks, bounds = _looks(column, minis, sight), column.bounds().tolist()
        marks = [
            Mark(unit, at - low, looks[at])
            for unit, low, high in zip(minis.keys, bounds, bounds[1:], strict=False)
            for at in range(low, high)
        ]
        return column.items, marks, dict(zip(minis.keys, column.lengths().tolist(), strict=True))

    def _order(self, moved: Moved, fresh: frozenset[str]) -> list[str]:
        if not self._begun:  # whatever moved, all units are new here
            self._begun = True
            return moved.order()
        if not (moved.reordered or moved.complete or moved.gone):
            if all(unit in self.counts for unit in fresh):
                return self.order
            known = set(self.order) | set(fresh)
            return sorted(known, key=moved.places.__getitem__)
        return [u for u in moved.order() if u in fresh or (u in self.counts and not moved.complete)]

    def _unchanged(self, order: list[str], fresh: frozenset[str]) -> tuple[int, int]:
        """How many units in front stay as they are, and how many items they have."""
        if order is self.order:
            return self._before(fresh)
        same = _common(self.order, order)
        same = next((i for i in range(same) if order[i] in fresh), same)
        return same, sum(self.counts[unit] for unit in order[:same])

    def _before(self, fresh: frozenset[str]) -> tuple[int, int]:
        """The same, from the back: most units that change are among the last."""
        waiting, at, base = set(fresh), len(self.order), len(self.marks)
        while waiting:
            at -= 1
            base -= self.counts[self.order[at]]
            waiting.discard(self.order[at])
        return at, base


def _looks(column: Column, minis: Minis, sight: Sight) -> list[int]:
    """A number for each item, another one where it, or what is read around it, looks different."""
    items, store = column.items, sight.context.store
    if items.tag == NODE:
        looks = [hash(one) for one in store.serialize_all(items.values)]
    else:
        values = [str(store.serialize(v)) if tag == NODE else str(v) for tag, v in items.pairs()]
        looks = [hash(one) for one in zip(items.all_tags().tolist(), values, strict=True)]
    if sight.shape.alone:
        return looks
    units = [hash(minis.tape.serialize(int(row))) for row in minis.documents]
    return [
        hash((look, units[row])) for look, row in zip(looks, column.rows().tolist(), strict=True)
    ]


def _common(a: Sequence[Any], b: Sequence[Any]) -> int:
    """How many elements both begin with."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count
