"""Aggregates over the items of all units: numbers of items, or their values, kept by unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.evaluate.calls import library_call
from xstreamcast.functions.arithmetic import arithmetic
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN, INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items, empty_items
from xstreamcast.operators.asking import Asking, listed
from xstreamcast.operators.found import Found
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.operators.units import Minis, Moved


class Counting:
    """count, exists, empty: how many items each unit gives."""

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        self._part = part
        self._total: int = 0 if snapshot is None else snapshot[0]
        self._counts: dict[str, int] = {} if snapshot is None else snapshot[1]

    def on_batch(self, moved: Moved, asking: Asking) -> bool:
        """Take the batch in → whether the value may have changed."""
        return self.take(self.ask(moved, asking))

    def ask(self, moved: Moved, asking: Asking) -> Found:
        """How many items the units give that were asked."""
        if moved.asked is None:
            return Found.of(moved)
        frame = asking.units(moved.asked, self._part.document)
        column = listed(self._part.shape.expression, frame)  # type: ignore[union-attr]
        return Found.of(moved, column.lengths().tolist())

    def take(self, found: Found) -> bool:
        """What units give now → whether the value may have changed."""
        before = self._total
        for key in found.leaving(self._counts):
            self._total -= self._counts.pop(key, 0)
        for key, count in found.pairs():
            self._total += count - self._counts.get(key, 0)
            if not found.append:
                self._counts[key] = count
        return bool(self._total != before)

    def settle(self, keys: Sequence[str]) -> None:
        """These units will not change: their numbers are in the total for good."""
        for key in keys:
            self._counts.pop(key, None)

    def value(self, asking: Asking, store: Store) -> Items:
        """The number, or whether there is any."""
        match self._part.fold:
            case "exists":
                return Items.of(BOOLEAN, [self._total > 0])
            case "empty":
                return Items.of(BOOLEAN, [self._total == 0])
            case _:
                return Items.of(INTEGER, [self._total])

    def snapshot(self) -> Any:
        """What brings it back."""
        return self._total, self._counts

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return 8 + 120 * len(self._counts)


class Folding:
    """sum, avg, min, max, distinct-values: the function itself, over the values kept by unit.

    Where units only follow each other the values so far are folded into one: functions that add in
    order give the same total whether they began at the beginning or go on.
    """

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        self._part = part
        self._values: dict[str, Items] = {}
        self._order: Mapping[str, int] = {}
        self._folded, self._count = empty_items(), 0
        if snapshot is not None:
            values, self._order, folded, self._count = snapshot
            self._values = {key: Items.mixed(*one) for key, one in values.items()}
            self._folded = Items.mixed(*folded)

    def on_batch(self, moved: Moved, asking: Asking) -> bool:
        """Take the batch in → whether the value may have changed."""
        if moved.append and moved.asked is not None:
            self._append(self._column(moved.asked, asking), asking)
            return True
        return self.take(self.ask(moved, asking))

    def ask(self, moved: Moved, asking: Asking) -> Found:
        """The values of the units that were asked."""
        if moved.asked is None:
            return Found.of(moved)
        column = self._column(moved.asked, asking)
        return Found.of(moved, [column.row(row) for row in range(len(moved.asked))])

    def take(self, found: Found) -> bool:
        """What units give now → whether the value may have changed."""
        for key in found.leaving(self._values):
            self._values.pop(key, None)
        self._order = found.places
        for key, items in found.pairs():
            if len(items):
                self._values[key] = items
            else:
                self._values.pop(key, None)
        return bool(found)

    def _column(self, asked: Minis, asking: Asking) -> Column:
        frame = asking.units(asked, self._part.document)
        column = atomize(frame.context.store, listed(self._part.shape.expression, frame))  # type: ignore[union-attr]
        _ = column.items.values  # read now: the store does not stay
        return column

    def _append(self, column: Column, asking: Asking) -> None:
        self._count += len(column.items)
        self._folded = self._applied(Items.concat([self._folded, column.items]), asking)

    def _applied(self, items: Items, asking: Asking) -> Items:
        """What is left of values when more will follow."""
        if self._part.fold == "avg":
            return _called("sum", items, asking) if len(items) else items
        return _called(self._part.fold, items, asking) if len(items) else items

    def value(self, asking: Asking, store: Store) -> Items:
        """The value of the function."""
        if self._part.fold == "avg" and self._count:
            _called("avg", self._folded, asking)  # whether there is a mean at all
            return arithmetic("div", self._folded, Items.of(INTEGER, [self._count]))
        ordered = sorted(self._values, key=lambda key: self._order.get(key, 0))
        kept = Items.concat([self._folded, *(self._values[key] for key in ordered)])
        return _called(self._part.fold, kept, asking)

    def snapshot(self) -> Any:
        """What brings it back."""
        values = {key: _pairs(items) for key, items in self._values.items()}
        return values, {key: self._order[key] for key in values}, _pairs(self._folded), self._count

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return 64 + sum(150 + 16 * len(items) for items in self._values.values())


def _called(name: str, items: Items, asking: Asking) -> Items:
    function = lookup(FN, name, 1)
    assert function is not None
    column = Column(items, np.array([0, len(items)], np.int64))
    frame = asking.context(Store(asking.names)).root
    return library_call(function, [column], frame, None).items


def _pairs(items: Items) -> tuple[list[int], list[Any]]:
    return items.all_tags().tolist(), items.values.tolist()
