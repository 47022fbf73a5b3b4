"""The functions of the array namespace: an array is a run of rows of a column of members."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.higher_order import by_function, invoke
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import integers, one_or
from xstreamcast.model.array_item import Cell, array_items, arrays_of, flattened
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.column import Column, gather, scatter
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.model.column import Ints
    from xstreamcast.model.function_item import Alike


def _cells(column: Column) -> list[list[Cell]]:
    return [array.cells() for array in one_or(column)]


def _made(rows: Iterable[list[Cell]]) -> Column:
    return Column(arrays_of(list(rows)))


def _within(position: int, size: int) -> int:
    """The place of a position that must exist, from 0."""
    if not 1 <= position <= size:
        raise error("FOAY0001", f"there is no member {position} in an array of {size}")
    return position - 1


@function("array:size($array as array(*)) as xs:integer")
def size(call: CallContext, array: Column) -> Column:
    """How many members an array has."""
    return integers(len(one) for one in one_or(array))


@function("array:get($array as array(*), $position as xs:integer) as item()*")
def get(call: CallContext, array: Column, position: Column) -> Column:
    """The member at a position."""
    both = zip(one_or(array), one_or(position), strict=True)
    return gather([one.cell(place) for one, place in both])


@function("array:put($array as array(*), $position as xs:integer, $member as item()*) as array(*)")
def put(call: CallContext, array: Column, position: Column, member: Column) -> Column:
    """The array with another member at a position."""

    def changed(row: int, cells: list[Cell], place: int) -> list[Cell]:
        at = _within(place, len(cells))
        return [*cells[:at], (member, row), *cells[at + 1 :]]

    both = zip(_cells(array), one_or(position), strict=True)
    return _made(changed(row, cells, place) for row, (cells, place) in enumerate(both))


@function("array:append($array as array(*), $appendage as item()*) as array(*)")
def append(call: CallContext, array: Column, appendage: Column) -> Column:
    """The array with one more member at its end."""
    return _made([*cells, (appendage, row)] for row, cells in enumerate(_cells(array)))


@function("array:subarray($array as array(*), $start as xs:integer) as array(*)")
def subarray(call: CallContext, array: Column, start: Column) -> Column:
    """The members from a position on."""
    both = zip(_cells(array), one_or(start), strict=True)
    return _made(_part(cells, first, None) for cells, first in both)


@function(
    "array:subarray($array as array(*), $start as xs:integer, $length as xs:integer) as array(*)"
)
def subarray_of(call: CallContext, array: Column, start: Column, length: Column) -> Column:
    """So many members from a position on."""
    rows = zip(_cells(array), one_or(start), one_or(length), strict=True)
    return _made(_part(cells, first, count) for cells, first, count in rows)


def _part(cells: list[Cell], start: int, length: int | None) -> list[Cell]:
    if length is not None and length < 0:
        raise error("FOAY0002", f"the length of a subarray must not be negative; got {length}")
    end = len(cells) + 1 if length is None else start + length
    if not 1 <= start <= len(cells) + 1 or end > len(cells) + 1:
        sentence = f"positions {start} to {end - 1} are not all within an array of {len(cells)}"
        raise error("FOAY0001", sentence)
    return cells[start - 1 : end - 1]


@function("array:remove($array as array(*), $positions as xs:integer*) as array(*)")
def remove(call: CallContext, array: Column, positions: Column) -> Column:
    """The array without the members at some positions."""

    def left(cells: list[Cell], row: int) -> list[Cell]:
        gone = {_within(int(p), len(cells)) for p in positions.row(row).values.tolist()}
        return [cell for i, cell in enumerate(cells) if i not in gone]

    return _made(left(cells, row) for row, cells in enumerate(_cells(array)))


@function(
    "array:insert-before($array as array(*), $position as xs:integer, $member as item()*)"
    " as array(*)"
)
def insert_before(call: CallContext, array: Column, position: Column, member: Column) -> Column:
    """The array with one more member before a position."""

    def inserted(row: int, cells: list[Cell], place: int) -> list[Cell]:
        at = _within(place, len(cells) + 1)
        return [*cells[:at], (member, row), *cells[at:]]

    both = zip(_cells(array), one_or(position), strict=True)
    return _made(inserted(row, cells, place) for row, (cells, place) in enumerate(both))


@function("array:head($array as array(*)) as item()*")
def head(call: CallContext, array: Column) -> Column:
    """The first member."""
    return gather([one.cell(1) for one in one_or(array)])


@function("array:tail($array as array(*)) as array(*)")
def tail(call: CallContext, array: Column) -> Column:
    """All members but the first."""
    return _made(_but_first(cells) for cells in _cells(array))


def _but_first(cells: list[Cell]) -> list[Cell]:
    _within(1, len(cells))
    return cells[1:]


@function("array:reverse($array as array(*)) as array(*)")
def reverse(call: CallContext, array: Column) -> Column:
    """The members from the last to the first."""
    return _made(cells[::-1] for cells in _cells(array))


@function("array:join($arrays as array(*)*) as array(*)")
def join(call: CallContext, arrays: Column) -> Column:
    """The members of all arrays, end to end."""
    return _made(
        [cell for one in arrays.row(row).values.tolist() for cell in one.cells()]
        for row in range(arrays.n)
    )


@function("array:flatten($input as item()*) as item()*")
def flatten(call: CallContext, source: Column) -> Column:
    """The items with every array replaced by its members, to any depth."""
    return flattened(source)


# -- with functions --------------------------------------------------------------------------


def members_of(arrays: Column) -> tuple[Column, Column]:
    """The members of all arrays, one a row; and for each array the numbers of its rows."""
    cells = _cells(arrays)
    members = gather([cell for row in cells for cell in row])
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    places = Items(INTEGER, np.arange(members.n, dtype=np.int64))
    return members, Column.from_lengths(places, lengths)


def _called(call: CallContext, f: Alike, lengths: Ints, arguments: list[Column]) -> Column:
    """The function of each array, called for so many members of it."""
    if not arguments[0].n:
        return Column.empty(0)
    rows = np.arange(len(lengths)).repeat(lengths)
    return invoke(call, f.at(rows), arguments)


@function("array:for-each($array as array(*), $action as function(item()*) as item()*) as array(*)")
def for_each(call: CallContext, array: Column, action: Column) -> Column:
    """An array of the results of the function for each member."""

    def work(f: Alike, arrays: Column) -> Column:
        members, shape = members_of(arrays)
        lengths = shape.lengths()
        return Column(array_items(_called(call, f, lengths, [members]), lengths))

    return by_function(action, [array], work)


@function(
    "array:filter($array as array(*), $function as function(item()*) as xs:boolean) as array(*)"
)
def filter_(call: CallContext, array: Column, test: Column) -> Column:
    """The members for which the function returns true."""

    def work(f: Alike, arrays: Column) -> Column:
        members, shape = members_of(arrays)
        passed = _called(call, f, shape.lengths(), [members]).items.values.astype(np.bool_)
        kept = shape.keep(passed)
        return Column(array_items(members.take(kept.items.values), kept.lengths()))

    return by_function(test, [array], work)


@function(
    "array:for-each-pair($array1 as array(*), $array2 as array(*),"
    " $function as function(item()*, item()*) as item()*) as array(*)"
)
def for_each_pair(call: CallContext, left: Column, right: Column, action: Column) -> Column:
    """An array of the results of the function for the members at the same position."""

    def work(f: Alike, a: Column, b: Column) -> Column:
        pairs = [list(zip(x, y, strict=False)) for x, y in zip(_cells(a), _cells(b), strict=True)]
        flat = [pair for row in pairs for pair in row]
        both = [gather([pair[side] for pair in flat]) for side in (0, 1)]
        lengths = np.fromiter(map(len, pairs), np.int64, len(pairs))
        return Column(array_items(_called(call, f, lengths, both), lengths))

    return by_function(action, [left, right], work)


@function(
    "array:fold-left($array as array(*), $zero as item()*,"
    " $function as function(item()*, item()*) as item()*) as item()*"
)
def fold_left(call: CallContext, array: Column, zero: Column, f: Column) -> Column:
    """f(… f(f(zero, first), second) …, last)"""
    return _folded(call, array, zero, f, lambda cells: cells, swapped=False)


@function(
    "array:fold-right($array as array(*), $zero as item()*,"
    " $function as function(item()*, item()*) as item()*) as item()*"
)
def fold_right(call: CallContext, array: Column, zero: Column, f: Column) -> Column:
    """f(first, f(second, … f(last, zero) …))"""
    return _folded(call, array, zero, f, lambda cells: cells[::-1], swapped=True)


def _folded(
    call: CallContext,
    array: Column,
    zero: Column,
    f: Column,
    order: Callable[[list[Cell]], list[Cell]],
    *,
    swapped: bool,
) -> Column:
    def work(g: Alike, arrays: Column, held: Column) -> Column:
        rows = [order(cells) for cells in _cells(arrays)]
        for place in range(max(map(len, rows), default=0)):
            there = np.array([i for i, row in enumerate(rows) if len(row) > place], np.int64)
            pair = [held.take(there), gather([rows[i][place] for i in there.tolist()])]
            made = invoke(call, g.at(there), pair[::-1] if swapped else pair)
            rest = np.array([i for i, row in enumerate(rows) if len(row) <= place], np.int64)
            held = scatter(len(rows), [(there, made), (rest, held.take(rest))])
        return held

    return by_function(f, [array, zero], work)
