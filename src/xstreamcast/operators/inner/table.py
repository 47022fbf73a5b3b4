"""What the fragments in the holes of units gave: values by unit, in document order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from xstreamcast.model.atomic import DOUBLE, INTEGER, MIXED
from xstreamcast.model.column import Column, ranges
from xstreamcast.model.items import Items, empty_items, objects

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64, Bools

_EXACT: Final = 2**53  # whole numbers that a double holds exactly


class InnerValues(NamedTuple):
    """Values: in which version of a unit, behind which hole, of which version and fragment."""

    over: I64  # when the version of the unit begins
    hole: I64
    begin: I64
    place: I64
    tag: Any  # uint8
    number: Any  # float64
    other: Any  # object: the value where it is no number

    def take(self, at: I64) -> InnerValues:
        """Some of them."""
        return InnerValues._make(column[at] for column in self)


def rows_of(over: I64, hole: I64, begin: I64, place: I64, items: Items) -> InnerValues:
    """Rows for items."""
    n = len(items)
    other = np.empty(n, object)
    tags = items.all_tags().astype(np.uint8)
    if items.tag == DOUBLE:
        return InnerValues(over, hole, begin, place, tags, items.values, other)
    values = items.values
    if items.tag == INTEGER and values.dtype != object and (np.abs(values) < _EXACT).all():
        return InnerValues(over, hole, begin, place, tags, values.astype(np.float64), other)
    for i, (tag, value) in enumerate(items.pairs()):
        other[i] = value
        tags[i] = tag
    return InnerValues(over, hole, begin, place, tags, np.zeros(n), other)


def items_of(rows: InnerValues) -> Items:
    """The values of rows as items."""
    if len(rows.tag) == 0:
        return empty_items()
    first = int(rows.tag[0])
    plain = np.equal(rows.other, None)  # type: ignore[call-overload]
    if plain.all() and (rows.tag == first).all():
        return Items(first, rows.number if first == DOUBLE else rows.number.astype(np.int64))
    values = [
        (float(number) if tag == DOUBLE else int(number)) if other is None else other
        for tag, number, other in zip(rows.tag.tolist(), rows.number, rows.other, strict=True)
    ]
    if (rows.tag == first).all():
        return Items.of(first, values)
    return Items(MIXED, objects(values), rows.tag)


class BlockTable:
    """Rows in blocks, one for each unit; a block that outgrows its room moves to the end."""

    def __init__(self) -> None:
        self._rows = _room(1024)
        self._used = self._live = 0
        self._tag: int | None = None  # of all values, if they are numbers of one type
        self._first: I64 = np.zeros(1024, np.int64)  # by id of a unit
        self._count: I64 = np.zeros(1024, np.int64)
        self._space: I64 = np.zeros(1024, np.int64)

    def of(self, units: I64) -> tuple[InnerValues, I64]:
        """The rows of some units one after another, and how many each has."""
        self._make_room(units)
        counts = self._count[units]
        return self._rows.take(ranges(self._first[units], counts)), counts

    def values(self, units: I64, only: I64 | None = None) -> Items:
        """The values of some units one after another, or only those at some of these places."""
        at = ranges(self._first[units], self._count[units])
        at = at if only is None else at[only]
        if self._tag == DOUBLE:
            return Items(DOUBLE, self._rows.number[at])
        if self._tag == INTEGER:
            return Items(INTEGER, self._rows.number[at].astype(np.int64))
        return items_of(self._rows.take(at))

    def column(self, units: I64) -> Column:
        """The values of some units, a row for each."""
        counts = self.counts(units)
        return Column.from_lengths(self.values(units), counts)

    def overs(self, units: I64) -> tuple[I64, I64]:
        """For the values of some units the version of the unit, and how many each unit has."""
        counts = self.counts(units)
        return self._rows.over[ranges(self._first[units], counts)], counts

    def counts(self, units: I64) -> I64:
        """How many values some units have."""
        self._make_room(units)
        return self._count[units]

    def _note(self, new: InnerValues) -> None:
        """Whether all values are numbers of one type."""
        if len(new.tag) and self._tag != MIXED:
            first = int(new.tag[0])
            same = self._tag in (None, first) and bool((new.tag == first).all())
            bare = np.equal(new.other, None)  # type: ignore[call-overload]
            plain = same and first in (DOUBLE, INTEGER) and bool(bare.all())
            self._tag = first if plain else MIXED

    def revise(self, units: I64, dead: Bools, owner: I64, new: InnerValues) -> Bools:
        """Take rows away whose place is `dead`, put others in → which units have changed.

        `owner`: for each new row, where its unit is among `units`, which are all different.
        """
        self._note(new)
        counts = self.counts(units)
        at = ranges(self._first[units], counts)
        owners = np.repeat(np.arange(len(units)), counts)
        gone = dead[self._rows.place[at]]
        changed = np.zeros(len(units), np.bool_)
        changed[owner] = True
        order = _order(owner, new)
        if order is not None:
            owner, new = owner[order], new.take(order)
        if not gone.any() and self._follows(units, owner, new):
            self._append(units[changed], np.bincount(owner, minlength=len(units))[changed], new)
            return changed
        lost = self._rows.take(at[gone])
        if _same(lost, owners[gone], new, owner):
            return np.zeros(len(units), np.bool_)
        changed[owners[gone]] = True
        kept = ~gone & changed[owners]
        merged = InnerValues._make(map(_joined, self._rows.take(at[kept]), new))
        whose = np.concatenate((owners[kept], owner))
        order = _order(whose, merged)
        if order is not None:
            whose, merged = whose[order], merged.take(order)
        self._write(units[changed], np.bincount(whose, minlength=len(units))[changed], merged)
        return changed

    def _follows(self, units: I64, owner: I64, new: InnerValues) -> bool:
        """Whether new rows, which are in order, all come behind those that their units have."""
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        codes = units[owner[first]]
        some = self._count[codes] > 0
        last, first = self._first[codes[some]] + self._count[codes[some]] - 1, first[some]
        before, behind = self._rows, new
        ahead = before.begin[last] <= behind.begin[first]
        for a, b in ((before.hole, behind.hole), (before.over, behind.over)):
            ahead = (a[last] < b[first]) | ((a[last] == b[first]) & ahead)
        return bool(ahead.all())

    def _append(self, codes: I64, more: I64, new: InnerValues) -> None:
        """Rows behind those that units have."""
        counts = self._count[codes]
        tight = counts + more > self._space[codes]
        if tight.any():
            held = self._rows.take(ranges(self._first[codes[tight]], counts[tight]))
            self._move(codes[tight], (counts + more)[tight])
            self._put(ranges(self._first[codes[tight]], counts[tight]), held)
        self._put(ranges(self._first[codes] + counts, more), new)
        self._count[codes] = counts + more
        self._live += int(more.sum())

    def _put(self, at: I64, rows: InnerValues) -> None:
        for column, part in zip(self._rows, rows, strict=True):
            column[at] = part

    def _write(self, codes: I64, counts: I64, rows: InnerValues) -> None:
        """All rows of units, written again."""
        self._live += int(counts.sum()) - int(self._count[codes].sum())
        tight = counts > self._space[codes]
        if tight.any():
            self._move(codes[tight], counts[tight])
        self._put(ranges(self._first[codes], counts), rows)
        self._count[codes] = counts

    def _move(self, codes: I64, counts: I64) -> None:
        """Room for blocks that have outgrown theirs; what they held is written again."""
        space = 2 * counts + 2
        needed = self._used + int(space.sum())
        self._count[codes] = self._space[codes] = 0
        if needed > len(self._rows.over):
            self._compact(int(space.sum()))
            needed = self._used + int(space.sum())
        self._first[codes] = self._used + np.cumsum(space) - space
        self._space[codes] = space
        self._used = needed

    def _compact(self, more: int) -> None:
        """Blocks behind each other, each with the room it had, in arrays with room for more."""
        live = np.flatnonzero(self._space)
        counts, space = self._count[live], self._space[live]
        held = self._rows.take(ranges(self._first[live], counts))
        self._used = int(space.sum())
        self._rows = _room(max(1024, 2 * (self._used + more)))
        self._first[live] = np.cumsum(space) - space
        self._put(ranges(self._first[live], counts), held)

    def _make_room(self, units: I64) -> None:
        needed = int(units.max(initial=-1)) + 1
        if needed > len(self._first):
            more = max(needed, 2 * len(self._first)) - len(self._first)
            self._first, self._count, self._space = (
                np.concatenate((column, np.zeros(more, np.int64)))
                for column in (self._first, self._count, self._space)
            )

    def __len__(self) -> int:
        return self._live

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return sum(column.nbytes for column in self._rows) + 3 * self._first.nbytes


def _room(count: int) -> InnerValues:
    whole = [np.zeros(count, np.int64) for _ in range(4)]
    return InnerValues._make(
        [*whole, np.zeros(count, np.uint8), np.zeros(count), np.empty(count, object)]
    )


def _joined(a: Any, b: Any) -> Any:
    return np.concatenate((a, b))


def _order(whose: I64, rows: InnerValues) -> I64 | None:
    """The order of units and, in each, of the document; None if they are in it."""
    keys = (rows.begin, rows.hole, rows.over, whose)
    ahead = np.zeros(max(len(whose) - 1, 0), np.bool_)
    for key in keys:
        step = np.diff(key)
        ahead = (step > 0) | ((step == 0) & ahead) if key is not rows.begin else step >= 0
    return None if ahead.all() else np.lexsort(keys)


def _same(old: InnerValues, owners: I64, new: InnerValues, owner: I64) -> bool:
    """Whether rows that go say the same, of the same, as those that come; all are in order."""
    if not np.array_equal(owners, owner):
        return False
    return all(
        np.array_equal(a, b)
        for name, a, b in zip(InnerValues._fields, old, new, strict=True)
        if name != "place"
    )
