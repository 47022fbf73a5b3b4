"""Constants, variables, sequences, numbers: expressions that only combine values."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.pairs import at_most_one, paired, spread
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.arithmetic import arithmetic, identity, negate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import strings
from xstreamcast.model.atomic import INTEGER, PRIMITIVE, STRING, UNTYPED
from xstreamcast.model.column import Column, beside, ranges
from xstreamcast.model.items import Items, objects

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Ints

_MOST_ITEMS = 1 << 31  # a range longer than this would not fit in memory


def const(plan: p.Const, frame: Frame) -> Column:
    """The same atoms in every row."""
    items = frame.context.constants.get(id(plan))
    if items is None:
        items = Items.mixed([a.tag for a in plan.atoms], [a.value for a in plan.atoms])
        frame.context.constants[id(plan)] = items
    return Column.constant(items, frame.n)


def var(plan: p.Var, frame: Frame) -> Column:
    """The variable, lifted into this frame; what `set` has changed is never kept in frames."""
    assigned = frame.context.assigned.get(plan.variable.number)
    if assigned is not None:
        return Column.constant(assigned.items, frame.n)
    return frame.variable(plan.variable.number)


def comma(plan: p.Comma, frame: Frame) -> Column:
    """The parts beside each other."""
    if not plan.parts:
        return Column.empty(frame.n)
    return beside([evaluate(part, frame) for part in plan.parts])


def arithmetic_(plan: p.Arithmetic, frame: Frame) -> Column:
    """One batch of the operator for the rows in which both operands have an item."""
    store = frame.context.store
    left = atomize(store, evaluate(plan.left, frame))
    right = atomize(store, evaluate(plan.right, frame))
    both, a, b = paired(left, right, f"an operand of {plan.op}")
    return spread(arithmetic(plan.op, a, b), both)


def unary(plan: p.Unary, frame: Frame) -> Column:
    """The number, or its negative."""
    column = atomize(frame.context.store, evaluate(plan.operand, frame))
    at_most_one(column, f"the operand of unary {plan.op}")
    change = negate if plan.op == "-" else identity
    return column.with_items(change(column.items))


def range_(plan: p.Range, frame: Frame) -> Column:
    """low, low + 1, …, high."""
    low, high = (_bound(side, frame) for side in (plan.low, plan.high))
    both, a, b = paired(low, high, "an operand of to")
    starts, lengths = _extents(a, b)
    if both is not None:
        spread_lengths = np.zeros(frame.n, np.int64)
        spread_lengths[both] = lengths
    else:
        spread_lengths = lengths
    if int(lengths.sum()) > _MOST_ITEMS:
        raise error("XPDY0130", "a range of more than 2,147,483,648 items does not fit in memory")
    return Column.from_lengths(Items(INTEGER, ranges(starts, lengths)), spread_lengths)


def _bound(plan: p.Expression, frame: Frame) -> Column:
    from xstreamcast.evaluate.conversion import OPTIONAL_INTEGER, converted

    return converted(frame, evaluate(plan, frame), OPTIONAL_INTEGER, "an operand of to")


def _extents(low: Items, high: Items) -> tuple[Ints, Ints]:
    if low.values.dtype == object or high.values.dtype == object:
        return _big_extents(low, high)
    lengths = np.maximum(high.values - low.values + 1, 0)
    return low.values.astype(np.int64), lengths.astype(np.int64)


def _big_extents(low: Items, high: Items) -> tuple[Ints, Ints]:
    """Bounds beyond 64 bits can only make empty ranges here; longer ones would not fit anyway."""
    lengths = [max(0, b - a + 1) for a, b in zip(low.values, high.values, strict=True)]
    if any(lengths):
        raise error("XPDY0130", "a range of integers beyond 64 bits is not supported")
    return np.zeros(len(lengths), np.int64), np.array(lengths, np.int64)


def string_concat(plan: p.StringConcat, frame: Frame) -> Column:
    """The strings of all parts, end to end; an empty part is the empty string."""
    joined = np.full(frame.n, "", object)
    for part in plan.parts:
        joined = joined + _texts(part, frame)
    return Column(Items(STRING, joined))


def _texts(plan: p.Expression, frame: Frame) -> Ints:
    column = atomize(frame.context.store, evaluate(plan, frame))
    at_most_one(column, "an operand of ||")
    texts = column.items.values if _is_text(column.items) else strings(column.items)
    if column.offsets is None:
        return cast("Ints", texts)
    out = objects([""] * frame.n)
    out[column.lengths() == 1] = texts
    return cast("Ints", out)


def _is_text(items: Items) -> bool:
    return PRIMITIVE.get(items.tag) in (STRING, UNTYPED)
