"""A condition on one loop alone is no business of the loops around it."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, facts
from xstreamcast.rewrite.known import Known


def filter_source_once(plan: p.Where, known: Known) -> p.Tuples:
    """Where neither items nor condition read the outer loops, filter the items once for all.

    where t (for $v in e (S))  →  for $v in (for $v in e where t return $v) (S)
        if e and t read no variable of S
    """
    match plan:
        case p.Where(p.ForEach(source, variable, items, None, False) as loop, test):
            outer = frozenset(bound_variables(source))
            read = facts(items).free | facts(test).free
            shared = facts(items).pure and not facts(items).makes_nodes
            if not outer or read & outer or not shared or variable not in facts(test).free:
                return plan
            inner = replace(plan, source=p.ForEach(p.Unit(), variable, items, span=loop.span))
            return replace(loop, items=p.Return(inner, p.Var(variable), span=loop.span))
        case _:
            return plan
