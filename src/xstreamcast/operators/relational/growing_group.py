"""group by over rows that only come, each behind all others: groups go on, and keep no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.model.delta import Cell, Delta, Key, Rank, Row
from xstreamcast.operators.relational.group_names import GroupCells, GroupNames, new_rows
from xstreamcast.operators.relational.running_folds import RunningFold, running_fold

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.relational.tick import Round


class RunningGroup:
    """One group: the rank of its first row, the cells that it has from there, and its folds."""

    __slots__ = ("cells", "folds", "rank")

    def __init__(self, rank: Rank, cells: dict[int, Cell], folds: list[RunningFold]) -> None:
        self.rank, self.cells, self.folds = rank, cells, folds


class GrowingGroup:
    """rows  →  a row for each combination of keys, with folds over the rows that have it so far."""

    def __init__(self, node: c.Group) -> None:
        self._node = node
        columns = node.source.columns
        self._names = GroupNames(columns, node.keys, node.outer)
        self._cells, self._folded = GroupCells.of(node)
        first = {at for which, at in self._cells if which is None}
        self._kept = sorted(first | {columns.index(column) for column, _ in node.keys})
        self.groups: dict[Key, RunningGroup] = {}
        self._made: dict[Key, Row] = {}
        self.by_double = False  # a key that is a float or a double has come

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The groups that appeared, or have other values now."""
        (delta,) = deltas
        rows = dict(sorted(new_rows(delta).items(), key=lambda one: one[1].rank))
        out: Delta = {}
        if not rows:
            return out
        if not self.by_double and any(map(self._names.is_inexact, rows.values())):
            self._name_by_double(out, turn)
        members: dict[Key, list[Row]] = {}
        for key, name in self._names.of(rows, self.by_double).items():
            members.setdefault(name, []).append(rows[key])
        for name, own in members.items():
            self._take(name, own)
            self._put(name, out, turn)
        return out

    def _take(self, name: Key, rows: list[Row]) -> None:
        group = self.groups.get(name)
        if group is None:
            cells = {at: rows[0].cells[at] for at in self._kept}
            folds = [running_fold(fold) for fold in self._node.folds]
            group = self.groups[name] = RunningGroup(rows[0].rank, cells, folds)
        for at, state in zip(self._folded, group.folds, strict=True):
            state.add(row.cells[at] for row in rows)

    def _put(self, name: Key, out: Delta, turn: Round) -> None:
        """Note what a group is now, whatever it was in this tick."""
        group, outer = self.groups[name], self._node.outer
        cells = tuple(
            group.cells[at] if which is None else group.folds[which].value(turn)
            for which, at in self._cells
        )
        new = Row((*group.rank[:outer], group.rank[outer:]), cells)
        old = out.pop(name).old if name in out else self._made.get(name)
        self._made[name] = new
        turn.put(out, name, old, new)

    def _name_by_double(self, out: Delta, turn: Round) -> None:
        """Numbers are told apart as doubles from now on: groups have other names, some are one."""
        self.by_double = True
        before, made = self.groups, self._made
        self.groups, self._made = {}, {}
        rows = {name: self._as_row(group) for name, group in before.items()}
        for name, other in self._names.of(rows, True).items():
            known = self.groups.get(other)
            if known is None:
                self.groups[other] = before[name]
                continue
            for mine, more in zip(known.folds, before[name].folds, strict=True):
                mine.merge(more)
        for name, row in made.items():
            turn.put(out, name, row, None)
        for name in self.groups:
            self._put(name, out, turn)

    def _as_row(self, group: RunningGroup) -> Row:
        """A row with the keys of a group."""
        last = max(self._kept, default=-1)
        return Row(group.rank, tuple(group.cells.get(at, ()) for at in range(last + 1)))
