"""Steps whose nodes come out in document order by themselves."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.nodes.static_type import Kinds
from xstreamcast.rewrite.known import Known


class NodeOrder(IntEnum):
    """The order of the nodes of a row: each word implies the one before."""

    ANYHOW = 0
    ORDERED = 1  # distinct, in document order
    APART = 2  # and none inside another
    ALONE = 3  # at most one


# The order after an axis; pairs that are not listed may result in any order.
_AFTER: Final[dict[tuple[str, NodeOrder], NodeOrder]] = {
    ("attribute", NodeOrder.ORDERED): NodeOrder.APART,
    ("attribute", NodeOrder.APART): NodeOrder.APART,
    ("child", NodeOrder.APART): NodeOrder.APART,
    ("descendant", NodeOrder.APART): NodeOrder.ORDERED,
    ("descendant-or-self", NodeOrder.APART): NodeOrder.ORDERED,
    ("self", NodeOrder.ORDERED): NodeOrder.ORDERED,
    ("self", NodeOrder.APART): NodeOrder.APART,
    ("self", NodeOrder.ALONE): NodeOrder.ALONE,
    ("parent", NodeOrder.ALONE): NodeOrder.ALONE,
    ("child", NodeOrder.ALONE): NodeOrder.APART,
    ("attribute", NodeOrder.ALONE): NodeOrder.APART,
    ("following-sibling", NodeOrder.ALONE): NodeOrder.APART,
    ("preceding-sibling", NodeOrder.ALONE): NodeOrder.APART,
}


def settle_steps(plan: p.Step, known: Known) -> p.Step:
    """No sorting and no comparing where the axis keeps document order.

    axis::t(e)  →  axis::t settled(e)     if from nodes arranged as those of e, it comes in order
    """
    if plan.settled or _after(plan, known) == NodeOrder.ANYHOW:
        return plan
    return replace(plan, settled=True)


def _after(plan: p.Step, known: Known) -> NodeOrder:
    before = shape(plan.input, known)
    found = _AFTER.get((plan.axis, before))
    if found is None:
        # Every axis returns document order from a single node.
        return NodeOrder.ORDERED if before == NodeOrder.ALONE else NodeOrder.ANYHOW
    return found


def shape(plan: p.Expression, known: Known) -> NodeOrder:
    """The order of the nodes in every row of an expression."""
    match plan:
        case p.Focus() | p.TreeRoot(p.Focus()):
            return NodeOrder.ALONE
        case p.Var():
            kind = known.type_of(plan)
            alone = kind.at_most_one and kind.only(Kinds.NODE)
            return NodeOrder.ALONE if alone else NodeOrder.ANYHOW
        case p.Step():
            return max(_after(plan, known), NodeOrder.ORDERED)
        case p.Filter(source):
            return shape(source, known)
        case p.SetOperation():
            return NodeOrder.ORDERED
        case _:
            return NodeOrder.ANYHOW
