"""Rows of relations and their changes, which operators pass to each other.

A relation has a row for each iteration of a loop. A nested loop is a relation whose keys and ranks
extend those of the outer one by one part, so that a prefix of a key names the outer row.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Key: TypeAlias = tuple[Any, ...]  # one hashable part for each nesting
Rank: TypeAlias = tuple[Any, ...]  # one comparable part for each nesting


class NodeRef(NamedTuple):
    """A node of an input: which input, the key of its unit, its row behind the unit's document."""

    source: int
    unit: str
    offset: int


class OwnNode(NamedTuple):
    """A node that a query constructed; it is kept as long as a row refers to it."""

    tape: Any
    row: int


Atom: TypeAlias = tuple[int, Any]  # (type tag, value); a node's value is a NodeRef or an OwnNode
Cell: TypeAlias = tuple[Atom, ...]  # the value of one variable in one row: a sequence


class Row(NamedTuple):
    """The rank of a row in its relation, and the values of its columns."""

    rank: Rank
    cells: tuple[Cell, ...]


class RowDelta(NamedTuple):
    """A row before and after a change; None if it did not exist before, or no longer exists."""

    old: Row | None
    new: Row | None


Delta: TypeAlias = dict[Key, RowDelta]
