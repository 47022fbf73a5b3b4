"""End conditions that compare start and end for equality, as look-ups."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.model.atomic import INTEGER
from xstreamcast.rewrite.known import Known


def index_window_ends(plan: p.ForWindow, known: Known) -> p.ForWindow:
    """Windows find their ends by value; one whose value never comes again is known as hopeless.

    end when $s/@id eq $e/@id      →  … index $s/@id eq $e/@id
    end when $e - $s eq 9          →  … index $s + 9 eq $e            for positions $s and $e
    """
    if plan.index is not None or plan.start is None:
        return plan
    if plan.end is None or plan.end.test is None:
        return plan
    key = _key(plan, plan.start, plan.end, plan.end.test)
    return plan if key is None else replace(plan, index=key)


def _key(
    plan: p.ForWindow, start: p.Boundary, end: p.Boundary, test: p.Expression
) -> p.JoinKey | None:
    match test:
        case p.ValueCompare(
            "eq" | "ge", distance, p.Const((p.Atom(tag, far),)) as bound
        ) | p.GeneralCompare("eq" | "ge", distance, p.Const((p.Atom(tag, far),)) as bound) if (
            tag == INTEGER and _positions(distance, start, end)
        ):
            if test.op == "ge" and (plan.kind == "landmark" or far < 0):
                return None
            assert isinstance(distance, p.Arithmetic)
            return p.JoinKey(p.Arithmetic("+", distance.right, bound), distance.left, True, test)
        case p.ValueCompare("eq", left, right) | p.GeneralCompare("eq", left, right):
            general = isinstance(test, p.GeneralCompare)
            first, last = set(start.variables()), set(end.variables())
            if _of(left, first, last) and _of(right, last, first):
                return p.JoinKey(left, right, general, test)
            if _of(left, last, first) and _of(right, first, last):
                return p.JoinKey(right, left, general, test)
    return None


def _positions(distance: p.Expression, start: p.Boundary, end: p.Boundary) -> bool:
    """Whether it is the position of the end minus that of the start."""
    match distance:
        case p.Arithmetic("-", p.Var(a), p.Var(b)):
            return a == end.position and b == start.position
        case _:
            return False


def _of(plan: p.Expression, own: set[p.Variable], other: set[p.Variable]) -> bool:
    known = facts(plan)
    return bool(known.free & own) and not known.free & other and known.pure
