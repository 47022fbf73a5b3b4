"""Positions of rows within their outer row: some of them, or the number of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.delta import Cell, Delta, Key, Row, RowDelta
from xstreamcast.operators.relational.orders.ordered import Ordered

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


def by_outer(delta: Delta, width: int) -> dict[Key, Delta]:
    """The changes of each outer row."""
    out: dict[Key, Delta] = {}
    for key, one in delta.items():
        out.setdefault(key[:width], {})[key] = one
    return out


def take_rows(rows: dict[Key, Row], delta: Delta) -> None:
    """Bring the rows that are kept up to date."""
    for key, (_, new) in delta.items():
        if new is None:
            rows.pop(key, None)
        else:
            rows[key] = new


def reorder(order: Ordered, delta: Delta) -> None:
    """Apply the changes of one outer row."""
    order.replace(
        ((old.rank, key) for key, (old, _) in delta.items() if old is not None),
        ((new.rank, key) for key, (_, new) in delta.items() if new is not None),
    )


class SliceOperator:
    """rows  →  those at some positions."""

    def __init__(self, node: c.Slice) -> None:
        self._node = node
        columns = node.source.columns
        self._kept = [columns.index(v) for v in node.columns]
        self._orders: dict[Key, Ordered] = {}
        self._rows: dict[Key, Row] = {}
        self._shown: dict[Key, dict[Key, Row]] = {}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that changed, came to one of the positions, or left it."""
        (delta,) = deltas
        out: Delta = {}
        take_rows(self._rows, delta)
        for outer, own in by_outer(delta, self._node.outer).items():
            order = self._orders.setdefault(outer, Ordered())
            reorder(order, own)
            if self._node.last is None and self._node.first > 0:
                self._show_rest(outer, order, own, out, turn)
            else:
                self._show(outer, order, out, turn)
            if len(order) == 0:
                del self._orders[outer]
        return out

    def _show(self, outer: Key, order: Ordered, out: Delta, turn: Round) -> None:
        """Few positions: compare the rows at them with those that were there."""
        first, last = self._node.first, self._node.last
        if first > 0:
            keys = order.keys(first - 1, max(last or 0, first - 1))
        else:
            end = None if last is None else max(0, len(order) + last + 1)
            keys = order.keys(max(0, len(order) + first), end)
        now = {key: self._row(key) for key in keys}
        before = self._shown.pop(outer, {})
        if now:
            self._shown[outer] = now
        for key in dict.fromkeys([*before, *now]):
            turn.put(out, key, before.get(key), now.get(key))

    def _show_rest(self, outer: Key, order: Ordered, delta: Delta, out: Delta, turn: Round) -> None:
        """All positions but the first few: what changed, and what crossed the boundary."""
        hidden_before = self._shown.get(outer, {})
        keys = order.keys(0, self._node.first - 1)
        hidden = {key: self._row(key) for key in keys}
        self._shown[outer] = hidden
        for key in dict.fromkeys([*delta, *hidden_before, *hidden]):
            known = delta.get(key)
            row = self._rows.get(key)
            new = None if row is None or key in hidden else self._row(key)
            if key in hidden_before:
                old = None
            elif known is not None:
                old = None if known.old is None else self._narrow(known.old)
            else:
                old = new if key not in hidden else self._row(key)
            turn.put(out, key, old, new)

    def _row(self, key: Key) -> Row:
        return self._narrow(self._rows[key])

    def _narrow(self, row: Row) -> Row:
        return Row(row.rank, tuple(row.cells[at] for at in self._kept))


