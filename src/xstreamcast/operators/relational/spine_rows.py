"""The elements of a root as rows, and rows of units within the element around each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.atomic import INTEGER, NODE
from xstreamcast.model.delta import Delta, Key, NodeRef, Row, RowDelta
from xstreamcast.operators.units.spine_view import spine_key

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.units.spine_view import SpineView

Pair = tuple[Key, Key]


class SpineRows:
    """a root  →  a row for each of its elements at a depth: the element, empty, and its number."""

    def __init__(self, node: c.Spine) -> None:
        self._node = node
        self._view: SpineView | None = None
        self._there: dict[int, str] = {}  # by number: what can be read of each

    def apply(self, turn: Round) -> Delta:
        """The elements that came, went, or read differently."""
        node, view = self._node, turn.spine_of(self._node.input)
        if view is self._view:
            return {}
        before, self._view = self._there, view
        found = () if view is None else view.elements(node.depth)
        self._there = {} if view is None else {one: view.said(one) for one in found}
        out: Delta = {}
        for one in {**before, **self._there}:
            old, new = before.get(one), self._there.get(one)
            if old != new:
                turn.dirty.add((node.source, spine_key(one)))
                row = self._row(one)
                out[(one,)] = RowDelta(None if old is None else row, None if new is None else row)
        return out

    def _row(self, element: int) -> Row:
        reference = NodeRef(self._node.source, spine_key(element), 0)
        return Row((element,), (((NODE, reference),), ((INTEGER, element),)))


class WithinOperator:
    """outer rows, rows of units  →  each outer row with those of the units in its element."""

    def __init__(self, node: c.Within) -> None:
        self._node = node
        self._at = node.outer.columns.index(node.element)
        outer, units = node.outer.columns, node.units.columns
        self._cells = [
            (True, outer.index(v)) if v in outer else (False, units.index(v)) for v in node.columns
        ]
        self._view: SpineView | None = None
        self._outer: dict[Key, Row] = {}
        self._units: dict[Key, Row] = {}
        self._element: dict[Key, int] = {}  # of each row of a unit; units elsewhere have none
        self._outers: dict[int, dict[Key, None]] = {}  # by element
        self._inside: dict[int, dict[Key, None]] = {}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The pairs that came, went, or whose rows changed."""
        outer, units = deltas
        view = turn.spine_of(self._node.input)
        touched: Iterable[Key] = units
        if view is not self._view:  # units may be in other elements now
            self._view, touched = view, {**dict.fromkeys(self._units), **dict.fromkeys(units)}
            touched = [key for key in touched if key in units or self._moved(key)]
        before = self._pairs(outer, touched)
        for key, (_, new) in outer.items():
            self._take_outer(key, new)
        for key in touched:
            self._take_unit(key, units[key].new if key in units else self._units[key])
        after = self._pairs(outer, touched)
        out: Delta = {}
        for pair in {**dict.fromkeys(before), **dict.fromkeys(after)}:
            turn.put(out, (*pair[0], pair[1]), before.get(pair), after.get(pair))
        return out

    def set_up(self) -> None:
        """Find by element what was given back row by row."""
        for key, row in self._outer.items():
            self._outers.setdefault(self._element_of(row), {})[key] = None
        for key, element in self._element.items():
            self._inside.setdefault(element, {})[key] = None

    def _moved(self, key: Key) -> bool:
        return self._element.get(key) != self._around(key)

    def _around(self, key: Key) -> int | None:
        """The element at the depth that counts around the unit that a row was made of."""
        chain = () if self._view is None else self._view.around(key[0])
        return chain[self._node.depth - 1] if len(chain) >= self._node.depth else None

    def _element_of(self, row: Row) -> int:
        ((_, element),) = row.cells[self._at]
        return int(element)

    def _take_outer(self, key: Key, new: Row | None) -> None:
        old = self._outer.pop(key, None)
        if old is not None:
            self._outers[self._element_of(old)].pop(key)
        if new is not None:
            self._outer[key] = new
            self._outers.setdefault(self._element_of(new), {})[key] = None

    def _take_unit(self, key: Key, new: Row | None) -> None:
        self._units.pop(key, None)
        before = self._element.pop(key, None)
        if before is not None:
            self._inside[before].pop(key)
        if new is None:
            return
        self._units[key] = new
        element = self._around(key)
        if element is not None:
            self._element[key] = element
            self._inside.setdefault(element, {})[key] = None

    def _pairs(self, outer: Iterable[Key], units: Iterable[Key]) -> dict[Pair, Row]:
        """The pairs with some rows."""
        out: dict[Pair, Row] = {}
        for one in outer:
            row = self._outer.get(one)
            for key in () if row is None else self._inside.get(self._element_of(row), ()):
                out[one, key] = self._row(one, key)
        for key in units:
            element = self._element.get(key)
            for one in () if element is None else self._outers.get(element, ()):
                out[one, key] = self._row(one, key)
        return out

    def _row(self, outer: Key, unit: Key) -> Row:
        left, right = self._outer[outer], self._units[unit]
        cells = tuple((left if mine else right).cells[at] for mine, at in self._cells)
        return Row((*left.rank, right.rank), cells)
