"""Predicates that only compare positions, as runs of the sequence."""

from __future__ import annotations

import math
from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.model.atomic import DECIMAL, DOUBLE, INTEGER
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED, called
from xstreamcast.rewrite.known import Known


def select_by_position(plan: p.Filter, known: Known) -> p.Expression:
    """Positions against a constant need no focus for each item.

    e[position() = 3]       →  e[3]                e[position() = last()]   →  e[last()]
    e[position() <= 3]      →  subsequence(e, 1, 3)
    e[position() = 2 to 4]  →  subsequence(e, 2, 3)
    """
    match plan.predicate:
        case p.GeneralCompare(op, left, right) | p.ValueCompare(op, left, right):
            if isinstance(right, p.Position):
                left, right, op = right, left, SWAPPED[op]
            return _selected(plan, op, right) if isinstance(left, p.Position) else plan
        case _:
            return plan


def _selected(plan: p.Filter, op: str, right: p.Expression) -> p.Expression:
    match op, right:
        case "eq", p.Last():
            return replace(plan, predicate=right)
        case "eq", p.Range(p.Const((low,)), p.Const((high,))) if low.tag == high.tag == INTEGER:
            return _run(plan, low.value, high.value)
        case _, p.Const((p.Atom(tag, value),)) if tag in (INTEGER, DECIMAL, DOUBLE):
            return _bounded(plan, op, value) if math.isfinite(value) else plan
        case _:
            return plan


def _bounded(plan: p.Filter, op: str, value: float) -> p.Expression:
    if abs(value) > 1e15:  # subsequence counts in doubles
        return plan
    match op:
        case "eq" if value == math.floor(value):
            return replace(plan, predicate=_integer(math.floor(value)))
        case "le":
            return _run(plan, 1, math.floor(value))
        case "lt":
            return _run(plan, 1, math.ceil(value) - 1)
        case "ge":
            return _run(plan, math.ceil(value), None)
        case "gt":
            return _run(plan, math.floor(value) + 1, None)
        case _:
            return plan


def _run(plan: p.Filter, low: int, high: int | None) -> p.Expression:
    if plan.reverse:
        return plan
    low = max(low, 1)
    length = () if high is None else (_double(max(high - low + 1, 0)),)
    return called("subsequence", (plan.input, _double(low), *length), plan.span)


def _integer(value: int) -> p.Const:
    return p.Const((p.Atom(INTEGER, value),))


def _double(value: int) -> p.Const:
    return p.Const((p.Atom(DOUBLE, float(value)),))
