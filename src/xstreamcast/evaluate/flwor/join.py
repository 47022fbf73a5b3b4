"""Joins of two streams of tuples on keys that compare, without looking at every pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables
from xstreamcast.errors import Error
from xstreamcast.evaluate.flwor.key_pairs import Side, pairs
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate, truth
from xstreamcast.functions.atomize import atomize

if TYPE_CHECKING:
    from xstreamcast.model.column import Bools, Ints


def join(plan: p.TupleJoin, frame: Frame) -> Iterator[Frame]:
    """The pairs that agree on all keys, left-major.

    Keys are made for all tuples, even those that meet no other. If that fails, or no order
    decides which values agree, every pair is compared, as the query says: no error comes from
    elsewhere.
    """
    from xstreamcast.evaluate.flwor.tuples import gathered

    left = gathered(plan.left, frame)
    if left.n == 0:
        return
    found = None if left.n == 1 or frame.context.sequential else _found(plan, left, frame)
    yield from _nested(plan, left) if found is None else found


def _found(plan: p.TupleJoin, left: Frame, frame: Frame) -> Iterator[Frame] | None:
    """The pairs by their first key; None where they must be looked for one by one."""
    from xstreamcast.evaluate.flwor.tuples import bound_between, gathered

    home = _home(plan, frame)
    try:
        right = gathered(plan.right, home)
        if right.n == 0:
            return iter(())
        blocks = pairs(plan.keys[0], *_sides(plan.keys[0], left, right, home))
    except Error:
        return None
    if blocks is None:
        return None
    keys = bound_between(right, home)
    return (_thinned(plan, plan.keys[1:], _pair_frame(left, right, a, b, keys)) for a, b in blocks)


def _home(plan: p.TupleJoin, frame: Frame) -> Frame:
    """Where the right side is made: once for all rows that it does not read from."""
    sides = [plan.right, *(key.right for key in plan.keys)]
    reads = [frame.context.reads.of(side) for side in sides]
    if not reads[0].shared:
        return frame
    bound = {variable.number for variable in bound_variables(plan.right)}
    return frame.home(frozenset().union(*(one.keys for one in reads)) - bound)


def _sides(key: p.JoinKey, left: Frame, right: Frame, home: Frame) -> tuple[Side, Side]:
    store = left.context.store
    one = atomize(store, evaluate(key.left, left))
    other = atomize(store, evaluate(key.right, right))
    if home.n == 1:
        return Side(one, None), Side(other, None)
    return Side(one, left.origin_in(home)), Side(other, right.origin_in(home))


def _pair_frame(left: Frame, right: Frame, a: Ints, b: Ints, keys: frozenset[Key]) -> Frame:
    values: dict[Key, Value] = {key: _taken(right, key, b) for key in keys}
    return Frame(left.context, len(a), left, a, values)


def _taken(right: Frame, key: Key, rows: Ints) -> Value:
    return lambda: right.variable(key).take(rows)


def _nested(plan: p.TupleJoin, left: Frame) -> Iterator[Frame]:
    """Every pair, kept if the keys agree."""
    from xstreamcast.evaluate.flwor.tuples import stream

    for tuples in stream(plan.right, left):
        if tuples.n:
            yield _thinned(plan, plan.keys, tuples)


def _thinned(plan: p.TupleJoin, keys: tuple[p.JoinKey, ...], tuples: Frame) -> Frame:
    for key in keys:
        if tuples.n:
            tuples = _selected(tuples, truth(key.test, tuples))
    if plan.residual is not None and tuples.n:
        tuples = _selected(tuples, truth(plan.residual, tuples))
    return tuples


def _selected(tuples: Frame, holds: Bools) -> Frame:
    return tuples if holds.all() else tuples.select(np.flatnonzero(holds))
