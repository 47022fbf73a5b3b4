"""The value of an expression for a batch of tuples: n sequences laid end to end with offsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from xstreamcast.model.items import Items, empty_items

if TYPE_CHECKING:
    Ints = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]

A = TypeVar("A", bound="npt.NDArray[Any]")


class Column:
    """n sequences: row i holds items[offsets[i]:offsets[i+1]]; offsets None means one item a row.

    Columns are values: nothing changes one after it was made, so they are shared freely.
    """

    __slots__ = ("items", "n", "offsets")

    def __init__(self, items: Items, offsets: Ints | None = None) -> None:
        self.items = items
        self.offsets = offsets
        self.n = len(items) if offsets is None else len(offsets) - 1

    # -- making ---------------------------------------------------------------------------------

    @staticmethod
    def empty(n: int) -> Column:
        """n empty sequences."""
        return Column(empty_items(), np.zeros(n + 1, np.int64))

    @staticmethod
    def constant(items: Items, n: int) -> Column:
        """The same sequence in each of n rows."""
        if len(items) == 1:
            return Column(items.repeated(n))
        return Column(items, np.array([0, len(items)], np.int64)).take(np.zeros(n, np.int64))

    @staticmethod
    def from_lengths(items: Items, lengths: Ints) -> Column:
        """The items cut into rows of the given lengths."""
        return Column(items, offsets_of(lengths))

    @staticmethod
    def from_rows(rows: Sequence[Sequence[Any]], tag: int) -> Column:
        """Python values of one type, a sequence for each row."""
        flat = [value for row in rows for value in row]
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        return Column.from_lengths(Items.of(tag, flat), lengths)

    @staticmethod
    def labelled(items: Items, rows: Ints, n: int) -> Column:
        """Items labelled with their row, in ascending row order (as steps return them)."""
        return Column.from_lengths(items, np.bincount(rows, minlength=n).astype(np.int64))

    # -- looking --------------------------------------------------------------------------------

    @property
    def single(self) -> bool:
        """Whether every row holds exactly one item."""
        return self.offsets is None or bool((self.lengths() == 1).all())

    def lengths(self) -> Ints:
        """How many items each row holds."""
        return np.ones(self.n, np.int64) if self.offsets is None else _steps(self.offsets)

    def bounds(self) -> Ints:
        """The offsets, made explicit."""
        return np.arange(self.n + 1, dtype=np.int64) if self.offsets is None else self.offsets

    def rows(self) -> Ints:
        """The row of every item."""
        if self.offsets is None:
            return np.arange(self.n, dtype=np.int64)
        if self.n == 1:
            return np.zeros(len(self.items), np.int64)
        return np.arange(self.n, dtype=np.int64).repeat(_steps(self.offsets))

    def row(self, i: int) -> Items:
        """The items of row i."""
        start, end = (i, i + 1) if self.offsets is None else self.offsets[i : i + 2]
        return self.items.slice(int(start), int(end))

    # -- making another of it -------------------------------------------------------------------

    def slice(self, start: int, end: int) -> Column:
        """A run of the rows."""
        if self.offsets is None:
            return Column(self.items.slice(start, end))
        bounds = self.offsets[start : end + 1]
        items = self.items.slice(int(bounds[0]), int(bounds[-1]))
        return Column(items, bounds - bounds[0])

    def take(self, rows: Ints) -> Column:
        """Row rows[j] of this becomes row j: how an outer value is lifted into a loop."""
        if self.offsets is None:
            return Column(self.items.take(rows))
        if len(self.items) == 0:
            return Column.empty(len(rows))
        starts, lengths = self.offsets[rows], _steps(self.offsets)[rows]
        return Column.from_lengths(self.items.take(ranges(starts, lengths)), lengths)

    def keep(self, mask: Bools) -> Column:
        """Only the items under the mask, each in its row."""
        places = mask.nonzero()[0]
        if self.n == 1:
            return Column(self.items.take(places), np.array((0, len(places)), np.int64))
        counts = np.bincount(self.rows()[places], minlength=self.n).astype(np.int64)
        return Column.from_lengths(self.items.take(places), counts)

    def with_items(self, items: Items) -> Column:
        """Other items in the same shape, one for one."""
        return Column(items, self.offsets)

    def each(self) -> Column:
        """Every item as a row of its own: the iteration space of `for`."""
        return Column(self.items)

    def regroup(self, offsets: Ints | None) -> Column:
        """Rows [offsets[i], offsets[i+1]) joined to one row i: how a loop's result returns."""
        if offsets is None:
            return self
        return Column(self.items, self.bounds()[offsets])


