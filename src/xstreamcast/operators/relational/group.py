"""group by and distinct-values: rows with equal keys, in the order of first appearance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.functions.compare.keys import hash_keys
from xstreamcast.model.atomic import DOUBLE, FLOAT, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.delta import Cell, Delta, Key, Row
from xstreamcast.model.items import Items
from xstreamcast.operators.relational.folds import FoldState, Member, fold_state
from xstreamcast.operators.relational.ordered import Ordered

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
        columns = node.source.columns
        self._keys = [columns.index(column) for column, _ in node.keys]
        self._folded = [columns.index(fold.column) for fold in node.folds]
        given = {v: columns.index(v) for v in node.carried}
        given |= {variable: columns.index(column) for column, variable in node.keys}
        into = [fold.into for fold in node.folds]
        self._cells = [(None, given[v]) if v in given else (into.index(v), 0) for v in node.columns]
        self._rows: dict[Key, Row] = {}
        self._name: dict[Key, Key] = {}  # of each row, the key of its group
        self._groups: dict[Key, _Members] = {}
        self._made: dict[Key, Row] = {}
        self._inexact = 0  # rows with keys that are floats or doubles
        self.elsewhere = False  # whether another partition has such rows
        self._by_double = False  # how numbers were told apart in the last tick

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The groups that changed."""
        (delta,) = deltas
        before = self._by_double
        names = self._named(delta)
        for key, (_, new) in delta.items():
            old = self._rows.pop(key, None)
            self._inexact -= old is not None and self._is_inexact(old)
            self._inexact += new is not None and self._is_inexact(new)
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
        """All groups: numbers are told apart in another way from now on."""
        rows = {key: (None, row) for key, row in self._rows.items()}
        before, self._made, self._groups, self._name = self._made, {}, {}, {}
        delta: Any = rows
        made = self._moved(delta, self._named(delta), turn)
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

    # -- names of groups --------------------------------------------------------------------------

    def _is_inexact(self, row: Row) -> bool:
        tags = (tag for at in self._keys for tag, _ in row.cells[at])
        return any(PRIMITIVE.get(tag) in (FLOAT, DOUBLE) for tag in tags)

    def _named(self, delta: Delta) -> dict[Key, Key]:
        """The keys of the groups that new rows belong to."""
        return self.named({key: new for key, (_, new) in delta.items() if new is not None})

    def named(self, given: Mapping[Key, Row]) -> dict[Key, Key]:
        """The keys of the groups that rows belong to."""
        rows = list(given.items())
        columns = [[row.cells[at] for _, row in rows] for at in self._keys]
        tags = {tag for cells in columns for cell in cells for tag, _ in cell}
        inexact = self.elsewhere or self._inexact > 0
        inexact = inexact or any(PRIMITIVE.get(tag) in (FLOAT, DOUBLE) for tag in tags)
        parts = []
        for cells, (_, variable) in zip(columns, self._node.keys, strict=True):
            if any(len(cell) > 1 for cell in cells):
                lengths = np.array([len(cell) for cell in cells], np.int64)
                flat = Items.mixed(*_flat(cells))
                at_most_one(
                    Column.from_lengths(flat, lengths), f"the grouping key ${variable.name}"
                )
            parts.append(canonical(cells, inexact))
        outer = self._node.outer
        return {
            key: (*key[:outer], tuple(part[i] for part in parts)) for i, (key, _) in enumerate(rows)
        }


def _members(rows: list[tuple[Key, Row]], at: int) -> list[Member]:
    return [(row.rank, key, row.cells[at]) for key, row in rows]


def _flat(cells: Sequence[Cell]) -> tuple[list[int], list[Any]]:
    return [tag for cell in cells for tag, _ in cell], [v for cell in cells for _, v in cell]


def canonical(cells: Sequence[Cell], inexact: bool) -> list[Hashable]:
    """For cells of at most one item: a value that is equal where they are one group."""
    tags, values = _flat(cells)
    keys = iter(hash_keys(Items.mixed(tags, values), inexact=inexact).tolist() if tags else ())
    return [_unsigned(next(keys)) if cell else None for cell in cells]


def _unsigned(key: Any) -> Any:
    """One zero: both are one group, and have one name."""
    match key:
        case (family, float(value)) if value == 0:
            return family, 0.0
        case _:
            return key
