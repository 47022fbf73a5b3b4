"""Blocks and assignments: evaluated in order, one row after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.column import Column, stack

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame


def block(plan: p.Block, frame: Frame) -> Column:
    """The statements, then the result, for each row before the next one begins."""
    return stack([_row(plan, frame, row) for row in range(frame.n)])


def _row(plan: p.Block, frame: Frame, row: int) -> Column:
    alone = frame if frame.n == 1 else frame.select(np.array([row], np.int64))
    for statement in plan.statements:
        evaluate(statement, alone)
    return evaluate(plan.result, alone)


def set_variable(plan: p.SetVariable, frame: Frame) -> Column:
    """The last row's value stays; every later read sees it."""
    value = evaluate(plan.value, frame)
    last = value.take(np.array([frame.n - 1], np.int64))
    frame.context.assigned[plan.variable.number] = last
    return Column.empty(frame.n)
