"""An array as a value: a run of rows of a column of members."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xstreamcast.errors import error
from xstreamcast.model.atomic import ARRAY, INTEGER
from xstreamcast.model.column import Column, gather, offsets_of
from xstreamcast.model.items import Items, objects
from xstreamcast.model.sequence_type import ANY, AtomicItem, SequenceType

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

Cell = tuple[Column, int]  # one member: a row of a column


class ArrayItem:
    """An array: member i is row `start` + i of `column`, which other arrays may share.

    It can be called as a function of one argument, the position of a member.
    """

    __slots__ = ("column", "end", "start")

    name: ClassVar[None] = None
    arity: ClassVar[int] = 1
    parameters: ClassVar[tuple[SequenceType, ...]] = (SequenceType(AtomicItem(INTEGER)),)
    result: ClassVar[SequenceType] = ANY
    captured: ClassVar[None] = None
    needs_call: ClassVar[bool] = True
    alone: ClassVar[None] = None

    def __init__(self, column: Column, start: int, end: int) -> None:
        self.column = column
        self.start = start
        self.end = end

    def __len__(self) -> int:
        return self.end - self.start

    def members(self) -> Column:
        """A row for each member."""
        if self.start == 0 and self.end == self.column.n:
            return self.column
        return self.column.slice(self.start, self.end)

    def cells(self) -> list[Cell]:
        """Where each member is."""
        column = self.column
        return [(column, row) for row in range(self.start, self.end)]

    def cell(self, position: int) -> Cell:
        """Where the member at a position is, counted from 1 (FOAY0001)."""
        if not 1 <= position <= len(self):
            size = len(self)
            raise error("FOAY0001", f"there is no member {position} in an array of {size}")
        return self.column, self.start + position - 1

    @property
    def body(self) -> Callable[..., Column]:
        """Call the array as a function, with a column of positions."""
        return lambda call, positions: gather(
            [self.cell(int(position)) for position in positions.items.values.tolist()]
        )


def array_items(members: Column, lengths: Ints) -> Items:
    """Arrays of the given lengths over one column of members."""
    bounds = offsets_of(lengths).tolist()
    made = [ArrayItem(members, a, b) for a, b in itertools.pairwise(bounds)]
    return Items(ARRAY, objects(made))


def arrays_of(rows: Sequence[Sequence[Cell]]) -> Items:
    """An array for each list of members, all over one column."""
    members = gather([cell for row in rows for cell in row])
    return array_items(members, np.fromiter(map(len, rows), np.int64, len(rows)))


def one_each(items: Items) -> Column:
    """Every item as a member of its own."""
    return Column(items)


def flattened(column: Column) -> Column:
    """The column with every array replaced by its members, to any depth."""
    while ARRAY in column.items.kinds():
        column = _once(column)
    return column


def _once(column: Column) -> Column:
    cells: list[Cell] = []
    lengths = np.zeros(len(column.items), np.int64)
    each: Any = column.each()
    for i, (tag, value) in enumerate(column.items.pairs()):
        found = value.cells() if tag == ARRAY else [(each, i)]
        lengths[i] = len(found)
        cells += found
    members = gather(cells)
    return members.regroup(offsets_of(lengths)).regroup(column.bounds())
