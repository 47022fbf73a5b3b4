"""What a window gives: its items, the items at its boundaries, and folds over its items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from xstreamcast.algebra import plan as p
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.delta import Cell, Key, Row
from xstreamcast.operators.relational.folds.folds import counted
from xstreamcast.operators.relational.folds.sequence import SequenceFold

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.model.delta import Delta
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.windows.items import WindowItems


class FoundWindow(NamedTuple):
    """A window by its name and the places of its first and last item; some are not shown."""

    name: Key
    first: int
    last: int
    shown: bool = True


_Made = Callable[["_Sight"], Cell]


class _Sight(NamedTuple):
    """One window, and where to look for what it gives."""

    found: FoundWindow
    outer: Key
    items: WindowItems
    turn: Round


class WindowRows:
    """windows  →  their rows; the rows of items are kept by the operator."""

    def __init__(self, node: c.Window, rows: dict[Key, Row]) -> None:
        self._node, self._source = node, rows
        self._columns = node.source.columns
        self._item = self._columns.index(node.item)
        self._folds: dict[Key, list[SequenceFold]] = {}
        window = node.window
        self._kept = [fold for fold in node.folds if fold.column != node.item]
        held = {window.variable, *(fold.into for fold in self._kept)}
        self.reads_items = bool(held & set(node.columns))
        bounds = [b for b in (window.start, window.end) if b is not None]
        positions = any(b.position in node.columns for b in bounds)
        self.reads_positions = positions or len(self._kept) < len(node.folds)
        self._makers = [self._maker(variable) for variable in node.columns]

    def _maker(self, variable: p.Variable) -> _Made:
        node, window = self._node, self._node.window
        if variable in node.carried:
            at = self._columns.index(variable)
            return lambda one: self._row(one, one.found.first).cells[at]
        if variable == window.variable:
            return self._items
        for fold in node.folds:
            if fold.into == variable and fold.column == node.item:
                return lambda one: counted(fold.name, one.found.last - one.found.first + 1)
            if fold.into == variable:
                number = self._kept.index(fold)
                return lambda one: self._folded(one, number)
        assert window.start is not None
        if variable in window.start.variables():
            return _boundary(window.start, variable, self._cell, lambda one: one.found.first)
        assert window.end is not None
        return _boundary(window.end, variable, self._cell, lambda one: one.found.last)

    # -- items ------------------------------------------------------------------------------------

    def take(self, outer: Key, items: WindowItems, delta: Delta) -> None:
        """Apply changed items of an outer row to its folds."""
        if not self._kept:
            return
        known = self._folds.get(outer)
        if known is None or len(items) == 0:
            self._folds.pop(outer, None)
            return
        for fold, state in zip(self._kept, known, strict=True):
            at = self._columns.index(fold.column)
            state.update(
                [old.rank for old, _ in delta.values() if old is not None],
                [(new.rank, new.cells[at]) for _, new in delta.values() if new is not None],
            )

    def _states(self, outer: Key, items: WindowItems) -> list[SequenceFold]:
        """The folds of an outer row, made of its items if there are none yet."""
        known = self._folds.get(outer)
        if known is None:
            known = self._folds[outer] = []
            for fold in self._kept:
                at = self._columns.index(fold.column)
                state = SequenceFold(fold)
                state.fill((rank, self._source[key].cells[at]) for rank, key in items.order)
                known.append(state)
        return known

    # -- rows -------------------------------------------------------------------------------------

    def row(self, found: FoundWindow, outer: Key, items: WindowItems, turn: Round) -> Row:
        """The row of a window."""
        sight = _Sight(found, outer, items, turn)
        width = self._node.outer
        first, last = items.order.at(found.first)[0], items.order.at(found.last)[0]
        ends = first[width:], last[width:]
        inner = ends if self._node.window.order == "first" else ends[::-1]
        return Row((*first[:width], inner), tuple(make(sight) for make in self._makers))

    def _row(self, one: _Sight, place: int) -> Row:
        return self._source[one.items.order.at(place)[1]]

    def _cell(self, one: _Sight, place: int) -> Cell:
        """The item at a place; none before and behind all items."""
        if not 0 <= place < len(one.items):
            return ()
        return self._row(one, place).cells[self._item]

    def _items(self, one: _Sight) -> Cell:
        keys = one.items.order.keys(one.found.first, one.found.last + 1)
        return tuple(atom for key in keys for atom in self._source[key].cells[self._item])

    def _folded(self, one: _Sight, number: int) -> Cell:
        order = one.items.order
        first, last = order.at(one.found.first)[0], order.at(one.found.last)[0]
        return self._states(one.outer, one.items)[number].value(first, last, one.turn)


def _boundary(
    boundary: p.Boundary, variable: p.Variable, cell: Callable[[_Sight, int], Cell],
    place: Callable[[_Sight], int],
) -> _Made:  # fmt: skip
    """What a variable of a boundary holds."""
    if variable == boundary.position:
        return lambda one: ((INTEGER, place(one) + 1),)
    by = {boundary.current: 0, boundary.previous: -1, boundary.next: 1}[variable]
    return lambda one: cell(one, place(one) + by)
