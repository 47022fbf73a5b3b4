"""Steps whose nodes come out in document order by themselves."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.nodes.static_type import Kinds
from xstreamcast.rewrite.known import Known


class Shape(IntEnum):
    """The order of the nodes of a row: each word implies the one before."""

    ANYHOW = 0
    ORDERED = 1  # distinct, in document order
    APART = 2  # and none inside another
    ALONE = 3  # at most one


# The order after an axis; pairs that are not listed may result in any order.
_AFTER: Final[dict[tuple[str, Shape], Shape]] = {
    ("attribute", Shape.ORDERED): Shape.APART,
    ("attribute", Shape.APART): Shape.APART,
    ("child", Shape.APART): Shape.APART,
    ("descendant", Shape.APART): Shape.ORDERED,
    ("descendant-or-self", Shape.APART): Shape.ORDERED,
    ("self", Shape.ORDERED): Shape.ORDERED,
    ("self", Shape.APART): Shape.APART,
    ("self", Shape.ALONE): Shape.ALONE,
    ("parent", Shape.ALONE): Shape.ALONE,
    ("child", Shape.ALONE): Shape.APART,
    ("attribute", Shape.ALONE): Shape.APART,
    ("following-sibling", Shape.ALONE): Shape.APART,
    ("preceding-sibling", Shape.ALONE): Shape.APART,
}


def settle_steps(plan: p.Step, known: Known) -> p.Step:
    """No sorting and no comparing where the axis keeps document order.

    axis::t(e)  →  axis::t settled(e)     if from nodes that lie like those of e, it comes in order
    """
    if plan.settled or _after(plan, known) == Shape.ANYHOW:
        return plan
    return replace(plan, settled=True)


def _after(plan: p.Step, known: Known) -> Shape:
    before = shape(plan.input, known)
    found = _AFTER.get((plan.axis, before))
    if found is None:
        # Every axis returns document order from a single node.
        return Shape.ORDERED if before == Shape.ALONE else Shape.ANYHOW
    return found


def shape(plan: p.Expression, known: Known) -> Shape:
    """The order of the nodes in every row of an expression."""
    match plan:
        case p.Focus() | p.Root(p.Focus()):
            return Shape.ALONE
        case p.Var():
            kind = known.type_of(plan)
            alone = kind.at_most_one and kind.only(Kinds.NODE)
            return Shape.ALONE if alone else Shape.ANYHOW
        case p.Step():
            return max(_after(plan, known), Shape.ORDERED)
        case p.Filter(source):
            return shape(source, known)
        case p.SetOperation():
            return Shape.ORDERED
        case _:
            return Shape.ANYHOW
