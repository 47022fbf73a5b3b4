"""Arithmetic of two lots of items, one for one: numbers here, dates and durations next door."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, Overflow
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import Error, error
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.functions.dates.arithmetic import span_arithmetic
from xstreamcast.functions.numbers.numeric import (
    common_type,
    divide,
    divide_integers,
    integer_array,
    is_numeric,
    promoted,
)
from xstreamcast.model.atomic import BY_TAG, DECIMAL, DOUBLE, FLOAT, INTEGER, MIXED, UNTYPED
from xstreamcast.model.column import distinct
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items, empty_items, objects
from xstreamcast.model.query_limits import exceeded, query_limits

if TYPE_CHECKING:
    Array = npt.NDArray[Any]

_BITS: Final = 3.3219  # in a decimal digit

Op = Literal["+", "-", "*", "div", "idiv", "mod"]


def arithmetic(op: Op, left: Items, right: Items) -> Items:
    """left[i] op right[i] for every i; untyped operands count as xs:double."""
    if len(left) == 0:
        return empty_items()
    left, right = as_operand(left), as_operand(right)
    if left.tag == MIXED or right.tag == MIXED:
        return _by_pairs(op, left, right)
    if not (is_numeric(left.tag) and is_numeric(right.tag)):
        return span_arithmetic(op, left, right)
    kind = common_type(left.tag, right.tag)
    return _NUMERIC[kind](op, promoted(left, kind), promoted(right, kind))


def negate(items: Items) -> Items:
    """Unary minus."""
    return per_type(as_operand(items), _negated)


def identity(items: Items) -> Items:
    """Unary plus: the number itself, or XPTY0004."""
    return per_type(as_operand(items), _number)


def _number(items: Items) -> Items:
    if not is_numeric(items.tag):
        raise unfit("+", items.tag)
    return items


def _negated(items: Items) -> Items:
    if not is_numeric(items.tag):
        raise unfit("-", items.tag)
    kind = common_type(items.tag, items.tag)
    if kind == INTEGER:
        zero = Items(INTEGER, np.zeros(len(items), np.int64))
        return arithmetic("-", zero, items)
    if kind == DECIMAL:
        return Items.of(
            DECIMAL, [value.copy_negate() if value else value for value in items.values.tolist()]
        )
    return Items(kind, -items.values)


def as_operand(items: Items) -> Items:
    """Items as an operand of arithmetic: untyped ones as xs:double."""
    if items.tag == UNTYPED:
        return cast(items, DOUBLE)
    if items.tag == MIXED and UNTYPED in items.kinds():
        return per_type(items, lambda part: cast(part, DOUBLE) if part.tag == UNTYPED else part)
    return items


def unfit(op: str, *tags: int) -> Error:
    """XPTY0004 for operands that the operator does not take."""
    names = " and ".join(f"xs:{BY_TAG[tag].name}" for tag in tags)
    return error("XPTY0004", f"{op} cannot be applied to {names}")


def _by_pairs(op: Op, left: Items, right: Items) -> Items:
    """Items of several types: one call for each pair of types that occurs."""
    pairs = left.all_tags().astype(np.int64) * 256 + right.all_tags()
    groups = [np.flatnonzero(pairs == pair) for pair in distinct(pairs)]
    if len(groups) == 1:
        return arithmetic(op, left.settled(), right.settled())
    parts = [arithmetic(op, left.take(at), right.take(at)) for at in groups]
    back = np.empty(len(left), np.int64)
    back[np.concatenate(groups)] = np.arange(len(left))
    return Items.concat(parts).take(back)


# -- xs:integer -----------------------------------------------------------------------------------


def _integers(op: Op, left: Array, right: Array) -> Items:
    if op in ("div", "idiv", "mod") and (right == 0).any():
        raise error("FOAR0001")
    if op == "div":
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return Items(DECIMAL, objects([divide_integers(a, b) for a, b in pairs]))
    if left.dtype == object or right.dtype == object or not _fits(op, left, right):
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return Items(INTEGER, integer_array([_exact(op, a, b) for a, b in pairs]))
    return Items(INTEGER, _INT64[op](left, right))


def _exact(op: Op, a: int, b: int) -> int:
    """The integer, unless it has more digits than an integer may have."""
    if op == "*" and a.bit_length() + b.bit_length() > query_limits().max_digits * _BITS:
        most = query_limits().max_digits
        raise exceeded("max_digits", f"an integer has more than {most:,} digits", "FOAR0002")
    return _EXACT[op](a, b)


def _fits(op: Op, left: Array, right: Array) -> bool:
    """Whether int64 is wide enough for all results; bounds are tried first, they are cheap."""
    a, b = _largest(left), _largest(right)
    if op == "*":
        return a * b < 2**63
    return a + b < 2**63 if op in ("+", "-") else a < 2**63


def _largest(values: Array) -> int:
    return max(int(values.max()), -int(values.min()))


def _quotient(left: Array, right: Array) -> Array:
    # Floor division, moved towards zero where the signs differ and something is left over.
    quotient = left // right
    moved: Array = quotient + ((quotient < 0) & (quotient * right != left))
    return moved


_INT64: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "idiv": _quotient,
    "mod": np.fmod,
}
_EXACT: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "idiv": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "mod": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}


# -- xs:decimal -----------------------------------------------------------------------------------


def _decimals(op: Op, left: Array, right: Array) -> Items:
    try:
        results = [_decimal(op, a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    except Overflow:
        raise error("FOAR0002") from None
    if op == "idiv":
        return Items(INTEGER, integer_array(results))
    return Items(DECIMAL, objects(results))


def _decimal(op: Op, a: Decimal, b: Decimal) -> Any:
    if op in ("div", "idiv", "mod") and b == 0:
        raise error("FOAR0001")
    match op:
        case "+":
            return EXACT.add(a, b)
        case "-":
            return EXACT.subtract(a, b)
        case "*":
            return EXACT.multiply(a, b)
        case "div":
            return divide(a, b)
        case "idiv":
            return int(EXACT.divide_int(a, b))
        case "mod":
            return EXACT.remainder(a, b)


# -- xs:float and xs:double -----------------------------------------------------------------------


def _doubles(op: Op, left: Array, right: Array) -> Items:
    if op == "idiv":
        return _integer_quotients(left, right, np.divide)
    return Items(DOUBLE, _floating(op, left, right))


def _singles(op: Op, left: Array, right: Array) -> Items:
    # One operation on two singles, done in doubles and rounded, is the correctly rounded single.
    if op == "idiv":
        return _integer_quotients(left, right, _single_quotient)
    with np.errstate(all="ignore"):
        single = _floating(op, left, right).astype(np.float32).astype(np.float64)
    return Items(FLOAT, single)


def _single_quotient(left: Array, right: Array) -> Array:
    return (left / right).astype(np.float32).astype(np.float64)


_FLOATING: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "div": np.divide,
    "mod": np.fmod,
}


def _floating(op: Op, left: Array, right: Array) -> Array:
    with np.errstate(all="ignore"):
        return _FLOATING[op](left, right)


_WIDE: Final = float(1 << 62)  # doubles below it are integers of 64 bits when truncated


def _integer_quotients(
    left: Array, right: Array, quotient: Callable[[Array, Array], Array]
) -> Items:
    if (right == 0).any():
        raise error("FOAR0001")
    with np.errstate(all="ignore"):
        ratio = quotient(left, right)
    if not (np.isfinite(left) & ~np.isnan(right) & np.isfinite(ratio)).all():
        raise error("FOAR0002")
    whole = np.trunc(ratio)
    if (np.abs(whole) < _WIDE).all():
        return Items(INTEGER, whole.astype(np.int64))
    return Items(INTEGER, integer_array([math.trunc(value) for value in ratio.tolist()]))


_NUMERIC: Final[dict[int, Callable[[Op, Array, Array], Items]]] = {
    INTEGER: _integers,
    DECIMAL: _decimals,
    DOUBLE: _doubles,
    FLOAT: _singles,
}
