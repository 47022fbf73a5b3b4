"""An aggregate over rows between two values of a row, without a row for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Cell, Delta, Key, Row
from xstreamcast.operators.relational.folds.index import FoldIndex
from xstreamcast.operators.relational.folds.summaries import summary_of
from xstreamcast.operators.relational.joins.band_index import Band, BandIndex
from xstreamcast.operators.relational.joins.pairwise import fold_of, rows_that_compare
from xstreamcast.operators.relational.joins.range_fold import LAST
from xstreamcast.operators.relational.joins.range_side import RangeSide
from xstreamcast.operators.relational.joins.range_values import Mode, NotSorted, order_mode

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round

# what outer rows have below and above, and inner rows between
Bounds = tuple[Mapping[Key, Cell | None], Mapping[Key, Cell | None], Mapping[Key, Cell | None]]


class BandFoldOperator:
    """outer, inner  →  each outer row with the fold over the inner rows between its two values.

    Inner rows are sorted by their values, outer ones by their bands. When an inner row comes or
    goes, those outer rows are revised whose bands hold its value.
    """

    def __init__(self, node: c.RangeFold) -> None:
        assert node.upper is not None
        self._node = node
        lower, upper = node.key, node.upper
        self._low = RangeSide(node.outer, lower.left, smallest=True)
        self._high = RangeSide(node.outer, upper.left, smallest=False)
        self._inner = RangeSide(node.inner, lower.right, smallest=True)
        self._summary = summary_of(node.fold)
        self._column = node.inner.columns.index(node.fold.column)
        columns = node.outer.columns
        self._cells = [None if v == node.fold.into else columns.index(v) for v in node.columns]
        self._mode: Mode = "none"
        self._clear()
        self._known: dict[Key, Any] = {}  # by outer row: the summary of its inner rows
        self._made: dict[Key, Row] = {}

    def _clear(self) -> None:
        self._index = FoldIndex(self._summary.plus, self._summary.zero)
        self._bands = BandIndex()
        self._entries: dict[Key, Any] = {}  # of inner rows
        self._band: dict[Key, Band | None] = {}  # of outer rows

    # -- a tick -----------------------------------------------------------------------------------

    def cells_of(self, turn: Round, outer: Delta, inner: Delta) -> Bounds:
        """What the rows of both sides compare by."""
        low, high = self._low.cells_of(outer, turn), self._high.cells_of(outer, turn)
        return low, high, self._inner.cells_of(inner, turn)

    @property
    def is_empty(self) -> bool:
        """Whether neither side has a row."""
        return not (self._low.rows or self._inner.rows)

    def apply_known(self, turn: Round, outer: Delta, inner: Delta, cells: Bounds) -> Delta:
        """The outer rows that changed, or whose folds did."""
        self._take(outer, inner, cells)
        touched = self._indexed(outer, inner, self._mode_now())
        out: Delta = {}
        found = self._folds(touched, turn)
        for key in dict.fromkeys([*outer, *touched]):
            old, row = self._made.pop(key, None), self._low.rows.get(key)
            new = None if row is None else self._row(row, found[key])
            if new is not None:
                self._made[key] = new
            turn.put(out, key, old, new)
        return out

    def restore(self, outer: Delta, inner: Delta, cells: Bounds, made: Mapping[Key, Row]) -> None:
        """Take up what a snapshot holds; the index and the folds follow from it."""
        self._take(outer, inner, cells)
        self._made = {key: made[key] for key in outer}
        self._indexed({}, {}, self._mode_now())
        if self._mode != "each":
            self._known = {key: self._summed(key) for key in self._low.rows}

    def _take(self, outer: Delta, inner: Delta, cells: Bounds) -> None:
        self._low.update(outer, cells[0])
        self._high.update(outer, cells[1])
        self._inner.update(inner, cells[2])

    def _mode_now(self) -> Mode:
        low, high, inner = self._low, self._high, self._inner
        if low.fails or high.fails or inner.fails or not inner.is_single:
            return "each"
        found = set()
        for key, side in ((self._node.key, low), (self._node.upper, high)):
            assert key is not None
            if not key.general and not side.is_single:
                return "each"
            found.add(order_mode(side.kinds, inner.kinds, key.general))
        return "none" if "none" in found else found.pop() if len(found) == 1 else "each"

    def _row(self, row: Row, value: Cell) -> Row:
        cells = tuple(value if at is None else row.cells[at] for at in self._cells)
        return Row(row.rank, cells)

    # -- the index --------------------------------------------------------------------------------

    def _indexed(self, outer: Delta, inner: Delta, mode: Mode) -> dict[Key, None]:
        """Bring the index up to date → the outer rows that must be looked at."""
        try:
            if mode == self._mode and mode not in ("each", "none"):
                return self._moved(outer, inner)
            self._fill(mode)
        except NotSorted:  # a value that is not what the types promise
            mode = "each"
            self._clear()
        changed = mode != self._mode or (inner and mode == "each")
        self._mode = mode
        rows: Iterable[Key] = self._low.rows if changed else outer
        return dict.fromkeys(key for key in rows if key in self._low.rows)

    def _fill(self, mode: Mode) -> None:
        """The index for another way to compare."""
        self._clear()
        self._known.clear()
        if mode in ("each", "none"):
            return
        self._entries = {key: self._inner.entry(key, mode) for key in self._inner.rows}
        self._band = {key: self._band_of(key, mode) for key in self._low.rows}
        self._index.fill(
            (entry, self._summary.of(self._member(key)))
            for key, entry in self._entries.items()
            if entry is not None
        )
        self._bands.fill(band for band in self._band.values() if band is not None)

    def _band_of(self, key: Key, mode: Mode) -> Band | None:
        low, high = self._low.entry(key, mode), self._high.entry(key, mode)
        return None if low is None or high is None else (*low, high[0])

    def _member(self, key: Key) -> Cell:
        return self._inner.rows[key].cells[self._column]

    def _moved(self, outer: Delta, inner: Delta) -> dict[Key, None]:
        """Take rows in → the outer rows that are new, or whose inner rows are others."""
        values = self._replaced(inner)
        for key in outer:
            before = self._band.pop(key, None)
            if before is not None:
                self._bands.remove(before)
            self._known.pop(key, None)
        live = [key for key in outer if key in self._low.rows]
        for key in live:
            band = self._band[key] = self._band_of(key, self._mode)
            if band is not None:
                self._bands.add(band)
        touched = dict.fromkeys(live)
        for value in dict.fromkeys(values):
            touched.update(dict.fromkeys(self._bands.around(value)))
        return {key: None for key in touched if self._differs(key)}

    def _replaced(self, delta: Delta) -> list[Any]:
        """Take inner rows in → the values at which something came or went."""
        values = []
        coming = []
        for key, (old, new) in delta.items():
            before = self._entries.pop(key, None)
            after = None
            if new is not None:
                after = self._entries[key] = self._inner.entry(key, self._mode)
            was = None if old is None else old.cells[self._column]
            if before == after and (new is None or was == self._member(key)):
                continue
            if before is not None:
                self._index.remove(before)
                values.append(before[0])
            if after is not None:
                coming.append((after, self._summary.of(self._member(key))))
                values.append(after[0])
        for entry, summary in coming:
            self._index.add(entry, summary)
        return values

    def _differs(self, key: Key) -> bool:
        """Whether the fold of a row may be another one now."""
        known = self._known.get(key)
        if known is None or self._summary.value(known) is None:
            return True
        return bool(known != self._summed(key))

    # -- folds ------------------------------------------------------------------------------------

    def _ends(self, key: Key) -> tuple[Any, Any] | None:
        """Inner rows from one to the other are between the values of an outer row."""
        band = self._band.get(key)
        if band is None:
            return None
        assert self._node.upper is not None
        first = (band[0],) if self._node.key.op == "le" else (band[0], LAST)
        last = (band[3], LAST) if self._node.upper.op == "ge" else (band[3],)
        return (first, last) if first < last else None

    def _summed(self, key: Key) -> Any:
        ends = self._ends(key)
        return self._summary.zero if ends is None else self._index.between(*ends)

    def _folds(self, keys: Iterable[Key], turn: Round) -> dict[Key, Cell]:
        """The values of the fold for some outer rows."""
        if self._mode == "each":
            return self._each(list(keys), turn)
        out = {}
        for key in keys:
            total = self._known[key] = self._summed(key)
            found = self._summary.value(total)
            out[key] = self._in_order(key, turn) if found is None else found
        return out

    def _in_order(self, key: Key, turn: Round) -> Cell:
        """The fold over the rows between, in the order of their ranks."""
        ends = self._ends(key)
        keys = [] if ends is None else [one[2] for one in self._index.keys_between(*ends)]
        return fold_of(self._node.fold, self._inner.rows, self._column, keys, turn)

    def _each(self, keys: list[Key], turn: Round) -> dict[Key, Cell]:
        """By the comparisons themselves, with every inner row."""
        assert self._node.upper is not None
        tests = (
            (self._node.key, self._low, self._inner),
            (self._node.upper, self._high, self._inner),
        )
        rows, fold = self._inner.rows, self._node.fold
        return {
            key: fold_of(fold, rows, self._column, chosen, turn)
            for key, chosen in rows_that_compare(tests, keys, turn).items()
        }
