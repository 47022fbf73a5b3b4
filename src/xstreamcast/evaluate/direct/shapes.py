"""What is known of a value when the text is written: its type, and how many there are."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from xstreamcast.model.atomic import ATOMIC, BOOLEAN, DOUBLE, INTEGER, STRING, derives
from xstreamcast.model.sequence_type import AnyItem, AtomicItem, AtomicUnion, SequenceType

Occurs: TypeAlias = Literal["one", "optional", "many"]
ATOMIC_TAG: Final = ATOMIC["anyAtomicType"].tag
KINDS: Final = frozenset({INTEGER, DOUBLE, STRING, BOOLEAN})
NO_KIND: Final = -1


class Unsupported(Exception):
    """The expression has no Python text; its function is left to the other rules."""


class Pending(Exception):
    """The shape depends on the result of a function that is just being looked at."""


class ValueShape(NamedTuple):
    """A type by its tag; one: the value, optional: the value or None, many: a tuple."""

    kind: int
    occurs: Occurs


class Value(NamedTuple):
    """An expression of Python that can be used anywhere, and its type."""

    code: str
    shape: ValueShape


EMPTY: Final = ValueShape(NO_KIND, "optional")
NOTHING: Final = Value("None", EMPTY)
TRUTH: Final = ValueShape(BOOLEAN, "one")
WHOLE: Final = ValueShape(INTEGER, "one")
TEXT: Final = ValueShape(STRING, "one")


def joined(one: ValueShape, other: ValueShape) -> ValueShape:
    """The shape that holds values of both."""
    if NO_KIND not in (one.kind, other.kind) and one.kind != other.kind:
        raise Unsupported
    kind = max(one.kind, other.kind)
    if "many" in (one.occurs, other.occurs):
        return ValueShape(kind, "many")
    return ValueShape(kind, "one" if one.occurs == other.occurs == "one" else "optional")


def declared(type_: SequenceType, given: ValueShape) -> ValueShape:
    """The shape of a value of the given shape after it was converted to a declared type."""
    kind = _kind(type_, given.kind)
    match type_.occurs:
        case "one" | "optional":
            return ValueShape(kind, type_.occurs)
        case "some" | "many":
            undeclared = isinstance(type_.item, AnyItem)
            return ValueShape(kind, given.occurs if undeclared else "many")
        case _:
            raise Unsupported


def _kind(type_: SequenceType, kind: int) -> int:
    match type_.item:
        case AtomicItem(tag) if tag in KINDS:
            if kind not in (NO_KIND, tag) and (tag, kind) != (DOUBLE, INTEGER):
                raise Unsupported
            return tag
        case AnyItem():
            return kind
        case AtomicItem(tag) if kind == NO_KIND or derives(kind, tag):
            return kind
        case AtomicUnion(_, tags) if kind == NO_KIND or any(derives(kind, tag) for tag in tags):
            return kind
        case _:
            raise Unsupported
