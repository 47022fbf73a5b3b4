"""group by: tuples with equal keys become one, in the order of first appearance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare import row_codes
from xstreamcast.model.column import offsets_of

if TYPE_CHECKING:
    from xstreamcast.model.column import Column, Ints


def group_by(plan: p.GroupBy, tuples: Frame, frame: Frame) -> Frame:
    """A row for each group, with its keys and the values of all its tuples."""
    columns = [_key(key, tuples) for key in plan.keys]
    rows = tuples.origin_in(frame)
    timezone = frame.context.inputs.timezone
    first, group = groups_of([rows, *(row_codes(column, timezone) for column in columns)])
    members = np.argsort(group, kind="stable")
    bounds = offsets_of(np.bincount(group, minlength=len(first)).astype(np.int64))
    values: dict[Key, Value] = {
        key.variable.number: column.take(first)
        for key, column in zip(plan.keys, columns, strict=True)
    }
    for before, after in plan.carried:
        values[after.number] = _joined(tuples, before.number, members, bounds)
    return Frame(frame.context, len(first), frame, rows[first], values)


def _key(key: p.GroupKey, tuples: Frame) -> Column:
    column = atomize(tuples.context.store, evaluate(key.value, tuples))
    at_most_one(column, f"the grouping key ${key.variable.name}")
    return column


def _joined(tuples: Frame, number: int, members: Ints, bounds: Ints) -> Value:
    return lambda: tuples.variable(number).take(members).regroup(bounds)


def groups_of(codes: list[Ints]) -> tuple[Ints, Ints]:
    """The first tuple of every group, and the group of every tuple."""
    combined = codes[0]
    for code in codes[1:]:
        width = int(code.max(initial=-1)) + 2
        combined = np.unique(combined * width + code + 1, return_inverse=True)[1]
    _, first, group = np.unique(combined, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[group]