class PickOperator:
    """rows, numbers  →  the rows at these positions."""

    def __init__(self, node: c.Pick) -> None:
        self._node = node
        columns = node.source.columns
        self._kept = [columns.index(v) for v in node.columns]
        self._orders: dict[Key, Ordered] = {}
        self._rows: dict[Key, Row] = {}
        self._shown: dict[Key, dict[Key, Row]] = {}
        self._places: dict[Key, list[int]] = {}  # by the key of a row with positions

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that came to the positions, left them, or changed there."""
        delta, place = deltas
        out: Delta = {}
        take_rows(self._rows, delta)
        touched = dict.fromkeys(by_outer(delta, self._node.outer))
        for outer, own in by_outer(delta, self._node.outer).items():
            reorder(self._orders.setdefault(outer, Ordered()), own)
        for key, (_, new) in place.items():
            self._places.pop(key, None)
            if new is not None:
                self._places[key] = _whole_numbers(new.cells[0])
            touched |= {key: None} if key or not self._node.outer else dict.fromkeys(self._orders)
        for outer in touched:
            self._show(outer, out, turn)
        return out

    def _show(self, outer: Key, out: Delta, turn: Round) -> None:
        places = self._places.get(outer if self._node.place.width else (), ())
        order = self._orders.get(outer)
        keys = [] if order is None else [one for n in places for one in order.keys(n - 1, n)]
        before, now = self._shown.pop(outer, {}), dict[Key, Row]()
        for key in keys:
            row = self._rows[key]
            now[key] = Row(row.rank, tuple(row.cells[at] for at in self._kept))
        for key in dict.fromkeys([*before, *now]):
            turn.put(out, key, before.get(key), now.get(key))
        if now:
            self._shown[outer] = now


def _whole_numbers(cell: Cell) -> list[int]:
    """The positions that numbers denote, each once."""
    values = (value for _, value in cell)
    return sorted({int(v) for v in values if v == v and 1 <= v < 2**63 and v == int(v)})


class NumberOperator:
    """rows  →  each with its position; those behind a row that came or went get new numbers."""

    def __init__(self, node: c.Number) -> None:
        self._node = node
        columns = node.source.columns
        self._cells = [
            "position" if v == node.variable else "size" if v == node.size else columns.index(v)
            for v in node.columns
        ]
        self._orders: dict[Key, Ordered] = {}
        self._rows: dict[Key, Row] = {}
        self._made: dict[Key, Row] = {}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that changed, and those that have another number."""
        (delta,) = deltas
        out: Delta = {}
        take_rows(self._rows, delta)
        for outer, own in by_outer(delta, self._node.outer).items():
            order = self._orders.setdefault(outer, Ordered())
            before, was = len(order), _reached(order, own, 0)
            reorder(order, own)
            first, last = self._range(was, _reached(order, own, 1), before, len(order))
            size = len(order)
            for at, key in enumerate(order.keys(first, last), start=first):
                old = self._made.pop(key, None)
                self._made[key] = new = self._row(self._rows[key], at + 1, size)
                turn.put(out, key, old, new)
            for key, (_, gone) in own.items():
                if gone is None:
                    turn.put(out, key, self._made.pop(key, None), None)
            if size == 0:
                del self._orders[outer]
        return out

    def _range(
        self, was: tuple[int, int], now: tuple[int, int], before: int, size: int
    ) -> tuple[int, int | None]:
        """The positions that may hold another row or number."""
        if self._node.size is not None and size != before:
            return 0, None
        first = min(was[0], now[0])
        return (first, None) if size != before else (first, max(was[1], now[1]) + 1)

    def _row(self, row: Row, position: int, size: int) -> Row:
        values = {"position": ((INTEGER, position),), "size": ((INTEGER, size),)}
        cells = tuple(values[at] if isinstance(at, str) else row.cells[at] for at in self._cells)
        return Row(row.rank, cells)


def _reached(order: Ordered, delta: Delta, side: int) -> tuple[int, int]:
    """The first and last position of the rows that went (0) or came (1).

    The two are never compared: an order by keys of another type has other ranks.
    """
    ranks = [row.rank for one in delta.values() if (row := one[side]) is not None]
    if not ranks:
        return len(order), -1
    return order.position(min(ranks)), order.position(max(ranks))


class UnionOperator:
    """rows of several relations  →  all of them, one relation after the other."""

    def __init__(self, node: c.Union) -> None:
        self._node = node
        self._kept = [[one.columns.index(v) for v in node.columns] for one in node.parts]

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The changes of all parts."""
        out: Delta = {}
        width = self._node.outer
        for at, delta in enumerate(deltas):
            for key, (old, new) in delta.items():
                out[(*key[:width], (at, *key[width:]))] = RowDelta(
                    self._row(at, old), self._row(at, new)
                )
        return out

    def _row(self, part: int, row: Row | None) -> Row | None:
        if row is None:
            return None
        width = self._node.outer
        rank = (*row.rank[:width], (part, row.rank[width:]))
        return Row(rank, tuple(row.cells[at] for at in self._kept[part]))
