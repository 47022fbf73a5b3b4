"""Rows that live for one tick, as columns of a frame: none of them is an object of its own.

What is read once takes part in one tick and is dropped. Its rows are evaluated together, in the
order of their ranks, and looked up in the indexes of what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.column import Column, offsets_of, stack
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.model.column import Ints
    from xstreamcast.model.delta import Delta
    from xstreamcast.operators.relational.workspace import Workspace
    from xstreamcast.operators.units.units import UnitDelta


class TickRows:
    """The rows of a node in one tick; each is made of a row of `source`, or of none."""

    __slots__ = ("_origin", "_source", "by_rows", "frame", "node")

    def __init__(
        self, node: c.Node, frame: Frame, source: TickRows | None = None,
        origin: Ints | None = None, by_rows: Callable[[], Delta] | None = None,
    ) -> None:  # fmt: skip
        """`origin`: of each row, the one that it is made of; None: row i of row i. `by_rows`: the
        same as rows by themselves, which show which of them fails first.
        """
        self.node, self.frame, self.by_rows = node, frame, by_rows
        self._source, self._origin = source, origin

    def __len__(self) -> int:
        return self.frame.n

    def column(self, variable: p.Variable) -> Column:
        """The value of a variable in each row."""
        return self.frame.variable(variable.number) if len(self) else Column.empty(0)

    def origin_in(self, outer: c.Node) -> Ints:
        """For each row, the row of a node around it."""
        rows: Ints = np.arange(len(self), dtype=np.int64)
        one = self
        while one.node is not outer:
            rows = rows if one._origin is None else one._origin[rows]
            assert one._source is not None, "circuit.transient lets no such node through"
            one = one._source
        return rows


def of_units(node: c.Units, moves: Sequence[UnitDelta], space: Workspace) -> TickRows:
    """The units that came."""
    handles = [
        (space.number_of(moved.changed) << 32) | moved.changed.documents
        for moved in moves
        if moved.changed is not None
    ]
    found = np.concatenate(handles) if handles else np.empty(0, np.int64)
    documents = Column(Items.of_nodes(found))
    return TickRows(node, space.rows_frame(len(found), {node.document.number: documents}))


def mapped(node: c.Rows, source: TickRows) -> TickRows:
    """let, where and for over the rows."""
    if not len(source):
        return TickRows(node, source.frame, source)
    tuples = gathered(node.tuples, source.frame)
    return TickRows(node, tuples, source, tuples.origin_in(source.frame))


def nested(node: c.Nest, outer: TickRows, inner: Sequence[TickRows]) -> TickRows:
    """Each outer row with folds over the rows that are made of it."""
    values: dict[Key, Value] = {}
    for rows, (_, fold) in zip(inner, node.inner, strict=True):
        counts = np.bincount(rows.origin_in(outer.node), minlength=len(outer)).astype(np.int64)
        items = rows.column(fold.column).regroup(offsets_of(counts))
        values[fold.into.number] = folded(fold, items, outer)
    return TickRows(node, outer.frame.extend(values), outer)


def folded(fold: c.Fold, items: Column, outer: TickRows) -> Column:
    """A fold over the items of each row."""
    if fold.call is None or not len(outer):
        return items
    frame = outer.frame.extend({fold.column.number: items})
    return evaluate(replace(fold.call, args=(p.Var(fold.column), *fold.call.args[1:])), frame)


def numbered(node: c.Number, outer: c.Node, source: TickRows) -> TickRows:
    """The rows with their positions within a row around them."""
    places, sizes = _places(source.origin_in(outer))
    values: dict[Key, Value] = {node.variable.number: Column(Items(INTEGER, places))}
    if node.size is not None:
        values[node.size.number] = Column(Items(INTEGER, sizes))
    return TickRows(node, source.frame.extend(values), source)


def sliced(node: c.Slice, outer: c.Node, source: TickRows) -> TickRows:
    """The rows at some positions within a row around them."""
    places, sizes = _places(source.origin_in(outer))
    first, last = node.first, node.last
    chosen = places >= (first if first > 0 else sizes + 1 + first)
    if last is not None and last > 0:  # -1 is the last row
        chosen &= places <= last
    rows = np.flatnonzero(chosen)
    return TickRows(node, source.frame.select(rows), source, rows)


def _places(origin: Ints) -> tuple[Ints, Ints]:
    """Of rows within others, in their order: the position of each, and how many there are."""
    first, last = np.searchsorted(origin, origin), np.searchsorted(origin, origin, "right")
    return np.arange(1, len(origin) + 1, dtype=np.int64) - first, (last - first).astype(np.int64)


def united(
    node: c.Union, outer: TickRows | None, parts: Sequence[TickRows], space: Workspace
) -> TickRows:
    """The rows of several nodes within each row around them, one node after the other."""
    values: dict[Key, Value] = {
        v.number: stack(part.column(v) for part in parts) for v in node.columns
    }
    found = TickRows(node, space.rows_frame(sum(map(len, parts)), values))
    if outer is None:
        return found
    origin = np.concatenate([part.origin_in(outer.node) for part in parts])
    order = np.argsort(origin, kind="stable")
    return TickRows(node, found.frame.select(order), outer, origin[order])
