"""Rows that live for one tick, joined with rows that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.operators.relational.joins.index import fits, mode_of
from xstreamcast.operators.relational.joins.values import values_by_row
from xstreamcast.operators.relational.tick_rows import TickRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xstreamcast.circuit import nodes as c
    from xstreamcast.model.column import Column, Ints
    from xstreamcast.operators.relational.joins.appended_side import AppendedSide
    from xstreamcast.operators.relational.joins.index import JoinSide, Mode
    from xstreamcast.operators.relational.joins.values import JoinValues
    from xstreamcast.operators.relational.workspace import Workspace


def left_values(node: c.Join, left: TickRows, space: Workspace) -> list[JoinValues]:
    """What each row of this tick is joined by."""
    if node.key is None or not len(left):
        return []
    return values_by_row(atomize(space.store, evaluate(node.key.left, left.frame)))


def mode_with(values: list[JoinValues], right: int, before: Mode) -> Mode:
    """How rows of this tick are compared with values of some kinds; as before, if that will do."""
    left = 0
    for one in values:
        left |= one.kinds
    mode = mode_of(left, right)
    return before if mode == "none" and fits(before, left | right) else mode


def looked_up(
    node: c.Join, left: TickRows, values: list[JoinValues], side: JoinSide | AppendedSide,
    mode: Mode, op: str, space: Workspace,
) -> TickRows:  # fmt: skip
    """The pairs of a row of this tick and a row that is kept, in the order of both."""
    places: dict[Any, int] = {}  # of kept rows that some row finds
    known: dict[JoinValues | None, list[int]] = {}
    found: list[list[int]] = []
    each: Sequence[JoinValues | None] = values
    if node.key is None:  # each row is paired with all that are kept
        each = [None] * len(left)
    for one in each:
        at = known.get(one)
        if at is None:
            rows = side.found(one, op, mode)
            at = known[one] = [places.setdefault(row, len(places)) for row in rows]
        found.append(at)
    counts = np.fromiter(map(len, found), np.int64, len(found))
    origin: Ints = np.arange(len(left), dtype=np.int64).repeat(counts)
    chosen = np.array([at for own in found for at in own], np.int64)
    kept = list(places)
    cells = {v.number: side.cells(kept, i) for i, v in enumerate(node.right.columns)}
    right = space.frame(cells, len(kept), {})
    own: dict[Key, Value] = {key: _taken(right, key, chosen) for key in right.bound}
    return TickRows(node, Frame(space.context, len(origin), left.frame, origin, own), left, origin)


def _taken(frame: Frame, key: Key, rows: Ints) -> Callable[[], Column]:
    return lambda: frame.variable(key).take(rows)
