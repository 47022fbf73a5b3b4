"""Comparisons: values, sequences, nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.pairs import paired, spread
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare import general_compare, value_compare
from xstreamcast.model.atomic import BOOLEAN, NODE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame


def general(plan: p.GeneralCompare, frame: Frame) -> Column:
    """Whether any pair of items compares so."""
    left, right = _operands(plan, frame)
    timezone = frame.context.inputs.timezone
    return Column(Items(BOOLEAN, general_compare(plan.op, left, right, timezone)))


def value(plan: p.ValueCompare, frame: Frame) -> Column:
    """Single values; nothing where an operand is empty."""
    both, a, b = paired(*_operands(plan, frame), f"an operand of {plan.op}")
    found = value_compare(plan.op, a, b, frame.context.inputs.timezone)
    return spread(Items(BOOLEAN, found), both)


def _operands(plan: p.GeneralCompare | p.ValueCompare, frame: Frame) -> tuple[Column, Column]:
    store = frame.context.store
    left, right = evaluate(plan.left, frame), evaluate(plan.right, frame)
    return atomize(store, left), atomize(store, right)


def node(plan: p.NodeCompare, frame: Frame) -> Column:
    """Identity and document order of single nodes; handles are ordered as nodes are."""
    both, a, b = paired(
        evaluate(plan.left, frame), evaluate(plan.right, frame), f"an operand of {plan.op}"
    )
    if (len(a) and a.tag != NODE) or (len(b) and b.tag != NODE):
        raise error("XPTY0004", f"an operand of {plan.op} must be a node; got another item")
    match plan.op:
        case "is":
            found = a.values == b.values
        case "<<":
            found = a.values < b.values
        case ">>":
            found = a.values > b.values
    return spread(Items(BOOLEAN, found), both)
