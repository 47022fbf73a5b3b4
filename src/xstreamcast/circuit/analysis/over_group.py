"""Parts of a FLWOR that loops over what a group holds: its clauses, its first loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.item_kinds import predicate_class
from xstreamcast.functions.signature import FN


def clauses_of(plan: p.Tuples) -> list[p.Tuples]:
    """The clauses of a FLWOR, the first one first; a join counts as one."""
    found: list[p.Tuples] = []
    while not isinstance(plan, p.Unit):
        found.append(plan)
        if isinstance(plan, p.Join):
            break
        plan = plan.source
    return found[::-1]


def nested_in_group(plan: Any) -> p.ForEach | p.Window | None:
    """The first loop of a FLWOR that makes groups or windows of its items; None of any other."""
    if not isinstance(plan, p.Return):
        return None
    first, *others = clauses_of(plan.source) or [p.Unit()]
    if not any(isinstance(one, p.GroupBy | p.Window) for one in (first, *others)):
        return None
    return first if isinstance(first, p.ForEach | p.Window) else None


def with_first(plan: p.Return, first: p.Tuples, other: p.Tuples) -> p.Return:
    """The FLWOR with another first clause."""

    def put(tuples: Any) -> Any:
        return other if tuples is first else replace(tuples, source=put(tuples.source))

    return replace(plan, source=put(plan.source))


def sliced(plan: p.Expression) -> p.Expression | None:
    """What a plan takes some positions of; None if it is anything else."""
    match plan:
        case p.Filter(input, predicate, False):
            whole = facts(predicate)
            positions = predicate_class(predicate) == "position" or whole.position or whole.last
            return input if positions else None
        case p.Call(function, (input, *others)) if function.uri == FN:
            slices = function.local in ("head", "subsequence")
            return input if slices and all(isinstance(one, p.Const) for one in others) else None
        case _:
            return None
