"""Operands of at most one item each, brought together row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.column import Column, scatter

if TYPE_CHECKING:
    from collections.abc import Callable

    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Bools
    from xstreamcast.model.items import Items


def at_most_one(column: Column, role: str) -> None:
    """XPTY0004 if a row holds several items."""
    if column.offsets is not None and column.n and int(column.lengths().max()) > 1:
        raise error("XPTY0004", f"{role} must be at most one item; got {column.lengths().max()}")


def atomized(left: Column, right: Callable[[Frame], Column], frame: Frame) -> tuple[Column, Column]:
    """Both sides, atomised; the right one is of no interest where the left is empty."""
    store = frame.context.store
    left = atomize(store, left)
    rows = np.flatnonzero(left.lengths()) if left.offsets is not None else None
    if rows is None or len(rows) == frame.n:
        return left, atomize(store, right(frame))
    if not len(rows):
        return left, Column.empty(frame.n)
    return left, atomize(store, scatter(frame.n, [(rows, right(frame.select(rows)))]))


def paired(left: Column, right: Column, role: str) -> tuple[Bools | None, Items, Items]:
    """The items of the rows in which both sides have one, and which rows these are (None: all)."""
    if left.offsets is None and right.offsets is None:
        return None, left.items, right.items
    a, b = left.lengths(), right.lengths()
    both: Bools = (a > 0) & (b > 0)
    at_most_one(_kept(left, both), role)
    at_most_one(_kept(right, both), role)
    if both.all():
        return None, left.items, right.items
    rows = np.flatnonzero(both)
    return both, left.items.take(left.bounds()[rows]), right.items.take(right.bounds()[rows])


def _kept(column: Column, rows: Bools) -> Column:
    return column if rows.all() else column.take(np.flatnonzero(rows))


def spread(items: Items, both: Bools | None) -> Column:
    """Items back in their rows; the other rows are empty."""
    if both is None:
        return Column(items)
    return Column.from_lengths(items, both.astype(np.int64))
