"""What is known of a value before it is computed: which kinds of items, and how many."""

from __future__ import annotations

from enum import Flag
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from xstreamcast.model.atomic import ATOMIC as ATOMIC_TYPES
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, DOUBLE, FLOAT, INTEGER, PRIMITIVE, STRING
from xstreamcast.model.atomic import UNTYPED as UNTYPED_TAG
from xstreamcast.model.sequence_type import (
    AnyItem,
    ArrayType,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    ItemType,
    MapType,
    NodeItem,
    SequenceType,
)


class Kinds(Flag):
    """Kinds of items, as far as rewrites and the evaluator care."""

    NODE = 1
    BOOLEAN = 2
    NUMERIC = 4
    STRING = 8
    UNTYPED = 16
    OTHER = 32
    FUNCTION = 64


NONE: Final = Kinds(0)
ATOMIC: Final = Kinds.BOOLEAN | Kinds.NUMERIC | Kinds.STRING | Kinds.UNTYPED | Kinds.OTHER
EVERY: Final = ATOMIC | Kinds.NODE | Kinds.FUNCTION
_ANY_ATOMIC: Final = ATOMIC_TYPES["anyAtomicType"].tag
_NUMBERS: Final = frozenset({DECIMAL, INTEGER, FLOAT, DOUBLE})


class StaticType(NamedTuple):
    """At least `low` and at most `high` items (None: any number), each of one of the kinds."""

    kinds: Kinds
    low: int = 1
    high: int | None = 1

    @property
    def at_most_one(self) -> bool:
        """Whether there is never a second item."""
        return self.high is not None and self.high <= 1

    @property
    def one(self) -> bool:
        """Whether there is always exactly one item."""
        return self.low == 1 and self.high == 1

    def only(self, kinds: Kinds) -> bool:
        """Whether no item is of another kind."""
        return not self.kinds & ~kinds

    def either(self, other: StaticType) -> StaticType:
        """What holds of a value that is one or the other."""
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return StaticType(self.kinds | other.kinds, min(self.low, other.low), high)

    def then(self, other: StaticType) -> StaticType:
        """What holds of both in one sequence."""
        high = None if self.high is None or other.high is None else self.high + other.high
        return StaticType(self.kinds | other.kinds, self.low + other.low, high)

    def times(self, other: StaticType) -> StaticType:
        """What holds of `other` computed for each item of this."""
        if self.high == 0 or other.high == 0:
            return EMPTY
        high = None if self.high is None or other.high is None else self.high * other.high
        return StaticType(other.kinds, self.low * other.low, high)

    def each(self) -> StaticType:
        """What holds of one of the items."""
        return StaticType(self.kinds)

    def fewer(self) -> StaticType:
        """What holds when some items, maybe all, are left out."""
        return StaticType(self.kinds, 0, self.high)

    def without_order(self) -> StaticType:
        """What holds of its distinct items."""
        return StaticType(self.kinds, min(self.low, 1), self.high)


ANYTHING: Final = StaticType(EVERY, 0, None)
ITEM: Final = StaticType(EVERY)
EMPTY: Final = StaticType(NONE, 0, 0)
TRUTH: Final = StaticType(Kinds.BOOLEAN)
NUMBER: Final = StaticType(Kinds.NUMERIC)
TEXT: Final = StaticType(Kinds.STRING)
NODES: Final = StaticType(Kinds.NODE, 0, None)
NODE: Final = StaticType(Kinds.NODE)


def of_sequence_type(kind: SequenceType) -> StaticType:
    """What a sequence type promises."""
    if kind.occurs == "none":
        return EMPTY
    return StaticType(of_item_type(kind.item), kind.at_least, kind.at_most)


def of_item_type(kind: ItemType) -> Kinds:
    """The kinds of item that an item type allows."""
    match kind:
        case AnyItem():
            return EVERY
        case AtomicItem(tag):
            return of_tag(tag)
        case AtomicUnion(_, tags):
            return reduce(or_, map(of_tag, tags), NONE)
        case NodeItem():
            return Kinds.NODE
        case FunctionType() | MapType() | ArrayType():
            return Kinds.FUNCTION


def of_tag(tag: int) -> Kinds:
    """The kind of an atomic type."""
    primitive = PRIMITIVE[tag]
    if primitive == PRIMITIVE[STRING]:
        return Kinds.STRING
    if primitive in _NUMBERS:
        return Kinds.NUMERIC
    if primitive == BOOLEAN:
        return Kinds.BOOLEAN
    if primitive == UNTYPED_TAG:
        return Kinds.UNTYPED
    return ATOMIC if primitive == _ANY_ATOMIC else Kinds.OTHER
