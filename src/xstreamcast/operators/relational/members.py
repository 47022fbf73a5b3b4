"""The rows of groups, each nested in its group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.group_names import GroupNames, new_rows

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class MembersOperator:
    """rows  →  the same rows, whose keys begin with that of their group."""

    def __init__(self, node: c.Members) -> None:
        self._node = node
        columns = node.source.columns
        self._names = GroupNames(columns, node.keys, node.outer)
        self._kept = [columns.index(v) for v in node.columns]
        self._rows: dict[Key, Row] = {}
        self._name: dict[Key, Key] = {}  # of each row, the key of its group
        self._inexact = 0  # rows with keys that are floats or doubles
        self.elsewhere = False  # whether another partition has such rows
        self._by_double = False  # how numbers were compared in the last tick

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that came, went, changed, or belong to another group."""
        (delta,) = deltas
        before = self._by_double
        names = self._names.of(new_rows(delta), self.elsewhere or self._inexact > 0)
        was = {
            key: (self._name.pop(key), self._rows.pop(key)) for key in delta if key in self._name
        }
        for key, (_, new) in delta.items():
            self._inexact -= key in was and self._names.is_inexact(was[key][1])
            self._inexact += new is not None and self._names.is_inexact(new)
            if new is not None:
                self._rows[key] = new
        self._by_double = self.elsewhere or self._inexact > 0
        if self._by_double != before:  # numbers are compared in another way from now on
            was |= {key: (self._name[key], self._rows[key]) for key in self._name}
            names = self._names.of(self._rows, self._by_double)
        self._name |= names
        return self._moved(was, names, turn)

    def _moved(self, was: dict[Key, tuple[Key, Row]], names: dict[Key, Key], turn: Round) -> Delta:
        old = {self._key(name, key): self._row(row) for key, (name, row) in was.items()}
        new = {self._key(name, key): self._row(self._rows[key]) for key, name in names.items()}
        out: Delta = {}
        for key in dict.fromkeys([*old, *new]):
            turn.put(out, key, old.get(key), new.get(key))
        return out

    def _key(self, name: Key, key: Key) -> Key:
        return (*name, key[self._node.outer :])

    def _row(self, row: Row) -> Row:
        outer = self._node.outer
        rank = (*row.rank[:outer], (), row.rank[outer:])
        return Row(rank, tuple(row.cells[at] for at in self._kept))