def offsets_of(lengths: Ints) -> Ints:
    """Running totals with a leading zero."""
    out = np.empty(len(lengths) + 1, np.int64)
    out[0] = 0
    np.add.accumulate(lengths, dtype=np.int64, out=out[1:])
    return out


def _steps(offsets: Ints) -> Ints:
    """np.diff for one-dimensional arrays only."""
    return offsets[1:] - offsets[:-1]


def distinct(values: A) -> A:
    """The distinct integers, ascending: many times faster than np.unique where they are few."""
    ordered: Any = np.sort(values)
    first = np.empty(len(ordered), np.bool_)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    found: A = ordered[first]
    return found


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """start, start+1, … for each start and length, end to end."""
    ends = lengths.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    found: Ints = np.arange(total, dtype=np.int64) + (starts - ends + lengths).repeat(lengths)
    return found


def stack(columns: Iterable[Column]) -> Column:
    """The rows of several columns, one column below the other."""
    parts = list(columns)
    if len(parts) == 1:
        return parts[0]
    items = Items.concat([part.items for part in parts])
    if all(part.offsets is None for part in parts):
        return Column(items)
    return Column.from_lengths(items, np.concatenate([part.lengths() for part in parts]))


def gather(cells: Sequence[tuple[Column, int]]) -> Column:
    """Row i is row `cells[i][1]` of the column `cells[i][0]`; columns that recur are read once."""
    if not cells:
        return Column.empty(0)
    bases: dict[int, int] = {}
    parts: list[Column] = []
    total = 0
    for column, _ in cells:
        if id(column) not in bases:
            bases[id(column)] = total
            parts.append(column)
            total += column.n
    if len(cells) == 1:
        column, row = cells[0]
        return column if total == 1 else column.slice(row, row + 1)
    rows = np.fromiter((bases[id(c)] + row for c, row in cells), np.int64, len(cells))
    return stack(parts).take(rows)


def concat_rows(columns: Sequence[Column]) -> Column:
    """Row i is row i of each column in turn: the comma operator.

    concat_rows(a, b)[i]  →  a[i], b[i]
    """
    if len(columns) == 1:
        return columns[0]
    n = columns[0].n
    if n == 1:
        items = Items.concat([column.items for column in columns])
        return Column(items, np.array((0, len(items)), np.int64))
    lengths = [column.lengths() for column in columns]
    totals = offsets_of(np.sum(lengths, axis=0))
    order = np.empty(int(totals[-1]), np.int64)
    start, base = totals[:-1].copy(), 0
    for column, length in zip(columns, lengths, strict=True):
        count = len(column.items)
        order[ranges(start, length)] = np.arange(base, base + count)
        start += length
        base += count
    items = Items.concat([column.items for column in columns]).take(order)
    assert len(totals) == n + 1
    return Column(items, totals)


def scatter(n: int, parts: Sequence[tuple[Ints, Column]]) -> Column:
    """Row rows[j] of the result is row j of its part; rows named by no part are empty.

    This merges the branches of a conditional.
    """
    live = [(rows, column) for rows, column in parts if len(rows)]
    if not live:
        return Column.empty(n)
    if len(live) == 1 and len(live[0][0]) == n:
        return live[0][1].take(np.argsort(live[0][0])) if not _ascending(live[0][0]) else live[0][1]
    source = np.full(n, -1, np.int64)
    base = 0
    for rows, _ in live:
        source[rows] = np.arange(base, base + len(rows))
        base += len(rows)
    stacked = stack([column for _, column in live])
    if (source >= 0).all():
        return stacked.take(source)
    return stack([stacked, Column.empty(1)]).take(np.where(source < 0, stacked.n, source))


def _ascending(rows: Ints) -> bool:
    return bool((np.diff(rows) > 0).all())
