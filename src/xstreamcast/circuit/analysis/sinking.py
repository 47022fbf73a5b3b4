"""Conditions evaluated as soon as what they read is bound, where that makes a join of two loops.

where a = b (for $c in e (S))  →  for $c in e (join(S) on a = b)
    if a and b do not read $c, and the comparison cannot fail
"""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, facts
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.rewrite.join_from_comparison import join_from_comparison
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.safety import Safety


def all_sunk(plan: p.Expression, known: Known) -> p.Expression:
    """The plan with all such conditions where they make joins."""

    def one(node: object) -> object:
        return sunk(node, known) if isinstance(node, p.Where) else node

    made: p.Expression = bottom_up(plan, one)
    return made


def sunk(plan: p.Where, known: Known) -> p.Tuples:
    """The loops with the condition where it makes a join; as they are if it makes none."""
    if not Safety(known).truth(plan.test):
        return plan
    return _below(plan.source, plan, known) or plan


def _below(source: p.Tuples, where: p.Where, known: Known) -> p.Tuples | None:
    """The source with the condition below its last clause, or deeper."""
    match source:
        case p.ForEach() | p.Let() | p.Where():
            inner, own = source.source, bound_variables(replace(source, source=p.Unit()))
        case p.TupleJoin():
            inner, own = source.left, bound_variables(source.right)
        case _:
            return None
    if facts(where.test).free & frozenset(own):
        return None
    made = _below(inner, where, known)
    if made is None:
        joined = join_from_comparison(replace(where, source=inner), known)
        made = joined if isinstance(joined, p.TupleJoin) else None
    if made is None:
        return None
    if isinstance(source, p.TupleJoin):
        return replace(source, left=made)
    return replace(source, source=made)
