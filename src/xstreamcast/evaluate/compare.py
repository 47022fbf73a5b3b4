"""Comparisons: values, sequences, nodes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error, error
from xstreamcast.evaluate.pairs import atomized, paired, spread
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.functions.compare import general_compare, value_compare
from xstreamcast.functions.compare.values import FAMILY, compare_arrays
from xstreamcast.functions.strings.collations import PLAIN, Collation, default_collation
from xstreamcast.model.atomic import BOOLEAN, INTEGER, NODE, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.functions.call import StaticContext
    from xstreamcast.model.column import Bools, Ints

    Setting: TypeAlias = tuple[int, Mapping[str, str]]


def general(plan: p.GeneralCompare, frame: Frame) -> Column:
    """Whether any pair of items compares so."""
    return general_of(plan, evaluate(plan.left, frame), evaluate(plan.right, frame), frame)


def general_of(plan: p.GeneralCompare, left: Column, right: Column, frame: Frame) -> Column:
    """The comparison of two operands that are there."""
    if left.offsets is None and right.offsets is None:
        a, b = left.items, right.items
        if a.tag == b.tag == INTEGER and a.values.dtype == b.values.dtype != object:
            return Column(Items(BOOLEAN, compare_arrays(plan.op, a.values, b.values)))
    store, setting = frame.context.store, _setting(frame)
    left, right = atomize(store, left), atomize(store, right)
    static = frame.context.static
    if static.collation != CODEPOINT:
        return Column(Items(BOOLEAN, _collated(plan.op, left, right, setting, static)))
    try:
        found = general_compare(plan.op, left, right, *setting)
    except Error:
        found = _until_true(plan.op, left, right, setting)
    return Column(Items(BOOLEAN, found))


def _collated(
    op: p.CompareOp, left: Column, right: Column, setting: Setting, static: StaticContext
) -> Bools:
    """Strings compare by the default collation; untyped values only against strings do."""
    order = default_collation(static)
    texts = all(FAMILY.get(tag) == STRING for tag in left.items.kinds() | right.items.kinds())
    if texts:
        return general_compare(op, order.column(left), order.column(right), *setting)
    rows = range(left.n)
    found = (_some_pair(op, left.row(i), right.row(i), setting, order) for i in rows)
    return np.fromiter(found, np.bool_, left.n)


def _setting(frame: Frame) -> Setting:
    """What a comparison must know: the time zone of those without, and the prefixes of names."""
    return frame.context.inputs.timezone, frame.context.static.in_scope


def _until_true(op: p.CompareOp, left: Column, right: Column, setting: Setting) -> Bools:
    """An error after a pair that compares so is none: rows that fail are looked at pair by pair."""
    found = np.zeros(left.n, np.bool_)
    waiting: list[Ints] = [np.arange(left.n, dtype=np.int64)]
    while waiting:
        rows = waiting.pop()
        try:
            found[rows] = general_compare(op, left.take(rows), right.take(rows), *setting)
        except Error:
            middle = len(rows) // 2
            if middle:
                waiting += [rows[middle:], rows[:middle]]
            else:
                found[rows] = _some_pair(op, left.row(rows[0]), right.row(rows[0]), setting)
    return found


def _some_pair(
    op: p.CompareOp, left: Items, right: Items, setting: Setting, order: Collation = PLAIN
) -> bool:
    for i in range(len(left)):
        for j in range(len(right)):
            a, b = Column(left.slice(i, i + 1)), Column(right.slice(j, j + 1))
            if FAMILY.get(a.items.tag) == FAMILY.get(b.items.tag) == STRING:
                a, b = order.column(a), order.column(b)
            if general_compare(op, a, b, *setting)[0]:
                return True
    return False


def value(plan: p.ValueCompare, frame: Frame) -> Column:
    """Single values; nothing where an operand is empty."""
    return value_of(plan, evaluate(plan.left, frame), partial(evaluate, plan.right), frame)


def value_of(
    plan: p.ValueCompare, left: Column, right: Callable[[Frame], Column], frame: Frame
) -> Column:
    """The comparison of a left operand that is there with a right one that is found if needed."""
    both, a, b = paired(*atomized(left, right, frame), f"an operand of {plan.op}")
    order = default_collation(frame.context.static)
    a, b = order.keyed(a), order.keyed(b)
    found = value_compare(plan.op, a, b, frame.context.inputs.timezone)
    return spread(Items(BOOLEAN, found), both)


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
