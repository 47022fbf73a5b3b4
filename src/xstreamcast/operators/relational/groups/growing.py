"""group by over rows that are only appended: folds of groups are updated, no row is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import offsets_of
from xstreamcast.model.delta import Cell, Delta, Key, Rank, Row
from xstreamcast.operators.relational.appended import AppendedRows
from xstreamcast.operators.relational.folds.plain_values import plain_values
from xstreamcast.operators.relational.folds.running import RunningFold, running_fold
from xstreamcast.operators.relational.groups.names import GroupCells, GroupNames, new_rows

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

    def apply(self, turn: Round, deltas: Sequence[Delta | AppendedRows]) -> Delta:
        """The groups that appeared, or have other values now."""
        (delta,) = deltas
        if isinstance(delta, AppendedRows):
            found = None if self.by_double else self._from_columns(delta, turn)
            if found is not None:
                return found
            delta = delta.delta()
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

    def _from_columns(self, given: AppendedRows, turn: Round) -> Delta | None:
        """`apply`, without a row for each; None where some value or key does not allow it."""
        found = self._names.groups(given.columns)
        if found is None:
            return None
        first, group = found
        members = np.argsort(group, kind="stable")
        bounds = offsets_of(np.bincount(group, minlength=len(first)).astype(np.int64))
        each = [
            plain_values(fold.name, given.columns[at], members, bounds)
            for at, fold in zip(self._folded, self._node.folds, strict=True)
        ]
        values = [one for one in each if one is not None]
        if len(values) < len(each):
            return None
        names = [
            (name,) for name in self._names.of_columns([one.take(first) for one in given.columns])
        ]
        fresh = [at for at, name in enumerate(names) if name not in self.groups]
        for at, (_, row) in zip(fresh, given.rows(first[fresh].tolist()), strict=True):
            self._begin(names[at], row)
        out: Delta = {}
        for at, name in enumerate(names):
            folds = self.groups[name].folds
            parts = zip(folds, self._folded, (one[at] for one in values), strict=True)
            for state, column, own in parts:
                if not state.add_plain(own):
                    rows = members[bounds[at] : bounds[at + 1]]
                    state.add(given.cells(column, rows))
            self._put(name, out, turn)
        return out

    def _begin(self, name: Key, first: Row) -> RunningGroup:
        cells = {at: first.cells[at] for at in self._kept}
        folds = [running_fold(fold) for fold in self._node.folds]
        made = self.groups[name] = RunningGroup(first.rank, cells, folds)
        return made

    def _take(self, name: Key, rows: list[Row]) -> None:
        group = self.groups.get(name) or self._begin(name, rows[0])
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
        """Numbers are compared as doubles from now on: groups get other names, some are merged."""
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
