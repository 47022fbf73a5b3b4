"""Value comparison of two lots of items, one for one: eq ne lt le gt ge."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import Error, error
from xstreamcast.functions.cast.calendar import CALENDAR
from xstreamcast.functions.numbers.numeric import RANK, common_type, promoted
from xstreamcast.functions.unread import unread
from xstreamcast.model.atomic import (
    ANY_URI,
    ATOMIC,
    BASE64_BINARY,
    BOOLEAN,
    BY_TAG,
    DATE,
    DATE_TIME,
    DAY_TIME_DURATION,
    DECIMAL,
    DURATION,
    HEX_BINARY,
    INTEGER,
    MIXED,
    PRIMITIVE,
    QNAME,
    STRING,
    TIME,
    UNTYPED,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.column import distinct
from xstreamcast.model.items import Items, objects

if TYPE_CHECKING:
    Array = npt.NDArray[Any]
    Bools = npt.NDArray[np.bool_]

Op = Literal["eq", "ne", "lt", "le", "gt", "ge"]

_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
SWAPPED: Final[dict[Op, Op]] = {
    "eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"
}  # fmt: skip

# Types whose values compare with each other share a family.
FAMILY: Final[dict[int, int]] = {
    **{tag: PRIMITIVE[tag] for tag in BY_TAG},
    **{tag: STRING for tag in BY_TAG if PRIMITIVE[tag] in (STRING, UNTYPED, ANY_URI)},
    **{tag: ATOMIC["double"].tag for tag in BY_TAG if PRIMITIVE[tag] in RANK},
    **dict.fromkeys((DURATION, DAY_TIME_DURATION, YEAR_MONTH_DURATION), DURATION),
}
NUMBER: Final = ATOMIC["double"].tag
_ORDERED: Final = frozenset(
    {STRING, NUMBER, BOOLEAN, DATE_TIME, DATE, TIME, HEX_BINARY, BASE64_BINARY}
)
_FAR: Final = 1 << 62
_NOTATION: Final = ATOMIC["NOTATION"].tag


def value_compare(op: Op, left: Items, right: Items, timezone: int = 0) -> Bools:
    """left[i] op right[i] for every i; untyped values count as strings.

    `timezone` (minutes) is the default of dates and times. Not comparable → XPTY0004.
    """
    if len(left) == 0:
        return np.zeros(0, np.bool_)
    if left.tag == MIXED or right.tag == MIXED:
        return by_pairs(left, right, lambda a, b: value_compare(op, a, b, timezone))
    family = comparable(op, left.tag, right.tag)
    if family == STRING:
        return compare_text(op, left, right)
    if family == NUMBER:
        quick = _integers_beside_decimal(op, left, right)
        if quick is not None:
            return quick
        kind = common_type(left.tag, right.tag)
        return compare_arrays(op, promoted(left, kind), promoted(right, kind))
    return compare_arrays(op, ordinals(left, timezone), ordinals(right, timezone))


def _integers_beside_decimal(op: Op, left: Items, right: Items) -> Bools | None:
    """Integers against one decimal: against the integer next to it, so that none is converted."""
    if PRIMITIVE[left.tag] == DECIMAL and PRIMITIVE[right.tag] == INTEGER:
        left, right, op = right, left, SWAPPED[op]
    if PRIMITIVE[left.tag] != INTEGER or PRIMITIVE[right.tag] != DECIMAL:
        return None
    fixed = constant(right)
    if fixed is None or left.values.dtype == object or abs(fixed) > _FAR:
        return None
    whole = int(fixed)
    if whole == fixed:
        return compare_arrays(op, left.values, np.int64(whole))  # type: ignore[arg-type]
    if op in ("eq", "ne"):
        return np.full(len(left), op == "ne", np.bool_)
    above = whole + (fixed > whole)
    found: Bools = left.values < above if op in ("lt", "le") else left.values >= above
    return found


def comparable(op: Op, left: int, right: int) -> int:
    """The family in which the operator compares the two types, or XPTY0004."""
    family = FAMILY.get(left)
    if family is None or family != FAMILY.get(right):
        raise _unfit(op, left, right)
    if op in ("eq", "ne") or family in _ORDERED:
        return family
    if PRIMITIVE[left] == PRIMITIVE[right] in (DAY_TIME_DURATION, YEAR_MONTH_DURATION):
        return family
    raise _unfit(op, left, right)


def _unfit(op: str, *tags: int) -> Error:
    names = " and ".join(f"xs:{BY_TAG[tag].name}" if tag in BY_TAG else "a node" for tag in tags)
    return error("XPTY0004", f"{op} cannot compare {names}")


def compare_arrays(op: Op, left: Array, right: Array) -> Bools:
    """The comparison of two arrays as numpy or Python does it."""
    result: Bools = _COMPARE[op](left, right)
    return result if result.dtype == np.bool_ else result.astype(np.bool_)


def compare_text(op: Op, left: Items, right: Items) -> Bools:
    """Strings by codepoint; node values against one constant are compared in place."""
    if op in ("eq", "ne"):
        for lazy, other in ((unread(left), constant(right)), (unread(right), constant(left))):
            if lazy is not None and other is not None:
                same = lazy[0].equals(lazy[1], other.encode("utf-8", "surrogatepass"))
                return same if op == "eq" else ~same
    return compare_arrays(op, left.values, right.values)


def constant(items: Items) -> Any | None:
    """The value that all items share because they are one item repeated."""
    if items.nodes is not None or items.tag == MIXED or len(items) == 0:
        return None
    repeated = len(items) == 1 or items.values.strides[0] == 0
    return items.values[0] if repeated else None


def ordinals(items: Items, timezone: int = 0) -> Array:
    """Values of one type, replaced by others that Python compares as XQuery compares these."""
    primitive = PRIMITIVE[items.tag]
    if primitive in CALENDAR:
        return objects([value.instant(timezone) for value in items.values.tolist()])
    if FAMILY[primitive] == DURATION:
        # Ordered only among values with one part, where the pair orders as that part does.
        return _tuples([(value.months, value.seconds) for value in items.values.tolist()])
    if primitive in (QNAME, _NOTATION):
        return _tuples([(value.uri, value.local) for value in items.values.tolist()])
    return items.values


def _tuples(pairs: list[tuple[Any, Any]]) -> Array:
    out = np.empty(len(pairs), object)
    for i, pair in enumerate(pairs):
        out[i] = pair
    return out


def by_pairs(left: Items, right: Items, compare: Callable[[Items, Items], Bools]) -> Bools:
    """Items of several types: one call for each pair of types that occurs."""
    pairs = left.all_tags().astype(np.int64) * 256 + right.all_tags()
    out = np.empty(len(left), np.bool_)
    for pair in distinct(pairs):
        at = np.flatnonzero(pairs == pair)
        out[at] = compare(left.take(at), right.take(at))
    return out
