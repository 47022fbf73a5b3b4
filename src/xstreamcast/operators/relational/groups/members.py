"""The rows of groups, each nested in its group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Rank, Row
from xstreamcast.operators.relational.groups.names import GroupNames, new_rows
from xstreamcast.operators.relational.orders.ordered import Ordered

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class MembersOperator:
    """rows  →  the same rows, whose keys begin with that of their group."""

    def __init__(self, node: c.Members) -> None:
        self._node = node
        columns = node.source.columns
        self._names = GroupNames(columns, node.keys, node.outer)
        column = {variable: column for column, variable in node.keys}
        self._kept = [columns.index(column.get(v, v)) for v in node.columns]
        self._rows: dict[Key, Row] = {}
        self._name: dict[Key, Key] = {}  # of each row, the key of its group
        self._inexact = 0  # rows with keys that are floats or doubles
        self.elsewhere = False  # whether another partition has such rows
        self._by_double = False  # how numbers were compared in the last tick
        self._groups: dict[Key, Ordered] = {}  # where groups give their rows a rank
        self._firsts: dict[Key, Rank] = {}  # the rank of each group

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
        before = self._ranked_anew(was, names) if self._node.ranked else {}
        old = {
            self._key(name, key): self._row(row, before.get(name, ()))
            for key, (name, row) in was.items()
        }
        new = {
            self._key(name, key): self._row(self._rows[key], self._firsts.get(name, ()))
            for key, name in names.items()
        }
        out: Delta = {}
        for key in dict.fromkeys([*old, *new]):
            turn.put(out, key, old.get(key), new.get(key))
        return out

    def _ranked_anew(
        self, was: dict[Key, tuple[Key, Row]], names: dict[Key, Key]
    ) -> dict[Key, Rank]:
        """Rank the groups again; where one has another rank, so do all of its rows.

        The ranks before.
        """
        gone: dict[Key, list[tuple[Rank, Key]]] = {}
        come: dict[Key, list[tuple[Rank, Key]]] = {}
        for key, (name, row) in was.items():
            gone.setdefault(name, []).append((row.rank, key))
        for key, name in names.items():
            come.setdefault(name, []).append((self._rows[key].rank, key))
        touched = dict.fromkeys([*gone, *come])
        before = {name: self._firsts.pop(name) for name in touched if name in self._firsts}
        for name in touched:
            group = self._groups.setdefault(name, Ordered())
            group.replace(gone.get(name, ()), come.get(name, ()))
            if len(group) == 0:
                del self._groups[name]
                continue
            rank = self._firsts[name] = group.first()[0][self._node.outer :]
            if name in before and before[name] != rank:
                for _, key in group:
                    if key not in names:
                        was[key], names[key] = (name, self._rows[key]), name
        return before

    def rank_groups(self) -> None:
        """Find the ranks of all groups, after all rows were restored."""
        if self._node.ranked:
            self._ranked_anew({}, dict(self._name))

    def _key(self, name: Key, key: Key) -> Key:
        return (*name, key[self._node.outer :])

    def _row(self, row: Row, group: Rank) -> Row:
        outer = self._node.outer
        rank = (*row.rank[:outer], group, row.rank[outer:])
        return Row(rank, tuple(row.cells[at] for at in self._kept))
