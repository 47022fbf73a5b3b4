"""group by and distinct-values: rows with equal keys, in the order of first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.folds.folds import fold_state
from xstreamcast.operators.relational.folds.gathered import FoldState, Member
from xstreamcast.operators.relational.groups.names import GroupCells, GroupNames, new_rows
from xstreamcast.operators.relational.orders.ordered import Ordered

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class _Members:
    """One group: its rows in order, and what is kept for its folds."""

    __slots__ = ("folds", "order")

    def __init__(self, folds: list[FoldState]) -> None:
        self.order, self.folds = Ordered(), folds


class GroupOperator:
    """rows  →  a row for each combination of keys, with folds over the rows that have it."""

    def __init__(self, node: c.Group) -> None:
        self._node = node
        self._names = GroupNames(node.source.columns, node.keys, node.outer)
        self._cells, self._folded = GroupCells.of(node)
        self._rows: dict[Key, Row] = {}
        self._name: dict[Key, Key] = {}  # of each row, the key of its group
        self._groups: dict[Key, _Members] = {}
        self._made: dict[Key, Row] = {}
        self._inexact = 0  # rows with keys that are floats or doubles
        self.elsewhere = False  # whether another partition has such rows
        self._by_double = False  # how numbers were compared in the last tick

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The groups that changed."""
        (delta,) = deltas
        before = self._by_double
        names = self._names.of(new_rows(delta), self.elsewhere or self._inexact > 0)
        for key, (_, new) in delta.items():
            old = self._rows.pop(key, None)
            self._inexact -= old is not None and self._names.is_inexact(old)
            self._inexact += new is not None and self._names.is_inexact(new)
            if new is not None:
                self._rows[key] = new
        self._by_double = self.elsewhere or self._inexact > 0
        if self._by_double != before:
            return self._anew(turn)
        return self._moved(delta, names, turn)

    def _moved(self, delta: Delta, names: dict[Key, Key], turn: Round) -> Delta:
        gone: dict[Key, list[tuple[Key, Row]]] = {}
        come: dict[Key, list[tuple[Key, Row]]] = {}
        for key, (old, new) in delta.items():
            if old is not None:
                gone.setdefault(self._name.pop(key), []).append((key, old))
            if new is not None:
                self._name[key] = names[key]
                come.setdefault(names[key], []).append((key, new))
        out: Delta = {}
        for name in dict.fromkeys([*gone, *come]):
            self._update(name, gone.get(name, []), come.get(name, []))
            old_row, new_row = self._made.pop(name, None), self._row(name, turn)
            if new_row is not None:
                self._made[name] = new_row
            turn.put(out, name, old_row, new_row)
        return out

    def _anew(self, turn: Round) -> Delta:
        """All groups: numbers are compared in another way from now on."""
        delta: Any = {key: (None, row) for key, row in self._rows.items()}
        before, self._made, self._groups, self._name = self._made, {}, {}, {}
        made = self._moved(delta, self._names.of(self._rows, self._by_double), turn)
        out: Delta = {}
        for name in dict.fromkeys([*before, *made]):
            new = made[name].new if name in made else None
            turn.put(out, name, before.get(name), new)
        return out

    def _update(self, name: Key, gone: list[tuple[Key, Row]], come: list[tuple[Key, Row]]) -> None:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = _Members([fold_state(f) for f in self._node.folds])
        group.order.replace(
            ((row.rank, key) for key, row in gone), ((row.rank, key) for key, row in come)
        )
        for at, state in zip(self._folded, group.folds, strict=True):
            state.update(_members(gone, at), _members(come, at))

    def _row(self, name: Key, turn: Round) -> Row | None:
        group = self._groups[name]
        if len(group.order) == 0:
            del self._groups[name]
            return None
        rank, first = group.order.first()
        row = self._rows[first]
        outer = self._node.outer
        cells = tuple(
            row.cells[at] if which is None else group.folds[which].value(turn)
            for which, at in self._cells
        )
        return Row((*rank[:outer], rank[outer:]), cells)


def _members(rows: list[tuple[Key, Row]], at: int) -> list[Member]:
    return [(row.rank, key, row.cells[at]) for key, row in rows]
