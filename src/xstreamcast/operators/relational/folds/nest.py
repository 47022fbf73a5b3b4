"""Outer rows with folds over the rows that are nested in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.passes.growing import adds, inputs_beside
from xstreamcast.model.delta import Delta, Key, Row, RowDelta
from xstreamcast.operators.relational.folds.folds import fold_state
from xstreamcast.operators.relational.folds.gathered import FoldState, Gathered, Member

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class NestOperator:
    """outer, inner …  →  each outer row with the fold over its inner rows, if any or none."""

    def __init__(self, node: c.Nest) -> None:
        self._node = node
        outer = node.outer.columns
        into = [fold.into for _, fold in node.inner]
        self._cells = [
            (None, outer.index(v)) if v in outer else (into.index(v), 0) for v in node.columns
        ]
        self._columns = [one.columns.index(fold.column) for one, fold in node.inner]
        self._outer: dict[Key, Row] = {}
        self._states: list[dict[Key, FoldState]] = [{} for _ in node.inner]
        self._made: dict[Key, Row] = {}
        # rows of the outer relation never change when nothing comes that they could be nested with
        self._adds = adds(node.outer) and all(adds(one) for one, _ in node.inner)
        self._others = frozenset[str | None]().union(
            *(inputs_beside(one, node.outer) for one, _ in node.inner)
        )

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The outer rows that changed, or whose folds did."""
        outer, *inner = deltas
        touched = dict.fromkeys(outer)
        for at, delta in enumerate(inner):
            touched.update(dict.fromkeys(self._take(at, delta)))
        for key, (_, new) in outer.items():
            if new is None:
                self._outer.pop(key, None)
            else:
                self._outer[key] = new
        out: Delta = {}
        for key in touched:
            old, new = self._made.pop(key, None), self._row(key, turn)
            if new is not None:
                self._made[key] = new
            if old is None and new is not None:
                out[key] = RowDelta(None, new)
            else:
                turn.put(out, key, old, new)
        if self._adds and self._others <= turn.ended:
            self._outer, self._made = {}, {}
            self._states = [{} for _ in self._states]
        return out

    def _take(self, at: int, delta: Delta) -> list[Key]:
        """Apply changed rows of an inner relation → the outer rows that they are in."""
        width, column = self._node.width, self._columns[at]
        gone: dict[Key, list[Member]] = {}
        come: dict[Key, list[Member]] = {}
        for key, (old, new) in delta.items():
            prefix = key[:width]
            if old is not None:
                gone.setdefault(prefix, []).append((old.rank, key, old.cells[column]))
            if new is not None:
                come.setdefault(prefix, []).append((new.rank, key, new.cells[column]))
        states = self._states[at]
        touched = list(dict.fromkeys([*gone, *come]))
        for prefix in touched:
            state = states.get(prefix)
            if state is None:
                state = states[prefix] = fold_state(self._node.inner[at][1])
            state.update(gone.get(prefix, []), come.get(prefix, []))
        return touched

    def _row(self, key: Key, turn: Round) -> Row | None:
        outer = self._outer.get(key)
        if outer is None:
            for states in self._states:
                if not _has_rows(states.get(key)):
                    states.pop(key, None)
            return None
        folds = []
        for at, (_, fold) in enumerate(self._node.inner):
            state = self._states[at].get(key)
            folds.append((fold_state(fold) if state is None else state).value(turn))
        cells = [outer.cells[at] if which is None else folds[which] for which, at in self._cells]
        return Row(outer.rank, tuple(cells))


def _has_rows(state: FoldState | None) -> bool:
    """Rows of a group stay where the group is not shown: it may be again."""
    return isinstance(state, Gathered) and len(state) > 0
