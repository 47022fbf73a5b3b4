"""Constants, variables, sequences, numbers: expressions that only combine values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.pairs import at_most_one, atomized, paired, spread
from xstreamcast.evaluate.typing.conversion import OPTIONAL_INTEGER, converted
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import strings
from xstreamcast.functions.numbers.arithmetic import arithmetic, identity, negate
from xstreamcast.functions.strings.strings import joined
from xstreamcast.model.atomic import INTEGER, PRIMITIVE, STRING, UNTYPED
from xstreamcast.model.column import Column, concat_rows, ranges
from xstreamcast.model.items import Items, objects
from xstreamcast.model.query_limits import exceeded, query_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Ints

_LARGER: Final = 8  # so many times the memory of an integer takes one beyond 64 bits


def const(plan: p.Const, frame: Frame) -> Column:
    """The same atoms in every row."""
    items = frame.context.constants.get(id(plan))
    if items is None:
        items = Items.mixed([a.tag for a in plan.atoms], [a.value for a in plan.atoms])
        frame.context.constants[id(plan)] = items
    if frame.n == 1 and len(items) == 1:
        return Column(items)
    return Column.constant(items, frame.n)


def var(plan: p.Var, frame: Frame) -> Column:
    """The variable, lifted into this frame; what `set` has changed is never kept in frames."""
    assigned = frame.context.assigned.get(plan.variable.number)
    if assigned is not None:
        return Column.constant(assigned.items, frame.n)
    return frame.variable(plan.variable.number)


def comma(plan: p.Comma, frame: Frame) -> Column:
    """The parts side by side."""
    if not plan.parts:
        return Column.empty(frame.n)
    return concat_rows([evaluate(part, frame) for part in plan.parts])


def arithmetic_(plan: p.Arithmetic, frame: Frame) -> Column:
    """One batch of the operator for the rows in which both operands have an item."""
    return combined(plan, evaluate(plan.left, frame), partial(evaluate, plan.right), frame)


def combined(
    plan: p.Arithmetic, left: Column, right: Callable[[Frame], Column], frame: Frame
) -> Column:
    """The operator on a left operand that is there and a right one that is found if needed."""
    both, a, b = paired(*atomized(left, right, frame), f"an operand of {plan.op}")
    return spread(arithmetic(plan.op, a, b), both)


def unary(plan: p.Unary, frame: Frame) -> Column:
    """The number, or its negative."""
    column = atomize(frame.context.store, evaluate(plan.operand, frame))
    at_most_one(column, f"the operand of unary {plan.op}")
    change = negate if plan.op == "-" else identity
    return column.with_items(change(column.items))


def range_(plan: p.Range, frame: Frame) -> Column:
    """low, low + 1, …, high."""
    return range_of(evaluate(plan.low, frame), evaluate(plan.high, frame), frame)


def range_of(first: Column, last: Column, frame: Frame) -> Column:
    """All integers from the first to the last, in each row."""
    low, high = (
        converted(frame, side, OPTIONAL_INTEGER, "an operand of to") for side in (first, last)
    )
    both, a, b = paired(low, high, "an operand of to")
    if a.values.dtype == object or b.values.dtype == object:
        items, lengths = _long_range(a, b)
    else:
        most = query_limits().max_range
        if (b.values.astype(np.float64) - a.values.astype(np.float64) > most).any():
            raise _too_long(most)
        lengths = _fitting(np.maximum(b.values - a.values + 1, 0).astype(np.int64))
        items = Items(INTEGER, ranges(a.values.astype(np.int64), lengths))
    if both is None:
        return Column.from_lengths(items, lengths)
    everywhere = np.zeros(frame.n, np.int64)
    everywhere[both] = lengths
    return Column.from_lengths(items, everywhere)


def _fitting(lengths: Ints) -> Ints:
    most = query_limits().max_range
    if int(lengths.sum()) > most:
        raise _too_long(most)
    return lengths


def _too_long(most: int) -> Error:
    return exceeded("max_range", f"a range has more than {most:,} items", "XPDY0130")


def _long_range(low: Items, high: Items) -> tuple[Items, Ints]:
    """Ranges with a bound beyond 64 bits."""
    spans = [range(a, b + 1) for a, b in zip(low.values, high.values, strict=True)]
    most = query_limits().max_range // _LARGER
    lengths = np.array([min(max(0, s.stop - s.start), most + 1) for s in spans], np.int64)
    if int(lengths.sum()) > most:
        raise _too_long(most)
    return Items.of(INTEGER, [value for span in spans for value in span]), lengths


def string_concat(plan: p.StringConcat, frame: Frame) -> Column:
    """The strings of all parts, end to end; an empty part is the empty string."""
    parts = [_texts(part, frame).tolist() for part in plan.parts]
    return Column(Items(STRING, objects([joined(row) for row in zip(*parts, strict=True)])))


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
