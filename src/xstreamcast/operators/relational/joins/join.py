"""Pairs of rows that may agree on a key: by hash, or by a sorted index for inequalities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.passes.growing import adds, inputs_beside
from xstreamcast.model.delta import Delta, Key, Row, RowDelta
from xstreamcast.operators.relational.joins.index import JoinSide, Mode, fits, mode_of
from xstreamcast.operators.relational.joins.lookup import left_values, looked_up, mode_with
from xstreamcast.operators.relational.joins.values import JoinValues, key_values
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.tick_rows import TickRows

Pair = tuple[Key, Key]
Owns = Callable[[JoinValues, JoinValues], bool]


def _columns_read(node: c.Join, side: c.Node) -> tuple[int, ...]:
    """The places of the columns of a side that a join reads; others are for its other readers."""
    keys = [] if node.key is None else [node.key.left, node.key.right]
    read = frozenset(node.columns).union(*(facts(one).used for one in keys))
    return tuple(at for at, one in enumerate(side.columns) if one in read)


def _touched(delta: Delta, read: tuple[int, ...], turn: Round) -> Delta:
    """The rows that changed in what the join reads of them; the others stay as they were kept."""

    def seen(row: Row) -> Row:
        return Row(row.rank, tuple(row.cells[at] for at in read))

    return {
        key: one
        for key, one in delta.items()
        if one.old is None or one.new is None or not turn.is_same(seen(one.old), seen(one.new))
    }


class JoinOperator:
    """left, right  →  the pairs whose keys may compare as the join says; a condition follows.

    Which values are equal or smaller depends on their types. While the types of both decide it,
    pairs are looked up; otherwise every pair is one.
    """

    def __init__(self, node: c.Join) -> None:
        self._node = node
        op = "eq" if node.key is None else node.key.op
        self._left, self._right = JoinSide(op), JoinSide(SWAPPED[op])
        self._mode: Mode = "all" if node.key is None else "none"
        self._adds = adds(node)
        self._inputs = inputs_beside(node.left), inputs_beside(node.right)
        left, right = node.left.columns, node.right.columns
        self._cells = [
            (True, left.index(v)) if v in left else (False, right.index(v)) for v in node.columns
        ]
        self._reads = _columns_read(node, node.left), _columns_read(node, node.right)
        self.owns: Owns | None = None  # of pairs that are made in several partitions, some

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The pairs that came, went, or whose rows changed."""
        left, right = (_touched(*one, turn) for one in zip(deltas, self._reads, strict=True))
        out = self._joined(left, right, turn) if left or right else {}
        if self._adds:
            self._release(turn.ended)
        return out

    def look_up(self, turn: Round, left: TickRows, right: Delta) -> TickRows:
        """The pairs of rows that live for this tick with those that are kept on the right."""
        space, node, side = turn.common_workspace(), self._node, self._right
        mine, theirs = left_values(node, left, space), self._values(right, False, turn)
        mode: Mode = "all"
        if node.key is not None:
            mode = mode_with(mine, side.kinds_after(right, theirs), self._mode)
        side.update(right, theirs, mode)
        if mode != self._mode:
            self._mode = mode
            side.rebuild(mode)
        return looked_up(node, left, mine, side, mode, self._left.op, space)

    def drop(self, left: bool, right: bool) -> None:
        """Drop all rows of a side, or of both; and all pairs with them."""
        for side, goes in ((self._left, left), (self._right, right)):
            if goes:
                side.drop()

    def _release(self, ended: frozenset[str | None]) -> None:
        """Drop rows that only further rows of inputs that have ended could match."""
        if self._inputs[1] <= ended:
            self._left.clear()
        if self._inputs[0] <= ended:
            self._right.clear()

    def _joined(self, left: Delta, right: Delta, turn: Round) -> Delta:
        found = self._values(left, True, turn), self._values(right, False, turn)
        mode = self._mode_after(left, found[0], right, found[1])
        whole = mode != self._mode
        adds = all(old is None for delta in (left, right) for old, _ in delta.values())
        before = {} if adds and not whole else self._pairs(left, right, whole, old=True)
        self._left.update(left, found[0], mode)
        self._right.update(right, found[1], mode)
        if whole:
            self._mode = mode
            self._left.rebuild(mode)
            self._right.rebuild(mode)
        after = self._pairs(left, right, whole, old=False)
        if not before:
            return {(*one, other): RowDelta(None, row) for (one, other), row in after.items()}
        out: Delta = {}
        for pair in {**dict.fromkeys(before), **dict.fromkeys(after)}:
            turn.put(out, (*pair[0], pair[1]), before.get(pair), after.get(pair))
        return out

    def _values(self, delta: Delta, left: bool, turn: Round) -> dict[Key, JoinValues]:
        key = self._node.key
        rows = [(one, new) for one, (_, new) in delta.items() if new is not None]
        if key is None or not rows:
            return {}
        plan, side = (key.left, self._node.left) if left else (key.right, self._node.right)
        found = key_values(plan, side.columns, rows, turn)
        return dict(zip((one for one, _ in rows), found, strict=True))

    def _mode_after(
        self, left: Delta, mine: dict[Key, JoinValues], right: Delta, theirs: dict[Key, JoinValues]
    ) -> Mode:
        if self._node.key is None:
            return "all"
        own, other = self._left.kinds_after(left, mine), self._right.kinds_after(right, theirs)
        mode = mode_of(own, other)
        # a side that is empty for a while does not cost the other its index
        return self._mode if mode == "none" and fits(self._mode, own | other) else mode

    def _pairs(self, left: Delta, right: Delta, whole: bool, old: bool) -> dict[Pair, Row]:
        """The pairs that a changed row takes part in, as they are now or were before."""
        out: dict[Pair, Row] = {}
        mine, theirs = self._left, self._right
        lefts: Iterable[Key] = mine.rows if whole else left
        for one in lefts:
            if one in mine.rows:
                for other in theirs.matching(mine.values.get(one), mine.op, self._mode):
                    if self.owns is None or self.owns(mine.values[one], theirs.values[other]):
                        out[one, other] = self._row(mine.rows[one], theirs.rows[other])
        if not whole:
            for other in right:
                if other in theirs.rows:
                    for one in mine.matching(theirs.values.get(other), theirs.op, self._mode):
                        if self.owns is None or self.owns(mine.values[one], theirs.values[other]):
                            out[one, other] = self._row(mine.rows[one], theirs.rows[other])
        return out

    def _row(self, left: Row, right: Row) -> Row:
        mine, theirs = left.cells, right.cells
        cells = [mine[at] if is_left else theirs[at] for is_left, at in self._cells]
        return Row((*left.rank, right.rank), tuple(cells))
