"""The rows of a column as Python values and back, for bodies that no kernel serves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xstreamcast.model.atomic import BOOLEAN, INTEGER, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Bools = npt.NDArray[np.bool_]


def one_or(column: Column, default: Any = None) -> list[Any]:
    """The value of each row, which holds at most one; `default` where it is empty."""
    values: list[Any] = column.items.values.tolist()
    if column.offsets is None:
        return values
    lengths = column.lengths()
    if (lengths == 1).all():
        return values
    found = iter(values)
    return [next(found) if length else default for length in lengths.tolist()]


def many(column: Column) -> Iterator[list[Any]]:
    """The values of each row."""
    values, bounds = column.items.values.tolist(), column.bounds().tolist()
    for start, end in pairwise(bounds):
        yield values[start:end]


def pairs(column: Column) -> Iterator[list[tuple[int, Any]]]:
    """The (type, value) pairs of each row."""
    items, bounds = list(column.items.pairs()), column.bounds().tolist()
    for start, end in pairwise(bounds):
        yield items[start:end]


def column_of(tag: int, values: Iterable[Any]) -> Column:
    """One value in each row."""
    return Column(Items.of(tag, list(values)))


def maybe(tag: int, values: Iterable[Any]) -> Column:
    """One value in each row, none where it is None."""
    cells = list(values)
    lengths = np.fromiter((cell is not None for cell in cells), np.int64, len(cells))
    return Column.from_lengths(Items.of(tag, [c for c in cells if c is not None]), lengths)


def lists(tag: int, rows: Iterable[list[Any]]) -> Column:
    """A list of values of one type in each row."""
    return Column.from_rows(list(rows), tag)


def text(values: Iterable[str]) -> Column:
    """A string in each row."""
    return column_of(STRING, values)


def integers(values: Iterable[int]) -> Column:
    """An integer in each row."""
    return column_of(INTEGER, values)


def truths(values: Iterable[bool] | Bools) -> Column:
    """A boolean in each row."""
    if isinstance(values, np.ndarray):
        return Column(Items(BOOLEAN, values))
    return column_of(BOOLEAN, values)
