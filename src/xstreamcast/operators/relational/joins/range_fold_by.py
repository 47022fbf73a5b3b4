"""Rows that compare by order with those that agree with them on values: an index for each of these.

count(e[k = $a/k and v > $a/v])        the sorted values of each k
avg(e[t > $a/t - 5 and t <= $a/t]/v)   one index; what is between two values
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Row, RowDelta
from xstreamcast.operators.relational.joins.band_fold import BandFoldOperator
from xstreamcast.operators.relational.joins.pairwise import Test, fold_of, rows_that_compare
from xstreamcast.operators.relational.joins.range_fold import RangeFoldOperator
from xstreamcast.operators.relational.joins.range_side import RangeSide
from xstreamcast.operators.relational.joins.range_values import (
    Mode,
    NotSorted,
    order_mode,
    sort_values,
)

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.operators.relational.tick import Round

Part = RangeFoldOperator | BandFoldOperator
Value = tuple[Any, ...]  # one for each equality


class RangeFoldBy:
    """outer, inner  →  each outer row with the fold over the inner rows that compare with it.

    Rows are put together by the values that must be equal; each lot has an operator, which keeps
    them by order. An outer row with several values is in none: it is compared pair by pair, and so
    are all rows where types do not tell which values are equal.
    """

    def __init__(self, node: c.RangeFold) -> None:
        self._node = node
        self._column = node.inner.columns.index(node.fold.column)
        columns = node.outer.columns
        self._cells = [None if v == node.fold.into else columns.index(v) for v in node.columns]
        self._equal = [self._test(key) for key in node.equal]
        self._ranges = self._range_tests()
        self._modes: list[Mode] = ["none"] * len(node.equal)
        self._parts: dict[Value | None, Part] = {}
        self._outer_in: dict[Key, Value | None] = {}  # None: it agrees with nothing
        self._inner_in: dict[Key, list[Value]] = {}
        self._several: dict[Key, None] = {}  # outer rows with several values
        self._made: dict[Key, Row] = {}

    def _test(self, key: p.JoinKey) -> Test:
        sides = (self._node.outer, key.left), (self._node.inner, key.right)
        outer, inner = (RangeSide(side, plan, smallest=True) for side, plan in sides)
        return key, outer, inner

    def _range_tests(self) -> list[Test]:
        """Both ends of a band have one inner side."""
        key, upper = self._node.key, self._node.upper
        one = self._test(key)
        if upper is None:
            return [one]
        return [one, (upper, RangeSide(self._node.outer, upper.left, smallest=True), one[2])]

    def _new_part(self) -> Part:
        node = self._node
        return RangeFoldOperator(node) if node.upper is None else BandFoldOperator(node)

    @property
    def sides(self) -> tuple[list[RangeSide], list[RangeSide]]:
        """What outer rows compare by, and what inner rows do: first by order, then for equality."""
        outer = [test[1] for test in (*self._ranges, *self._equal)]
        return outer, [test[2] for test in (self._ranges[0], *self._equal)]

    # -- a tick -----------------------------------------------------------------------------------

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The outer rows that changed, or whose folds did."""
        outer, inner = deltas
        if not outer and not inner:
            return {}
        for delta, sides in zip(deltas, self.sides, strict=True):
            for side in sides:
                side.update(delta, side.cells_of(delta, turn))
        modes = self._modes_now()
        found: Delta = {}
        try:
            if modes != self._modes or "each" in modes:
                self._modes = modes
                self._all_again(outer, inner, found, turn)
            else:
                self._sort_in(outer, inner, found, turn)
        except NotSorted:  # a value that is not what the types promise
            self._modes = ["each"]
            self._all_again(outer, inner, found, turn)
        return self._put(outer, found, turn)

    def _modes_now(self) -> list[Mode]:
        return [_mode(*test) for test in self._equal]

    @property
    def _rows(self) -> tuple[dict[Key, Row], dict[Key, Row]]:
        _, outer, inner = self._ranges[0]
        return outer.rows, inner.rows

    def _all_again(self, outer: Delta, inner: Delta, found: Delta, turn: Round) -> None:
        """All rows in other lots, or pair by pair."""
        known = bool(self._several) and not self._parts and not inner
        self._parts, self._outer_in, self._inner_in, self._several = {}, {}, {}, {}
        rows = self._rows
        if "each" not in self._modes:
            self._sort_in(added(rows[0]), added(rows[1]), found, turn)
            return
        self._several = dict.fromkeys(rows[0])
        self._compare([key for key in outer if key in rows[0]] if known else rows[0], found, turn)

    def _put(self, outer: Delta, found: Delta, turn: Round) -> Delta:
        """What rows show now, compared with what they showed."""
        out: Delta = {}
        rows, _ = self._rows
        for key in dict.fromkeys([*outer, *found]):
            known = self._made.pop(key, None)
            new = found[key].new if key in found else known if key in rows else None
            if new is not None:
                self._made[key] = new
            turn.put(out, key, known, new)
        return out

    # -- lots -------------------------------------------------------------------------------------

    def _sort_in(self, outer: Delta, inner: Delta, found: Delta, turn: Round) -> None:
        """Hand rows to the lots that they are in → what these make of them."""
        sides = self.by_value(outer, inner)
        for value in dict.fromkeys([*sides[0], *sides[1]]):
            part = self.part(value)
            mine, theirs = (side.get(value, {}) for side in sides)
            for key, one in part.apply_known(turn, mine, theirs, self.cells).items():
                if one.new is not None or key not in found:  # it may be in another lot now
                    found[key] = one
            if part.is_empty:
                del self._parts[value]
        if self._several:
            compared = self._several if inner else [key for key in outer if key in self._several]
            self._compare(compared, found, turn)

    @property
    def cells(self) -> Any:
        """What rows compare by, as lots take it."""
        return (*(test[1].cells for test in self._ranges), self._ranges[0][2].cells)

    def by_value(self, outer: Delta, inner: Delta) -> tuple[dict[Any, Delta], dict[Any, Delta]]:
        """The changes of each lot."""
        sides: tuple[dict[Any, Delta], dict[Any, Delta]] = {}, {}
        for key, (old, new) in outer.items():
            self._several.pop(key, None)
            if key in self._outer_in:
                sides[0].setdefault(self._outer_in.pop(key), {})[key] = RowDelta(old, None)
            if new is None:
                continue
            values = self._values_of(key, 1)
            if len(values) > 1:
                self._several[key] = None
                continue
            value = self._outer_in[key] = values[0] if values else None
            _put_in(sides[0].setdefault(value, {}), key, new)
        for key, (old, new) in inner.items():
            for one in self._inner_in.pop(key, ()):
                sides[1].setdefault(one, {})[key] = RowDelta(old, None)
            if new is None:
                continue
            for one in self._inner_in.setdefault(key, self._values_of(key, 2)):
                _put_in(sides[1].setdefault(one, {}), key, new)
        return sides

    def _values_of(self, key: Key, side: int) -> list[Value]:
        """The lots that a row may be in: combinations of its values."""
        every = []
        for test, mode in zip(self._equal, self._modes, strict=True):
            if mode == "none":
                return []
            found = sort_values(test[side].cells[key] or (), mode)  # type: ignore[union-attr]
            if found is None:
                raise NotSorted
            every.append(dict.fromkeys(found))
        return list(product(*every))

    def part(self, value: Value | None) -> Part:
        """The operator of a lot, which may be new."""
        found = self._parts.get(value)
        if found is None:
            found = self._parts[value] = self._new_part()
        return found

    # -- pair by pair -----------------------------------------------------------------------------

    def _compare(self, keys: Iterable[Key], found: Delta, turn: Round) -> None:
        """Rows that are in no lot."""
        outer, inner = self._rows
        tests = [*self._equal, *self._ranges]
        for key, chosen in rows_that_compare(tests, list(keys), turn).items():
            value = fold_of(self._node.fold, inner, self._column, chosen, turn)
            row = outer[key]
            cells = tuple(value if at is None else row.cells[at] for at in self._cells)
            found[key] = RowDelta(None, Row(row.rank, cells))

    # -- snapshots --------------------------------------------------------------------------------

    def restore(self, made: dict[Key, Row]) -> None:
        """Take up what a snapshot holds, when both sides have their rows: lots are made again."""
        self._made, self._modes = made, self._modes_now()
        rows = self._rows
        try:
            sides = self.by_value(added(rows[0]), added(rows[1])) if self._is_sorted else ({}, {})
        except NotSorted:
            self._modes, sides = ["each"], ({}, {})
        if not self._is_sorted:
            self._outer_in, self._inner_in = {}, {}
            self._several = dict.fromkeys(rows[0])
        for value in dict.fromkeys([*sides[0], *sides[1]]):
            mine, theirs = (side.get(value, {}) for side in sides)
            self.part(value).restore(mine, theirs, self.cells, made)

    @property
    def _is_sorted(self) -> bool:
        return "each" not in self._modes


def added(rows: Mapping[Key, Row]) -> Delta:
    """The rows as if they came."""
    return {key: RowDelta(None, row) for key, row in rows.items()}


def _put_in(lot: Delta, key: Key, row: Row) -> None:
    lot[key] = RowDelta(lot[key].old if key in lot else None, row)


def _mode(key: p.JoinKey, outer: RangeSide, inner: RangeSide) -> Mode:
    """How values are found equal."""
    single = outer.is_single and inner.is_single
    if outer.fails or inner.fails or not (key.general or single):
        return "each"
    return order_mode(outer.kinds, inner.kinds, key.general)
