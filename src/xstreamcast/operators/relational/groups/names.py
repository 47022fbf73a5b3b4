"""Which group a row belongs to: the values of its keys, in a form that is equal within a group."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.flwor.group import groups_of
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.functions.compare.keys import hash_keys, row_codes
from xstreamcast.model.atomic import DOUBLE, FLOAT, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.delta import Cell, Delta, Key, Row
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    import numpy.typing as npt

    from xstreamcast.circuit import nodes as c

    Ints = npt.NDArray[np.int64]


Name: TypeAlias = tuple[Hashable, ...]  # the values of the keys


class GroupNames:
    """rows  →  the keys of the groups that they belong to, within their outer rows."""

    def __init__(
        self,
        columns: tuple[p.Variable, ...],
        keys: Sequence[tuple[p.Variable, p.Variable]],
        outer: int,
    ) -> None:
        self._keys = [(columns.index(column), variable) for column, variable in keys]
        self._outer = outer

    def is_inexact(self, row: Row) -> bool:
        """Whether one of its keys is a float or a double."""
        tags = (tag for at, _ in self._keys for tag, _ in row.cells[at])
        return any(PRIMITIVE.get(tag) in (FLOAT, DOUBLE) for tag in tags)

    def of(self, given: Mapping[Key, Row], inexact: bool) -> dict[Key, Key]:
        """The keys of the groups that rows belong to.

        `inexact`: some row has such a key, so that numbers are compared as doubles.
        """
        columns = [[row.cells[at] for row in given.values()] for at, _ in self._keys]
        tags = {tag for cells in columns for tag, _ in chain.from_iterable(cells)}
        inexact = inexact or any(PRIMITIVE.get(tag) in (FLOAT, DOUBLE) for tag in tags)
        parts = []
        for cells, (_, variable) in zip(columns, self._keys, strict=True):
            if max(map(len, cells), default=0) > 1:
                lengths = np.array([len(cell) for cell in cells], np.int64)
                flat = Items.mixed(*_flat(cells))
                at_most_one(
                    Column.from_lengths(flat, lengths), f"the grouping key ${variable.name}"
                )
            parts.append(canonical(cells, inexact))
        outer = self._outer
        names = zip(*parts, strict=True) if parts else repeat(())
        if not outer:
            return {key: (name,) for key, name in zip(given, names, strict=False)}
        return {key: (*key[:outer], name) for key, name in zip(given, names, strict=False)}

    def groups(self, given: Sequence[Column]) -> tuple[Ints, Ints] | None:
        """The first row of each group, and the group of each row; None if a key is inexact."""
        columns, inexact = self._checked(given)
        return None if inexact else groups_of([row_codes(column) for column in columns])

    def of_columns(self, given: Sequence[Column]) -> list[Name]:
        """The names of the groups that rows belong to, which have no outer rows."""
        columns, inexact = self._checked(given)
        parts = []
        for column in columns:
            found = _forms(column.items, inexact)
            if column.offsets is not None and len(found) < column.n:
                each = iter(found)
                found = [next(each) if there else None for there in column.lengths().tolist()]
            parts.append(found)
        return list(zip(*parts, strict=True))

    def _checked(self, given: Sequence[Column]) -> tuple[list[Column], bool]:
        """The columns of the keys, and whether one of them holds a float or a double."""
        columns = [given[at] for at, _ in self._keys]
        for column, (_, variable) in zip(columns, self._keys, strict=True):
            at_most_one(column, f"the grouping key ${variable.name}")
        tags = {tag for column in columns for tag in column.items.kinds()}
        return columns, any(PRIMITIVE.get(tag) in (FLOAT, DOUBLE) for tag in tags)


class GroupCells(NamedTuple):
    """Of each column of a group: which fold it is, or (None, the column of its first row)."""

    cells: Sequence[tuple[int | None, int]]
    folded: Sequence[int]  # the column that each fold reads

    @staticmethod
    def of(node: c.Group) -> GroupCells:
        columns, into = node.source.columns, [fold.into for fold in node.folds]
        given = {v: columns.index(v) for v in node.carried}
        given |= {variable: columns.index(column) for column, variable in node.keys}
        cells = [(None, given[v]) if v in given else (into.index(v), 0) for v in node.columns]
        return GroupCells(cells, [columns.index(fold.column) for fold in node.folds])


def new_rows(delta: Delta) -> dict[Key, Row]:
    """The rows that came, or are others now."""
    return {key: new for key, (_, new) in delta.items() if new is not None}


def _flat(cells: Sequence[Cell]) -> tuple[list[int], list[Any]]:
    atoms = list(chain.from_iterable(cells))
    return [tag for tag, _ in atoms], [value for _, value in atoms]


def canonical(cells: Sequence[Cell], inexact: bool) -> list[Hashable]:
    """For cells of at most one item: a value that is equal where they are one group."""
    tags, values = _flat(cells)
    found = _forms(Items.mixed(tags, values), inexact) if tags else []
    if len(found) == len(cells):
        return found
    keys = iter(found)
    return [next(keys) if cell else None for cell in cells]


def _forms(items: Items, inexact: bool) -> list[Hashable]:
    found = hash_keys(items, inexact=inexact).tolist()
    forms = {key: _one_form(key) for key in found}  # one object for all that are equal
    return list(map(forms.__getitem__, found))


def _one_form(key: Any) -> Any:
    """One zero, and one form for numbers that are equal: keys that are equal are written alike."""
    match key:
        case (family, float(value)) if math.isfinite(value):
            return family, int(value) if value.is_integer() else value
        case (family, Decimal() as value):
            if value == value.to_integral_value():
                return family, int(value)
            near = float(value)
            return family, near if value == near else value.normalize()
        case _:
            return key
