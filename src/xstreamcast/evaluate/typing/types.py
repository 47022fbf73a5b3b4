"""instance of, treat, conversions and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.evaluate.typing.conversion import checked, converted
from xstreamcast.evaluate.typing.matching import instance_of
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast, cast_numeric, castable, strings
from xstreamcast.model.atomic import BOOLEAN, DOUBLE, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.model.sequence_type import AtomicItem, AtomicUnion

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Bools


def instance(plan: p.InstanceOf, frame: Frame) -> Column:
    """Whether the value of each row has the type."""
    operand = evaluate(plan.operand, frame)
    return Column(Items(BOOLEAN, instance_of(frame.context.store, operand, plan.type)))


def treat(plan: p.Treat, frame: Frame) -> Column:
    """The value unchanged, if it has the type."""
    return checked(frame, evaluate(plan.operand, frame), plan.type, plan.role, plan.code)


def convert(plan: p.Convert, frame: Frame) -> Column:
    """The value under the function conversion rules."""
    return converted(frame, evaluate(plan.operand, frame), plan.type, plan.role)


def cast_(plan: p.Cast, frame: Frame) -> Column:
    """At most one atomic value as a value of another type."""
    column = atomize(frame.context.store, evaluate(plan.operand, frame))
    at_most_one(column, "the operand of cast as")
    if not plan.optional and column.offsets is not None and not column.single:
        raise error("XPTY0004", "the operand of cast as must be one item; got an empty sequence")
    match plan.target:
        case AtomicItem(tag):
            return column.with_items(cast(column.items, tag, dict(plan.namespaces)))
        case AtomicUnion(_, ()):
            if len(column.items):
                raise error("FORG0001", "nothing can be cast to xs:error")
            return column
        case AtomicUnion():
            return column.with_items(cast_numeric(column.items))
        case p.ListTarget(_, tag):
            return _listed(column, tag)
        case _:
            assert_never(plan.target)


def _listed(column: Column, tag: int) -> Column:
    """White-space separated values, each an item; there must be one at least."""
    words = [text.split() for text in strings(cast(column.items, STRING)).tolist()]
    if not all(words):
        raise error("FORG0001", "a list must have one value at least; got none")
    flat = [word for some in words for word in some]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    made = Column.from_lengths(cast(Items.of(STRING, flat), tag), lengths)
    return made.regroup(column.offsets)


def castable_(plan: p.Castable, frame: Frame) -> Column:
    """Whether the cast would succeed."""
    column = atomize(frame.context.store, evaluate(plan.operand, frame))
    lengths = column.lengths()
    fits: Bools = (lengths == 0) & plan.optional
    rows = np.flatnonzero(lengths == 1)
    fits[rows] = _succeeds(plan, column.take(rows).items)
    return Column(Items(BOOLEAN, fits))


def _succeeds(plan: p.Castable, items: Items) -> Bools:
    match plan.target:
        case AtomicItem(tag):
            return castable(items, tag, dict(plan.namespaces))
        case AtomicUnion(_, ()):
            return np.zeros(len(items), np.bool_)
        case AtomicUnion():
            return castable(items, DOUBLE)
        case p.ListTarget(_, tag):
            return _list_castable(items, tag)
        case _:
            assert_never(plan.target)


def _list_castable(items: Items, tag: int) -> Bools:
    words = [text.split() for text in strings(items).tolist()]
    found = (bool(some) and bool(castable(Items.of(STRING, some), tag).all()) for some in words)
    return np.fromiter(found, np.bool_, len(words))
