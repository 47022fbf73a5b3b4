"""Pairs of rows whose intervals compare by one of Allen's words, found by an index of intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.time.allen import intervals
from xstreamcast.model.delta import Delta, Key, Row, RowDelta
from xstreamcast.model.instant import NOW
from xstreamcast.operators.relational.joins.interval_index import (
    IntervalIndex,
    Span,
    box_of_first,
    box_of_second,
)

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.operators.relational.tick import Round

Pair = tuple[Key, Key]


class _Side:
    """The rows of one side with their intervals."""

    def __init__(self, node: c.Node, plan: p.Expression, hull: bool) -> None:
        self._plan, self._hull = plan, hull  # hull: one interval around all of them
        used = facts(plan).free
        self._used = [(at, v.number) for at, v in enumerate(node.columns) if v in used]
        self.rows: dict[Key, Row] = {}
        self.spans: dict[Key, list[Span]] = {}
        self.index = IntervalIndex()

    def update(self, delta: Delta, turn: Round) -> None:
        """Add rows."""
        for key in delta:  # first all that goes: ranks may be handed from row to row
            row = self.rows.pop(key, None)
            for span in self.spans.pop(key, ()):
                assert row is not None
                self.index.remove(span, row.rank, key)
        new = [(key, row) for key, (_, row) in delta.items() if row is not None]
        for (key, row), spans in zip(new, self._intervals(new, turn), strict=True):
            self.rows[key], self.spans[key] = row, spans
            for span in spans:
                self.index.add(span, row.rank, key)

    def _intervals(self, rows: Sequence[tuple[Key, Row]], turn: Round) -> list[list[Span]]:
        if not rows:
            return []
        space = turn.workspace()
        columns = {number: [row.cells[at] for _, row in rows] for at, number in self._used}
        frame = space.frame(columns, len(rows), {})
        begins, ends, of = intervals(self._plan, frame)
        out: list[list[Span]] = [[] for _ in rows]
        for begin, end, row in zip(begins.tolist(), ends.tolist(), of.tolist(), strict=True):
            if (begin, end) not in out[row]:
                out[row].append((begin, end))
        if self._hull:
            return [
                [(min(b for b, _ in own), max(e for _, e in own))] if own else [] for own in out
            ]
        return out

    def due(self, before: int, now: int) -> set[Key]:
        """The rows that the clock passed the beginning or end of."""
        return set(self.index.between(before, now))


def _hull(spans: list[Span]) -> list[Span]:
    """The smallest interval around all."""
    return [(min(b for b, _ in spans), max(e for _, e in spans))] if spans else []


class IntervalJoinOperator:
    """left, right  →  the pairs for which the word holds between any of their intervals.

    When the clock moves, only rows with an instant that it passed can compare otherwise with those
    that end now.
    """

    def __init__(self, node: c.IntervalJoin) -> None:
        self._node = node
        hull = node.word == "touches"
        self._left = _Side(node.left, node.mine, hull)
        self._right = _Side(node.right, node.theirs, hull)
        left, right = node.left.columns, node.right.columns
        self._cells = [
            (True, left.index(v)) if v in left else (False, right.index(v)) for v in node.columns
        ]
        self._clock: int | None = None

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The pairs that came, went, or whose rows changed."""
        left, right = deltas
        now = turn.asking.now.instant
        lefts, rights = dict.fromkeys(left), dict.fromkeys(right)
        moved = self._clock is not None and self._clock != now
        if moved:
            assert self._clock is not None
            passed = min(self._clock, now), max(self._clock, now)
            lefts.update(dict.fromkeys(self._left.due(*passed)))
            rights.update(dict.fromkeys(self._right.due(*passed)))
            if self._node.renews:
                lefts.update(dict.fromkeys(self._left.index.open_keys(passed[0])))
                rights.update(dict.fromkeys(self._right.index.open_keys(passed[0])))
        before = self._pairs(lefts, rights, now if self._clock is None else self._clock)
        self._left.update(left, turn)
        self._right.update(right, turn)
        self._clock = now
        after = self._pairs(lefts, rights, now)
        out: Delta = {}
        for pair in {**dict.fromkeys(before), **dict.fromkeys(after)}:
            key, old, new = (*pair[0], pair[1]), before.get(pair), after.get(pair)
            if moved and self._node.renews and new is not None:
                out[key] = RowDelta(old, new)  # what is made of it may change with the clock
            else:
                turn.put(out, key, old, new)
        return out

    def _pairs(self, lefts: Iterable[Key], rights: Iterable[Key], clock: int) -> dict[Pair, Row]:
        """The pairs with some rows."""
        out: dict[Pair, Row] = {}
        mine, theirs = self._left, self._right
        first = self._node.left_first
        for one in lefts:
            for other in self._matching(mine.spans.get(one, ()), theirs, first, clock):
                out[one, other] = self._row(mine.rows[one], theirs.rows[other])
        for other in rights:
            for one in self._matching(theirs.spans.get(other, ()), mine, not first, clock):
                out[one, other] = self._row(mine.rows[one], theirs.rows[other])
        return out

    def _matching(
        self, spans: Iterable[Span], there: _Side, first: bool, clock: int
    ) -> Iterable[Key]:
        """The rows of the other side that one with these intervals pairs with."""
        box_of = box_of_second if first else box_of_first
        found: dict[Key, None] = {}
        for begin, end in spans:
            box = box_of(self._node.word, begin, clock if end == NOW else end)
            found.update(dict.fromkeys(there.index.within(box, clock)))
        return found

    def _row(self, left: Row, right: Row) -> Row:
        cells = tuple((left if mine else right).cells[at] for mine, at in self._cells)
        return Row((*left.rank, right.rank), cells)
