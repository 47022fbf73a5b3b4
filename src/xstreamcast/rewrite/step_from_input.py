"""Steps read complete sequences of nodes, without a focus for each."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import position_free
from xstreamcast.algebra.nodes.static_type import NODE, Kinds
from xstreamcast.rewrite.known import Known


def step_from_input(plan: p.Path, known: Known) -> p.Expression:
    """What the right side of a path does to each node, done to all of them at once.

    l/axis::t  →  axis::t(l)          l/(r/axis::t)  →  (l/r)/axis::t
    l/r[p]     →  (l/r)[p]            if p counts nothing
    """
    if isinstance(plan.left, p.Focus):
        return plan  # ./a and a differ in their error if the context item is no node
    match plan.right:
        case p.Step(p.Focus()) as step:
            return replace(step, input=plan.left, settled=False)
        case p.Step(inner) as step if _nodes(inner, known):
            return replace(step, input=_path(plan, inner), settled=False)
        case p.Filter(inner, predicate) as kept if _nodes(inner, known) and position_free(
            predicate, known.focused(NODE)
        ):
            return replace(kept, input=_path(plan, inner), reverse=False)
        case p.Path(first, second) if _nodes(first, known):
            return replace(plan, left=_path(plan, first), right=second)
        case _:
            return plan


def _nodes(plan: p.Expression, known: Known) -> bool:
    return known.type_of(plan, NODE).only(Kinds.NODE)


def _path(plan: p.Path, right: p.Expression) -> p.Path:
    return replace(plan, right=right)
