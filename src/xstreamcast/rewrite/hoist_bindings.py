"""Values that a loop does not change are bound before it."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.safety import Safety, evaluated


def hoist_bindings(plan: p.Let, known: Known) -> p.Tuples:
    """Bind before the loop what does not read its variables, if an empty loop would not notice.

    let $v := e (for $x in d (S))  →  for $x in d (let $v := e (S))
        if $x not in e and e never fails

    Other invariant expressions stay where they are: the evaluator computes each in the outermost
    rows that suffice, when an inner row asks for it. A binding would be copied into every row.
    """
    match plan:
        case p.Let(p.ForEach(source, variable, items, position) as loop, _, value):
            read = facts(value)
            if variable in read.free or position in read.free or read.makes_nodes or not read.pure:
                return plan
            if Safety(known, given=(items, *evaluated(source))).holds(value) and not isinstance(
                value, p.Const
            ):
                return replace(loop, source=replace(plan, source=source))
    return plan
