"""One condition, one operator."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.rewrite.known import Known


def split_where(plan: p.Where, known: Known) -> p.Tuples:
    """A conjunction is one condition after the other, so that each can go its own way.

    where a and b (S)  →  where b (where a (S))
    """
    if not isinstance(plan.test, p.And):
        return plan
    made = plan.source
    for operand in plan.test.operands:
        made = replace(plan, source=made, test=operand)
    return made
