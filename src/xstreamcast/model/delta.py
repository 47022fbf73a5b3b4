"""Rows of relations and their changes, which operators pass to each other.

A relation has a row for each iteration of a loop. A nested loop is a relation whose keys and ranks
extend those of the outer one by one part, so that a prefix of a key names the outer row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from xstreamcast.model.atomic import FUNCTIONS, NODE

Key: TypeAlias = tuple[Any, ...]  # one hashable part for each nesting
Rank: TypeAlias = tuple[Any, ...]  # one comparable part for each nesting


class NodeRef(NamedTuple):
    """A node of an input: which input, the key of its unit, its row behind the unit's document."""

    source: int
    unit: str
    offset: int


class OwnNode(NamedTuple):
    """A node that a query constructed; it is kept as long as a row refers to it.

    `place` sorts trees as one evaluation of the query would make them: the operator, the rank of
    the row that it evaluated, and a number within the row. It is empty where it is not known.
    """

    tape: Any
    row: int
    place: tuple[Any, ...] = ()


class MapValue(NamedTuple):
    """A map that a row keeps: its keys, and the value of each."""

    keys: Cell
    values: tuple[Cell, ...]


class ArrayValue(NamedTuple):
    """An array that a row keeps."""

    members: tuple[Cell, ...]


class FunctionValue(NamedTuple):
    """A function that a row keeps: how it is made again, and what it captured."""

    again: Callable[[Any, Any, Any], Any]
    of: Any
    values: tuple[Cell, ...]


# (type tag, value); the value of a node is a NodeRef or an OwnNode, that of a map, an array or a
# function a MapValue, an ArrayValue or a FunctionValue (or an item that captured nothing): none of
# them refers to the store of an evaluation.
Atom: TypeAlias = tuple[int, Any]
Cell: TypeAlias = tuple[Atom, ...]  # the value of one variable in one row: a sequence


def nodes_in(cell: Cell) -> Iterator[NodeRef | OwnNode]:
    """The nodes of a value, those inside of maps and arrays too."""
    for tag, value in cell:
        if tag == NODE:
            yield value
        elif tag in FUNCTIONS:
            for inner in inner_values(value):
                yield from nodes_in(inner)


def inner_values(value: Any) -> tuple[Cell, ...]:
    """The values inside of a map or an array, and those that a function captured."""
    match value:
        case MapValue(_, values) | FunctionValue(_, _, values):
            return values
        case ArrayValue(members):
            return members
        case _:
            return ()


class Row(NamedTuple):
    """The rank of a row in its relation, and the values of its columns."""

    rank: Rank
    cells: tuple[Cell, ...]


class RowDelta(NamedTuple):
    """A row before and after a change; None if it did not exist before, or no longer exists."""

    old: Row | None
    new: Row | None


Delta: TypeAlias = dict[Key, RowDelta]
