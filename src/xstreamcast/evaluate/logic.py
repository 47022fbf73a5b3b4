"""Truth and choice: each branch is evaluated on its own rows only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.evaluate.typing.matching import instance_of
from xstreamcast.evaluate.walk import evaluate, on_rows, true_on_rows, truth
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare import row_codes
from xstreamcast.functions.strings.collations import default_collation
from xstreamcast.model.atomic import BOOLEAN
from xstreamcast.model.column import Column, scatter, stack
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Bools, Ints


def booleans(values: Bools) -> Column:
    """A boolean for each row."""
    return Column(Items(BOOLEAN, values))


def and_(plan: p.And, frame: Frame) -> Column:
    """Later operands see only the rows that are still true."""
    return booleans(_narrowed(plan.operands, frame, True))


def or_(plan: p.Or, frame: Frame) -> Column:
    """Later operands see only the rows that are still false."""
    return booleans(~_narrowed(plan.operands, frame, False))


def _narrowed(operands: tuple[p.Expression, ...], frame: Frame, wanted: bool) -> Bools:
    """Whether every operand of a row is `wanted`."""
    holds: Bools = truth(operands[0], frame) == wanted
    for operand in operands[1:]:
        rows = np.flatnonzero(holds)
        if not len(rows):
            break
        holds[rows] = true_on_rows(operand, frame, rows) == wanted
    return holds


def if_(plan: p.If, frame: Frame) -> Column:
    """The rows of each branch, back in their places."""
    test = truth(plan.test, frame)
    if frame.n == 1 or test.all() or not test.any():
        return evaluate(plan.then if test[0] else plan.otherwise, frame)
    parts = [
        (rows, on_rows(branch, frame, rows))
        for rows, branch in (
            (np.flatnonzero(test), plan.then),
            (np.flatnonzero(~test), plan.otherwise),
        )
        if len(rows)
    ]
    return scatter(frame.n, parts)


def switch(plan: p.Switch, frame: Frame) -> Column:
    """Each case sees only the rows that no earlier one took."""
    operand = atomize(frame.context.store, evaluate(plan.operand, frame))
    at_most_one(operand, "the operand of switch")
    rows: Ints = np.arange(frame.n, dtype=np.int64)
    parts: list[tuple[Ints, Column]] = []
    for case in plan.cases:
        taken = _taken(case, operand, frame, rows)
        parts.append((rows[taken], on_rows(case.result, frame, rows[taken])))
        rows = rows[~taken]
    parts.append((rows, on_rows(plan.default, frame, rows)))
    return scatter(frame.n, parts)


def _taken(case: p.SwitchCase, operand: Column, frame: Frame, rows: Ints) -> Bools:
    taken = np.zeros(len(rows), np.bool_)
    for expression in case.operands:
        left = np.flatnonzero(~taken)
        if not len(left):
            break
        value = atomize(frame.context.store, on_rows(expression, frame, rows[left]))
        at_most_one(value, "an operand of case")
        order = default_collation(frame.context.static)
        one, other = order.column(operand.take(rows[left])), order.column(value)
        taken[left] = _equal(one, other, frame.context.inputs.timezone)
    return taken


def _equal(left: Column, right: Column, timezone: int) -> Bools:
    """Deep equality of single atomic values: () equals (), values of unlike types never do."""
    codes = row_codes(stack([left, right]), timezone)
    found: Bools = codes[: left.n] == codes[left.n :]
    return found


def typeswitch(plan: p.TypeSwitch, frame: Frame) -> Column:
    """The first case whose type the operand has."""
    operand = evaluate(plan.operand, frame)
    inner = frame.extend({plan.variable.number: operand})
    rows: Ints = np.arange(frame.n, dtype=np.int64)
    parts: list[tuple[Ints, Column]] = []
    for case in plan.cases:
        taken = np.zeros(len(rows), np.bool_)
        for wanted in case.types:
            taken |= instance_of(frame.context.store, operand.take(rows), wanted)
        parts.append((rows[taken], on_rows(case.result, inner, rows[taken])))
        rows = rows[~taken]
    parts.append((rows, on_rows(plan.default, inner, rows)))
    return scatter(frame.n, parts)
