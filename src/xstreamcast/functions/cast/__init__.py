"""Casting: one place for lexical forms, the casting table and canonical strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import Error, error
from xstreamcast.functions.cast.canonical import string_value, strings
from xstreamcast.functions.cast.convert import allowed, converter
from xstreamcast.functions.cast.facets import RANGE, invalid
from xstreamcast.functions.cast.together import dates, decimals, integers
from xstreamcast.functions.unread import unread
from xstreamcast.model.atomic import (
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    FUNCTIONS,
    INTEGER,
    MIXED,
    NODE,
    PRIMITIVE,
    STRING,
    UNTYPED,
    derives,
)
from xstreamcast.model.items import Items, array_of, empty_items, objects

if TYPE_CHECKING:
    Array = npt.NDArray[Any]
    Bools = npt.NDArray[np.bool_]

__all__ = [
    "NO_NAMES",
    "cast",
    "cast_numeric",
    "cast_value",
    "castable",
    "per_type",
    "string_value",
    "strings",
]

NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})
_TOGETHER: Final[Mapping[int, Callable[[list[str]], list[Any] | None]]] = MappingProxyType(
    {DECIMAL: decimals, DATE: dates}
)


def cast(items: Items, target: int, namespaces: Mapping[str, str] = NO_NAMES) -> Items:
    """Every atomic item as a value of type `target`, or the error that the casting table names."""
    if items.tag == target:
        return items
    if len(items) == 0:
        return empty_items()
    if items.tag == MIXED:
        return per_type(items, lambda part: cast(part, target, namespaces))
    if items.tag == NODE or items.tag in FUNCTIONS:
        raise error("XPTY0004", "a node or function must be atomised before it is cast")
    lazy = unread(items)
    if lazy is not None and target in (STRING, UNTYPED):
        return Items.text_of(*lazy, target)
    convert = converter(items.tag, target, namespaces)
    quick = _vectorised(items, target)
    if quick is not None:
        return Items(target, quick)
    return Items(target, array_of(target, [convert(value) for value in items.values.tolist()]))


def cast_value(tag: int, value: Any, target: int, namespaces: Mapping[str, str] = NO_NAMES) -> Any:
    """One value of type `tag` as a value of type `target`."""
    return value if tag == target else converter(tag, target, namespaces)(value)


def castable(items: Items, target: int, namespaces: Mapping[str, str] = NO_NAMES) -> Bools:
    """For every atomic item, whether `cast` would succeed."""
    if items.tag == MIXED:
        out = np.zeros(len(items), np.bool_)
        for tag in items.kinds():
            where = np.flatnonzero(items.all_tags() == tag)
            out[where] = castable(items.take(where), target, namespaces)
        return out
    if len(items) and not allowed(items.tag, target):
        return np.zeros(len(items), np.bool_)
    lazy = unread(items) if target == DOUBLE else None
    if lazy is not None:
        return lazy[0].doubles(lazy[1])[1]
    convert = converter(items.tag, target, namespaces) if len(items) else _same
    return np.array([_succeeds(convert, value) for value in items.values.tolist()], np.bool_)


def _same(value: Any) -> Any:
    return value


def _succeeds(convert: Callable[[Any], Any], value: Any) -> bool:
    try:
        convert(value)
    except Error:
        return False
    return True


def cast_numeric(items: Items) -> Items:
    """Every item as xs:numeric: numbers stay what they are, all else becomes xs:double."""

    def number(part: Items) -> Items:
        return part if derives(part.tag, DECIMAL) or part.tag == FLOAT else cast(part, DOUBLE)

    return per_type(items, number)


def per_type(items: Items, change: Callable[[Items], Items]) -> Items:
    """`change` applied to the items of each type together, the order kept."""
    kinds = sorted(items.kinds())
    if len(kinds) < 2:
        return change(items) if kinds else items
    tags = items.all_tags()
    groups = [np.flatnonzero(tags == tag) for tag in kinds]
    changed = Items.concat([change(items.take(where)) for where in groups])
    back = np.empty(len(items), np.int64)
    back[np.concatenate(groups)] = np.arange(len(items))
    return changed.take(back)


_WIDE: Final = float(1 << 62)  # doubles below it are integers of 64 bits when truncated


def _vectorised(items: Items, target: int) -> Array | None:
    """The cast without a loop where arrays can do it."""
    source, primitive = PRIMITIVE[items.tag], PRIMITIVE[target]
    if target in (STRING, UNTYPED):
        return strings(items)
    if source in (STRING, UNTYPED) and primitive == INTEGER:
        digits = integers(items.values.tolist())
        return None if digits is None else _within(target, np.array(digits, np.int64))
    if source in (STRING, UNTYPED) and target in _TOGETHER:
        made = _TOGETHER[target](items.values.tolist())
        return None if made is None else objects(made)
    if source == UNTYPED:
        return _numbers_of_nodes(items) if target == DOUBLE else None
    if items.values.dtype == object:
        return None
    if primitive == INTEGER and source == INTEGER:
        return _within(target, items.values)
    if source in (DOUBLE, FLOAT) and target == INTEGER:
        small = np.abs(items.values) < _WIDE  # neither infinite nor NaN, either
        return np.trunc(items.values).astype(np.int64) if small.all() else None
    if source in (INTEGER, DOUBLE, FLOAT) and primitive in (DOUBLE, FLOAT):
        with np.errstate(over="ignore", under="ignore"):
            wide = items.values.astype(np.float64)
            return wide if primitive == DOUBLE else wide.astype(np.float32).astype(np.float64)
    if source in (INTEGER, DOUBLE, FLOAT) and primitive == BOOLEAN:
        truth: Array = (items.values != 0) & (items.values == items.values)
        return truth
    return None


def _within(target: int, values: Array) -> Array:
    low, high = RANGE.get(target, (None, None))
    limits = np.iinfo(np.int64)
    out = (values < max(low, limits.min)) if low is not None else np.zeros(len(values), np.bool_)
    if high is not None and high <= limits.max:
        out |= values > high
    if out.any():
        raise invalid(target, int(values[out][0]))
    return values


def _numbers_of_nodes(items: Items) -> Array | None:
    lazy = unread(items)
    if lazy is None:
        return None
    values, valid = lazy[0].doubles(lazy[1])
    if not valid.all():
        first = items.take(np.flatnonzero(~valid)[:1]).values[0]
        raise invalid(DOUBLE, first)
    return values
