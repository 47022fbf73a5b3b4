"""The function conversion rules: atomise, cast what is untyped, promote, then insist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra.show.types import sequence_type
from xstreamcast.errors import Error, error
from xstreamcast.evaluate.typing.fitting import fitting
from xstreamcast.evaluate.typing.matching import cardinality, matches
from xstreamcast.evaluate.typing.type_names import item_name
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.model.atomic import (
    ANY_URI,
    ATOMIC,
    DECIMAL,
    DOUBLE,
    FLOAT,
    FUNCTIONS,
    INTEGER,
    MIXED,
    PRIMITIVE,
    QNAME,
    STRING,
    UNTYPED,
    derives,
)
from xstreamcast.model.sequence_type import (
    AnyItem,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    SequenceType,
)

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column
    from xstreamcast.model.items import Items

_NAMES: Final = (QNAME, ATOMIC["NOTATION"].tag)  # their values need namespaces

OPTIONAL_INTEGER: Final = SequenceType(AtomicItem(INTEGER), "optional")

# target: the types that are promoted to it
_PROMOTED: Final = {
    DOUBLE: frozenset({FLOAT, DECIMAL, INTEGER}),
    FLOAT: frozenset({DECIMAL, INTEGER}),
    STRING: frozenset({ANY_URI}),
}


def converted(frame: Frame, column: Column, wanted: SequenceType, role: str) -> Column:
    """The column as the type wants it, or XPTY0004 naming the role."""
    if column.n == 1 and fitting(wanted)(column):
        return column
    match wanted.item:
        case AnyItem():
            return _counted(column, wanted, role)
        case AtomicItem(tag):
            column = _atomic(frame, column, (tag,))
        case AtomicUnion(_, tags):
            column = _atomic(frame, column, tags)
        case FunctionType():
            column = _coerced(frame, column, wanted.item)
        case _:
            pass
    return checked(frame, column, wanted, role)


def checked(
    frame: Frame, column: Column, wanted: SequenceType, role: str, code: str = "XPTY0004"
) -> Column:
    """The column unchanged if every row has the type, else the error `code`."""
    _counted(column, wanted, role, code)
    if isinstance(wanted.item, AtomicItem) and derives(column.items.tag, wanted.item.tag):
        return column
    fits = matches(frame.context.store, column.items, wanted.item)
    if not fits.all():
        wrong = column.items.take(np.flatnonzero(~fits)[:1])
        raise _mismatch(wanted, role, item_name(frame.context.store, wrong), code)
    return column


def _counted(column: Column, wanted: SequenceType, role: str, code: str = "XPTY0004") -> Column:
    if column.offsets is None and wanted.occurs != "none":
        return column
    if column.n == 1 and wanted.at_most is None and len(column.items) >= wanted.at_least:
        return column
    fits = cardinality(column, wanted)
    if not fits.all():
        count = int(column.lengths()[~fits][0])
        got = "an empty sequence" if count == 0 else f"a sequence of {count} items"
        raise _mismatch(wanted, role, got if count != 1 else "one item", code)
    return column


def _mismatch(wanted: SequenceType, role: str, got: str, code: str) -> Error:
    return error(code, f"{role} must be {sequence_type(wanted)}; got {got}")


def _atomic(frame: Frame, column: Column, tags: tuple[int, ...]) -> Column:
    column = atomize(frame.context.store, column)
    if column.items.tag != MIXED:
        return column.with_items(_promoted(column.items, tags))
    return column.with_items(per_type(column.items, lambda part: _promoted(part, tags)))


def _promoted(items: Items, tags: tuple[int, ...]) -> Items:
    """Items of one type, made fit for one of the wanted types where the rules allow it."""
    if len(items) == 0 or any(derives(items.tag, tag) for tag in tags):
        return items
    if items.tag == UNTYPED:
        return _from_untyped(items, DOUBLE if DOUBLE in tags else tags[0])
    for tag in tags:
        if PRIMITIVE.get(items.tag) in _PROMOTED.get(tag, ()):
            return cast(items, tag)
    return items


def _from_untyped(items: Items, target: int) -> Items:
    if PRIMITIVE.get(target) in _NAMES:
        raise error("XPTY0117")
    return cast(items, target)


def _coerced(frame: Frame, column: Column, wanted: FunctionType) -> Column:
    """Functions wrapped so that they convert to and from the wanted signature."""
    if wanted.parameters is None or not column.items.kinds() & FUNCTIONS:
        return column
    from xstreamcast.evaluate.function_items import coerced

    return column.with_items(coerced(frame.context, column.items, wanted))
