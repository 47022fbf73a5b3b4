"""Joins of two streams of tuples on equal keys, without looking at every pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.free import bound_variables
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.evaluate.walk import evaluate, truth
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare import equal_pairs, general_compare, value_compare

if TYPE_CHECKING:
    from xstreamcast.model.column import Column, Ints


def join(plan: p.Join, frame: Frame) -> Iterator[Frame]:
    """The pairs that agree on all keys, left-major."""
    from xstreamcast.evaluate.tuples import MORSEL, bound_between, gathered

    left = gathered(plan.left, frame)
    if left.n == 0:
        return
    home = _home(plan, frame)
    right = gathered(plan.right, home)
    if right.n == 0:
        return
    a, b = _pairs(plan, left, right, home)
    keys = bound_between(right, home)
    for at in range(0, len(a), MORSEL):
        pairs = _pair_frame(left, right, a[at : at + MORSEL], b[at : at + MORSEL], keys)
        if plan.residual is not None:
            pairs = pairs.select(np.flatnonzero(truth(plan.residual, pairs)))
        yield pairs


def _home(plan: p.Join, frame: Frame) -> Frame:
    """Where the right side is made: once for all rows that it does not read from."""
    sides = [plan.right, *(key.right for key in plan.keys)]
    reads = [frame.context.reads.of(side) for side in sides]
    if frame.context.sequential or not reads[0].shared:
        return frame
    bound = {variable.number for variable in bound_variables(plan.right)}
    return frame.home(frozenset().union(*(one.keys for one in reads)) - bound)


def _pair_frame(left: Frame, right: Frame, a: Ints, b: Ints, keys: frozenset[Key]) -> Frame:
    values: dict[Key, Value] = {key: _taken(right, key, b) for key in keys}
    return Frame(left.context, len(a), left, a, values)


def _taken(right: Frame, key: Key, rows: Ints) -> Value:
    return lambda: right.variable(key).take(rows)


def _pairs(plan: p.Join, left: Frame, right: Frame, home: Frame) -> tuple[Ints, Ints]:
    """Rows of both sides that agree: the first key finds them, the others thin them out."""
    timezone = home.context.inputs.timezone
    first, *others = plan.keys
    one, other = _sides(first, left, right)
    i, j = equal_pairs(one.items, other.items, timezone)
    a, b = _distinct(one.rows()[i], other.rows()[j], right.n)
    if home.n > 1:
        same = left.origin_in(home)[a] == right.origin_in(home)[b]
        a, b = a[same], b[same]
    for key in others:
        one, other = _sides(key, left, right)
        agree = general_compare("eq", one.take(a), other.take(b), timezone)
        a, b = a[agree], b[agree]
    return a, b


def _distinct(a: Ints, b: Ints, width: int) -> tuple[Ints, Ints]:
    """Each pair once, ordered by left and then right."""
    both = np.unique(a * width + b)
    return both // width, both % width


def _sides(key: p.JoinKey, left: Frame, right: Frame) -> tuple[Column, Column]:
    store = left.context.store
    one = atomize(store, evaluate(key.left, left))
    other = atomize(store, evaluate(key.right, right))
    if not key.general:
        at_most_one(one, "an operand of eq")
        at_most_one(other, "an operand of eq")
        _comparable(one, other)
    return one, other


def _comparable(left: Column, right: Column) -> None:
    """XPTY0004 where `eq` would refuse to compare two of the values."""
    for one in left.items.kinds():
        for other in right.items.kinds():
            a = np.flatnonzero(left.items.all_tags() == one)[:1]
            b = np.flatnonzero(right.items.all_tags() == other)[:1]
            value_compare("eq", left.items.take(a), right.items.take(b))
