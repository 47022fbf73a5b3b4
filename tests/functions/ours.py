"""The same operations by our own functions, answered in the oracle's form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.functions.oracle import Case, Value
from xstreamcast.errors import Error
from xstreamcast.functions.atomize import effective_boolean
from xstreamcast.functions.call import CallContext, StaticContext
from xstreamcast.functions.cast import cast, strings
from xstreamcast.functions.compare import (
    general_compare,
    group_codes,
    order_ranks,
    value_compare,
)
from xstreamcast.functions.numbers.arithmetic import arithmetic, negate
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import ATOMIC, BOOLEAN, BY_TAG, INTEGER, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import DateTime
from xstreamcast.model.items import Items

CALL: Final = CallContext(1, None, StaticContext(), DateTime.of(2024, 5, 17))


def item(value: Value) -> Items:
    """One item of a type, from its lexical form."""
    return cast(Items.of(STRING, [value[1]]), ATOMIC[value[0]].tag)


def shown(items: Items) -> str:
    """Items in the oracle's form."""
    names = [BY_TAG[tag].name for tag in items.all_tags().tolist()]
    return "; ".join(f"{n} {text}" for n, text in zip(names, strings(items).tolist(), strict=True))


def answer(case: Case) -> str:
    """What we make of a case."""
    try:
        return shown(_apply(case.op, item(case.left), item(case.right)))
    except Error as wrong:
        return f"!{wrong.code}"


def _truth(value: object) -> Items:
    return Items.of(BOOLEAN, [bool(value)])


def called(local: str, *arguments: Items) -> Items:
    """A function of the fn namespace called for one row."""
    row = lookup(FN, local, len(arguments))
    assert row is not None
    return row.body(CALL, *map(Column, arguments)).items


def _sorted(a: Items, b: Items) -> Items:
    both = Items.concat([a, b])
    return both.take(order_ranks(Column(both)).argsort(kind="stable"))


_UNARY: Final[dict[str, Callable[[Items], Items]]] = {
    "minus": negate,
    "boolean": lambda a: _truth(effective_boolean(CALL, Column(a))[0]),
    "timezone": lambda a: called("timezone-from-dateTime", a),
    "seconds": lambda a: called("seconds-from-duration", a),
    "hours": lambda a: called("hours-from-duration", a),
    **{
        name: (lambda a, name=name: called(name, a))  # type: ignore[misc]
        for name in ("abs", "floor", "ceiling", "round", "number")
    },
}
_BINARY: Final[dict[str, Callable[[Items, Items], Items]]] = {
    "round2": lambda a, b: called("round", a, cast(b, INTEGER)),
    "half-even": lambda a, b: called("round-half-to-even", a, cast(b, INTEGER)),
    "distinct": lambda a, b: Items.of(INTEGER, [len(set(_codes(a, b)))]),
    "sorted": _sorted,
    "adjust": lambda a, b: called("adjust-dateTime-to-timezone", a, b),
    **{
        name: (lambda a, b, name=name: called(name, a, b))  # type: ignore[misc]
        for name in ("format-integer", "format-number", "format-dateTime")
    },
    "fn:dateTime": lambda a, b: called("dateTime", a, b),
}


def _codes(a: Items, b: Items) -> list[int]:
    codes: list[int] = group_codes(Items.concat([a, b])).tolist()
    return codes


def _apply(op: str, a: Items, b: Items) -> Items:
    if op in ("+", "-", "*", "div", "idiv", "mod"):
        return arithmetic(op, a, b)  # type: ignore[arg-type]
    if op in ("eq", "ne", "lt", "le", "gt", "ge"):
        return _truth(value_compare(op, a, b)[0])  # type: ignore[arg-type]
    if op in ("=", "!=", "<", "<=", ">", ">="):
        return _truth(general_compare(op, Column(a), Column(b))[0])
    if op in _UNARY:
        return _UNARY[op](a)
    return _BINARY[op](a, b) if op in _BINARY else cast(a, ATOMIC[op].tag)
