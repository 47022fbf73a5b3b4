"""Cheaper windows: landmark to sliding, sliding to tumbling."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.functions.signature import FN
from xstreamcast.rewrite.fold_constants import TRUE
from xstreamcast.rewrite.known import Known


def cheapen_windows(plan: p.ForWindow, known: Known) -> p.ForWindow:
    """Where windows cannot overlap, or have one end at most, a simpler kind finds the same.

    sliding, end when true() or newstart      →  tumbling: no window reaches the next start
    sliding, start only at the first item     →  tumbling: there is one window
    landmark, only end after the last item    →  sliding: every window has one end
    """
    if plan.start is None or plan.end is None:
        return plan
    if plan.kind == "sliding" and (_never_overlaps(plan.end) or _first_only(plan.start)):
        return replace(plan, kind="tumbling")
    if plan.kind == "landmark" and plan.only_end and _empty(plan.end.test, plan.end.next):
        return replace(plan, kind="sliding")
    return plan


def _never_overlaps(end: p.Boundary) -> bool:
    return end.test is None or end.test == TRUE


def _first_only(start: p.Boundary) -> bool:
    return _empty(start.test, start.previous)


def _empty(test: p.Expression | None, variable: p.Variable | None) -> bool:
    """empty($v), alone or as the first of several conditions."""
    match test:
        case p.And(operands):
            return any(_empty(one, variable) for one in operands)
        case p.Call(function, (p.Var(tested),)):
            return function.uri == FN and function.local == "empty" and tested == variable
        case _:
            return False
