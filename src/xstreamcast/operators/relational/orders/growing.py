"""Positions in relations that only grow at their end: what they count is kept, not the rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.delta import Delta, Key, Row, RowDelta

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


def in_rank_order(delta: Delta) -> Iterator[tuple[Key, Row]]:
    """New rows, which follow all others, in their order."""
    rows = [(key, new) for key, (_, new) in delta.items() if new is not None]
    return iter(sorted(rows, key=lambda one: one[1].rank))


class FirstRows:
    """rows  →  those at positions first to last, counted from the beginning."""

    def __init__(self, node: c.Slice) -> None:
        self._first, self._last = node.first, node.last
        columns = node.source.columns
        self._kept = [columns.index(v) for v in node.columns]
        self._count = 0

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that came to one of the positions."""
        (delta,) = deltas
        out: Delta = {}
        for key, row in in_rank_order(delta):
            self._count += 1
            if self._first <= self._count and (self._last is None or self._count <= self._last):
                out[key] = RowDelta(None, Row(row.rank, tuple(row.cells[at] for at in self._kept)))
        return out


class LastRows:
    """rows  →  the last ones; only so many are kept."""

    def __init__(self, node: c.Slice) -> None:
        columns = node.source.columns
        self._kept = [columns.index(v) for v in node.columns]
        self._rows: deque[tuple[Key, Row]] = deque(maxlen=-node.first)
        self._shown: dict[Key, Row] = {}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that came to one of the positions, or left it."""
        (delta,) = deltas
        for key, row in in_rank_order(delta):
            self._rows.append((key, Row(row.rank, tuple(row.cells[at] for at in self._kept))))
        before, self._shown = self._shown, dict(self._rows)
        now = self._shown
        out: Delta = {}
        for key in dict.fromkeys([*before, *now]):
            turn.put(out, key, before.get(key), now.get(key))
        return out


class GrowingNumber:
    """rows  →  each with its position."""

    def __init__(self, node: c.Number) -> None:
        columns = node.source.columns
        self._cells = [None if v == node.variable else columns.index(v) for v in node.columns]
        self._count = 0

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that came, numbered."""
        (delta,) = deltas
        out: Delta = {}
        for key, row in in_rank_order(delta):
            self._count += 1
            number = ((INTEGER, self._count),)
            cells = tuple(number if at is None else row.cells[at] for at in self._cells)
            out[key] = RowDelta(None, Row(row.rank, cells))
        return out
