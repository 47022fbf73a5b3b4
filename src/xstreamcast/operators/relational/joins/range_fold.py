"""An aggregate over the rows that compare with a row by order, without a row for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sortedcontainers import SortedList

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.delta import Cell, Delta, Key, Row
from xstreamcast.operators.relational.folds.folds import fold_state
from xstreamcast.operators.relational.folds.gathered import Member
from xstreamcast.operators.relational.folds.index import FoldIndex
from xstreamcast.operators.relational.folds.summaries import summary_of
from xstreamcast.operators.relational.joins.range_side import RangeSide
from xstreamcast.operators.relational.joins.range_values import Mode, NotSorted, order_mode

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round

Compared = tuple[Mapping[Key, Cell | None], Mapping[Key, Cell | None]]  # of outer and inner rows
_LEFT, _RIGHT = p.Variable(-1, "left"), p.Variable(-2, "right")


class _Last:
    """Behind every rank."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


LAST: Final = _Last()


class RangeFoldOperator:
    """outer, inner  →  each outer row with the fold over the inner rows that compare with it.

    Inner rows are sorted by their values, so that those of an outer row are before or behind
    its own. When one comes or goes, the outer rows are revised from there on, until the fold is
    what it was.
    """

    def __init__(self, node: c.RangeFold) -> None:
        self._node = node
        self._upward = node.key.op in ("gt", "ge")  # inner values below the outer one
        self._outer = RangeSide(node.outer, node.key.left, smallest=not self._upward)
        self._inner = RangeSide(node.inner, node.key.right, smallest=self._upward)
        self._summary = summary_of(node.fold)
        # the summary that stays the same for all rows behind, whatever else they hold
        self._full = True if node.fold.name in ("exists", "empty") else node.cap
        self._column = node.inner.columns.index(node.fold.column)
        columns = node.outer.columns
        self._cells = [None if v == node.fold.into else columns.index(v) for v in node.columns]
        self._mode: Mode = "none"
        self._clear()
        self._known: dict[Key, Any] = {}  # by outer row: the summary of its inner rows
        self._made: dict[Key, Row] = {}

    def _clear(self) -> None:
        self._index = FoldIndex(self._summary.plus, self._summary.zero)
        self._sorted: SortedList = SortedList()  # outer rows by value
        self._entries: dict[Key, Any] = {}  # of inner rows
        self._bounds: dict[Key, Any] = {}  # of outer rows

    # -- a tick -----------------------------------------------------------------------------------

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The outer rows that changed, or whose folds did."""
        outer, inner = deltas
        if not outer and not inner:
            return {}
        return self.apply_known(turn, outer, inner, self.cells_of(turn, outer, inner))

    def cells_of(self, turn: Round, outer: Delta, inner: Delta) -> Compared:
        """What the rows of both sides compare by."""
        return self._outer.cells_of(outer, turn), self._inner.cells_of(inner, turn)

    @property
    def is_empty(self) -> bool:
        """Whether neither side has a row."""
        return not (self._outer.rows or self._inner.rows)

    def apply_known(self, turn: Round, outer: Delta, inner: Delta, cells: Compared) -> Delta:
        """The same, for rows whose values are known."""
        self._outer.update(outer, cells[0])
        self._inner.update(inner, cells[1])
        touched = self._indexed(outer, inner, self._mode_now())
        out: Delta = {}
        found = self._folds(touched, turn)
        for key in dict.fromkeys([*outer, *touched]):
            old, row = self._made.pop(key, None), self._outer.rows.get(key)
            new = None if row is None else self._row(row, found[key])
            if new is not None:
                self._made[key] = new
            turn.put(out, key, old, new)
        return out

    def _mode_now(self) -> Mode:
        if self._outer.fails or self._inner.fails:
            return "each"
        general = self._node.key.general
        if not general and not (self._outer.is_single and self._inner.is_single):
            return "each"
        return order_mode(self._outer.kinds, self._inner.kinds, general)

    def _row(self, row: Row, value: Cell) -> Row:
        cells = tuple(value if at is None else row.cells[at] for at in self._cells)
        return Row(row.rank, cells)

    def restore(self, outer: Delta, inner: Delta, cells: Compared, made: Mapping[Key, Row]) -> None:
        """Take up what a snapshot holds; the index and the folds follow from it."""
        self._outer.update(outer, cells[0])
        self._inner.update(inner, cells[1])
        self._made = {key: made[key] for key in outer}
        self._indexed({}, {}, self._mode_now())
        self.fold_all()

    def fold_all(self) -> None:
        """The folds of all outer rows, of which nothing is known."""
        if self._mode == "none":
            self._known = dict.fromkeys(self._outer.rows, self._summary.zero)
        elif self._mode != "each":
            self._known = {key: self._summed(key) for key in self._outer.rows}

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
        rows: Iterable[Key] = self._outer.rows if changed else outer
        return dict.fromkeys(key for key in rows if key in self._outer.rows)

    def _fill(self, mode: Mode) -> None:
        """The index for another way to compare."""
        self._clear()
        self._known.clear()
        if mode in ("each", "none"):
            return
        for key in self._inner.rows:
            self._entries[key] = self._inner.entry(key, mode)
        for key in self._outer.rows:
            self._bounds[key] = self._outer.entry(key, mode)
        self._index.fill(
            (entry, self._summary.of(self._member(key)))
            for key, entry in self._entries.items()
            if entry is not None
        )
        self._sorted.update(one for one in self._bounds.values() if one is not None)

    def _member(self, key: Key) -> Cell:
        return self._inner.rows[key].cells[self._column]

    def _moved(self, outer: Delta, inner: Delta) -> dict[Key, None]:
        """Apply changed rows → the outer rows that are new, or whose inner rows are others."""
        values = self._replaced(inner)
        for key in outer:
            before = self._bounds.pop(key, None)
            if before is not None:
                self._sorted.remove(before)
            self._known.pop(key, None)
        live = [key for key in outer if key in self._outer.rows]
        for key in live:
            entry = self._bounds[key] = self._outer.entry(key, self._mode)
            if entry is not None:
                self._sorted.add(entry)
        touched = dict.fromkeys(live)
        if values:
            touched.update(dict.fromkeys(self._affected(values)))
        return touched

    def _replaced(self, delta: Delta) -> list[Any]:
        """Apply changed inner rows → the values at which something came or went."""
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

    def _affected(self, values: list[Any]) -> Iterator[Key]:
        """The outer rows that cover one of the values, until their summaries are as they were."""
        outer = self._sorted
        if self._upward:
            end = max(values)
            rest = outer.islice(outer.bisect_left((min(values),)))
        else:
            end = min(values)
            rest = outer.islice(0, outer.bisect_left((max(values), LAST)), reverse=True)
        for value, _, key in rest:
            beyond = value > end if self._upward else value < end
            if key in self._known and self._known[key] == self._summed(key):
                if self._full is not None and self._known[key] == self._full:
                    return
                if beyond and self._summary.value(self._known[key]) is not None:
                    return
                if self._summary.value(self._known[key]) is not None:
                    continue
            yield key

    # -- folds ------------------------------------------------------------------------------------

    def _bound(self, key: Key) -> Any | None:
        """Inner rows before it, or behind it, compare with an outer row."""
        entry = self._bounds[key]
        if entry is None:
            return None
        equal_below = self._node.key.op in ("ge", "lt")
        return (entry[0], LAST) if equal_below else (entry[0],)

    def _summed(self, key: Key) -> Any:
        bound = self._bound(key)
        if bound is None:
            return self._summary.zero
        found = self._index.below(bound) if self._upward else self._index.above(bound)
        return found if self._node.cap is None else min(found, self._node.cap)

    def _folds(self, keys: Iterable[Key], turn: Round) -> dict[Key, Cell]:
        """The values of the fold for some outer rows."""
        if self._mode == "each":
            return self._each(list(keys), turn)
        out = {}
        order = _RankOrder(self)
        for key in keys:
            total = self._known[key] = (
                self._summary.zero if self._mode == "none" else self._summed(key)
            )
            found = self._summary.value(total)
            out[key] = self._in_order(key, order, turn) if found is None else found
        return out

    def _in_order(self, key: Key, order: _RankOrder, turn: Round) -> Cell:
        """The fold over the rows that compare, in the order of their ranks."""
        bound = self._bound(key)
        below = self._upward
        entries = self._index.keys_below(bound) if below else self._index.keys_above(bound)
        return order.fold({one[2] for one in entries}, turn)

    def _each(self, keys: list[Key], turn: Round) -> dict[Key, Cell]:
        """By the comparison itself, with every inner row."""
        if keys and self._inner.rows:
            self._outer.check(turn)
            self._inner.check(turn)
        order = _RankOrder(self)
        kind = p.GeneralCompare if self._node.key.general else p.ValueCompare
        test = kind(self._node.key.op, p.Var(_LEFT), p.Var(_RIGHT))
        inner = list(self._inner.rows)
        theirs = [self._inner.cells[key] or () for key in inner]
        out = {}
        for key in keys:
            space = turn.workspace()
            mine = self._outer.cells[key] or ()
            columns = {_LEFT.number: [mine] * len(inner), _RIGHT.number: theirs}
            frame = space.frame(columns, len(inner), {})
            holds = [bool(cell) and cell[0][1] for cell in space.cells(evaluate(test, frame))]
            chosen = {one for one, held in zip(inner, holds, strict=True) if held}
            out[key] = order.fold(chosen, turn)
        return out


class _RankOrder:
    """Inner rows in the order of their ranks, sorted at most once in a tick: when first read."""

    def __init__(self, of: RangeFoldOperator) -> None:
        self._of = of
        self._members: list[Member] | None = None

    def fold(self, chosen: set[Key], turn: Round) -> Cell:
        """The fold over some of the rows."""
        if self._members is None:
            inner, column = self._of._inner, self._of._column
            self._members = sorted(
                ((row.rank, key, row.cells[column]) for key, row in inner.rows.items()),
                key=lambda member: member[0],
            )
        state = fold_state(self._of._node.fold)
        state.update([], [one for one in self._members if one[1] in chosen])
        return state.value(turn)
