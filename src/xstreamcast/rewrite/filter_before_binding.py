"""Conditions as early as what they read is bound."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.safety import Safety, evaluated


def filter_before_binding(plan: p.Where, known: Known) -> p.Tuples:
    """Move a condition below a clause whose variables it does not read.

    where t (let $v := e (S))  →  let $v := e (where t (S))     if $v not in t and e never fails
    where t (for $v in e (S))  →  for $v in e (where t (S))     if moreover t never fails
    """
    match plan.source:
        case p.Let(source, variable, value) as clause:
            safe = Safety(known, given=evaluated(source))
            if variable not in facts(plan.test).free and safe.holds(value):
                return replace(clause, source=replace(plan, source=source))
        case p.ForEach(source, variable, items, position, allowing_empty) as clause:
            safe = Safety(known, given=evaluated(source))
            read = facts(plan.test).free
            if variable in read or position in read or allowing_empty:
                return plan
            if safe.holds(items) and safe.truth(plan.test) and not isinstance(source, p.Unit):
                return replace(clause, source=replace(plan, source=source))
    return plan
