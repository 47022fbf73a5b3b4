"""group by where a group counts once: with the rows that it has in the tick in which it appears."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.circuit.inputs.transient import is_plain
from xstreamcast.model.column import offsets_of
from xstreamcast.model.delta import Cell, Delta, Key, Row, RowDelta
from xstreamcast.operators.relational.appended import AppendedRows
from xstreamcast.operators.relational.folds.folds import fold_state
from xstreamcast.operators.relational.groups.known_groups import KnownGroups
from xstreamcast.operators.relational.groups.names import GroupCells, GroupNames, new_rows
from xstreamcast.operators.relational.tick_rows import TickRows, folded

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.evaluate.frame import Key as FrameKey
    from xstreamcast.evaluate.frame import Value
    from xstreamcast.model.column import Ints
    from xstreamcast.operators.relational.tick import Round

KeyedRows = list[tuple[Key, Row]]
_PLAIN: Final = (str, int)  # values that are the same where they are equal


class FirstOfGroup:
    """rows that only grow at their end  →  a row for each new group; of known ones the key is kept.

    rows of a tick  →  the groups that an operator for all of them makes of that tick, if new
    """

    def __init__(self, node: c.Group) -> None:
        self._node = node
        self._cells, self._folded = GroupCells.of(node)
        self._names = GroupNames(node.source.columns, node.keys, node.outer)
        self.known = KnownGroups()

    def apply(self, turn: Round, deltas: Sequence[Delta | AppendedRows]) -> Delta | TickRows:
        """The groups that appeared."""
        (delta,) = deltas
        if isinstance(delta, AppendedRows):
            return self._from_columns(delta, turn)
        rows = new_rows(delta)
        names = self._names.of(rows, False) if rows else {}
        return self._made(
            [(name, (key, rows[key])) for key, name in names.items() if name not in self.known],
            turn,
        )

    def _made(self, named: list[tuple[Key, tuple[Key, Row]]], turn: Round) -> Delta:
        """The rows of groups, from the rows of their members."""
        fresh: dict[Key, KeyedRows] = {}
        for name, one in named:
            fresh.setdefault(name, []).append(one)
        for name in fresh:
            self.known.add(name)
        folds: list[dict[Cell, Cell]] = [{} for _ in self._folded]
        return {name: RowDelta(None, self._row(one, folds, turn)) for name, one in fresh.items()}

    def _from_columns(self, given: AppendedRows, turn: Round) -> Delta | TickRows:
        """The new groups without rows for their members; most rows are of known groups."""
        names = [(name,) for name in self._names.of_columns(given.columns)]
        chosen = [at for at, name in enumerate(names) if name not in self.known]
        own = [names[at] for at in chosen]

        def by_rows() -> Delta:
            return self._made(list(zip(own, given.rows(chosen), strict=True)), turn)

        if not chosen or not all(map(is_plain, self._node.folds)):
            return by_rows()
        numbers: dict[Key, int] = {}
        group = np.array([numbers.setdefault(name, len(numbers)) for name in own], np.int64)
        for name in numbers:
            self.known.add(name)
        members = np.array(chosen, np.int64)[np.argsort(group, kind="stable")]
        return self._grouped(given, members, offsets_of(np.bincount(group)), by_rows)

    def _grouped(
        self, given: AppendedRows, members: Ints, bounds: Ints, by_rows: Callable[[], Delta]
    ) -> TickRows:
        """A row for each run of members."""
        node, first = self._node, members[bounds[:-1]]
        values: dict[FrameKey, Value] = {
            variable.number: given.column(at).take(first)
            for variable, (which, at) in zip(node.columns, self._cells, strict=True)
            if which is None
        }
        made = TickRows(node, given.space.rows_frame(len(first), values), by_rows=by_rows)
        for at, fold in zip(self._folded, node.folds, strict=True):
            items = given.column(at).take(members).regroup(bounds)
            made.frame.bind(fold.into.number, partial(folded, fold, items, made))
        return made

    def _row(self, members: KeyedRows, known: list[dict[Cell, Cell]], turn: Round) -> Row:
        """`known`: folds over one cell, which many groups of a tick have."""
        if len(members) > 1:
            members.sort(key=lambda one: one[1].rank)
        first, outer = members[0][1], self._node.outer
        folds = []
        for at, column in enumerate(self._folded):
            cell = first.cells[column]
            found = known[at].get(cell) if len(members) == 1 else None
            if found is None:
                found = self._folded_cell(at, members, turn)
                if len(members) == 1 and all(type(value) in _PLAIN for _, value in cell):
                    known[at][cell] = found
            folds.append(found)
        cells = [first.cells[at] if which is None else folds[which] for which, at in self._cells]
        return Row((*first.rank[:outer], first.rank[outer:]), tuple(cells))

    def _folded_cell(self, at: int, members: KeyedRows, turn: Round) -> Cell:
        column, state = self._folded[at], fold_state(self._node.folds[at])
        state.update([], [(row.rank, key, row.cells[column]) for key, row in members])
        return state.value(turn)
