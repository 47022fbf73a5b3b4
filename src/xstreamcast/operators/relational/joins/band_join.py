"""Pairs of rows where a value of one is between two values of the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sortedcontainers import SortedList

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.joins.band_index import Band, BandIndex
from xstreamcast.operators.relational.joins.range_fold import LAST
from xstreamcast.operators.relational.joins.range_side import RangeSide
from xstreamcast.operators.relational.joins.range_values import Mode, NotSorted, order_mode

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round

Pairs = dict[tuple[Key, Key], Row]  # by the keys of the left and the right row
Rows = Mapping[Key, Row]


class BandJoinOperator:
    """left, right  →  the pairs with a right value between two left ones; conditions follow.

    Right rows are sorted by their values, left ones by their bands. While types do not tell how
    values are compared, every pair is one.
    """

    def __init__(self, node: c.BandJoin) -> None:
        self._node = node
        self._low = RangeSide(node.left, node.key.left, smallest=True)
        self._high = RangeSide(node.left, node.upper.left, smallest=False)
        self._right = RangeSide(node.right, node.key.right, smallest=True)
        left, right = node.left.columns, node.right.columns
        self._cells = [
            (True, left.index(v)) if v in left else (False, right.index(v)) for v in node.columns
        ]
        self._mode: Mode = "none"
        self._clear()

    def _clear(self) -> None:
        self._bands = BandIndex()
        self._band: dict[Key, Band | None] = {}  # of left rows
        self._sorted: SortedList = SortedList()
        self._entries: dict[Key, Any] = {}  # of right rows

    # -- a tick -----------------------------------------------------------------------------------

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The pairs that came, went, or whose rows changed."""
        left, right = deltas
        if not left and not right:
            return {}
        before = self._pairs(left, right)
        self._low.update(left, self._low.cells_of(left, turn))
        self._high.update(left, self._high.cells_of(left, turn))
        self._right.update(right, self._right.cells_of(right, turn))
        if self._moved(left, right, self._mode_now()):
            after = self._pairs(left, right)
        else:  # other types: values are compared in another way
            rows = self._low.rows, self._right.rows
            before = self._all(_before(rows[0], left), _before(rows[1], right))
            self.fill()
            after = self._all(*rows)
        out: Delta = {}
        for pair in {**dict.fromkeys(before), **dict.fromkeys(after)}:
            turn.put(out, (*pair[0], pair[1]), before.get(pair), after.get(pair))
        return out

    def _mode_now(self) -> Mode:
        low, high, right = self._low, self._high, self._right
        if low.fails or high.fails or right.fails or not right.is_single:
            return "each"
        modes = {
            order_mode(side.kinds, right.kinds, key.general)
            for key, side in ((self._node.key, low), (self._node.upper, high))
        }
        return "none" if "none" in modes else modes.pop() if len(modes) == 1 else "each"

    # -- the index --------------------------------------------------------------------------------

    def fill(self) -> None:
        """The index of all rows, as they are compared now."""
        self._clear()
        mode = self._mode = self._mode_now()
        if mode in ("each", "none"):
            return
        try:
            self._entries = {key: self._right.entry(key, mode) for key in self._right.rows}
            self._band = {key: self._band_of(key, mode) for key in self._low.rows}
        except NotSorted:  # a value that is not what the types promise
            self._clear()
            self._mode = "each"
            return
        self._sorted.update(one for one in self._entries.values() if one is not None)
        self._bands.fill(band for band in self._band.values() if band is not None)

    def _band_of(self, key: Key, mode: Mode) -> Band | None:
        low, high = self._low.entry(key, mode), self._high.entry(key, mode)
        return None if low is None or high is None else (*low, high[0])

    def _moved(self, left: Delta, right: Delta, mode: Mode) -> bool:
        """Bring the index up to date; False if rows are compared in another way now."""
        if self._mode == "each":
            return mode == "each"
        if mode != self._mode:
            return False
        if mode == "none":
            return True
        try:
            bands = {key: self._band_of(key, mode) for key in left if key in self._low.rows}
            entries = {
                key: self._right.entry(key, mode) for key in right if key in self._right.rows
            }
        except NotSorted:
            return False
        for key in left:
            band = self._band.pop(key, None)
            if band is not None:
                self._bands.remove(band)
        for key in right:
            entry = self._entries.pop(key, None)
            if entry is not None:
                self._sorted.remove(entry)
        for band in filter(None, bands.values()):
            self._bands.add(band)
        self._sorted.update(filter(None, entries.values()))
        self._band |= bands
        self._entries |= entries
        return True

    # -- pairs ------------------------------------------------------------------------------------

    def _pairs(self, left: Iterable[Key], right: Iterable[Key]) -> Pairs:
        """The pairs that some rows take part in."""
        out: Pairs = {}
        lefts, rights = self._low.rows, self._right.rows
        for one in left:
            if one in lefts:
                for other in self._between(one):
                    out[one, other] = self._row(lefts[one], rights[other])
        for other in right:
            if other in rights:
                for one in self._around(other):
                    out[one, other] = self._row(lefts[one], rights[other])
        return out

    def _all(self, left: Rows, right: Rows) -> Pairs:
        """All pairs of such rows, as the index has them."""
        return {
            (one, other): self._row(row, right[other])
            for one, row in left.items()
            for other in (right if self._mode == "each" else self._between(one))
        }

    def _between(self, key: Key) -> list[Key]:
        """The right rows that a left one may agree with."""
        if self._mode == "each":
            return list(self._right.rows)
        band = self._band.get(key)
        if band is None:
            return []
        return [found for _, _, found in self._sorted.irange((band[0],), (band[3], LAST))]

    def _around(self, key: Key) -> list[Key]:
        """The left rows that a right one may agree with."""
        if self._mode == "each":
            return list(self._low.rows)
        entry = self._entries.get(key)
        return [] if entry is None else list(self._bands.around(entry[0]))

    def _row(self, left: Row, right: Row) -> Row:
        mine, theirs = left.cells, right.cells
        cells = [mine[at] if is_left else theirs[at] for is_left, at in self._cells]
        return Row((*left.rank, right.rank), tuple(cells))


def _before(rows: Rows, delta: Delta) -> Rows:
    """The rows of a side before a delta."""
    found = {key: row for key, row in rows.items() if key not in delta}
    return found | {key: old for key, (old, _) in delta.items() if old is not None}
