"""Rounding, absolute values and fn:number."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import Error
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.functions.cast.convert import converter
from xstreamcast.functions.cast.lexical import to_single
from xstreamcast.functions.numbers.numeric import integer_array
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import column_of
from xstreamcast.functions.unread import unread
from xstreamcast.model.atomic import DECIMAL, DOUBLE, FLOAT, INTEGER, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items, objects

if TYPE_CHECKING:
    Array = npt.NDArray[Any]

_MANY: Final = 1100  # no double has a digit so far from the point
_USUAL: Final = 40  # digits up to which a number is rounded without a look at how many it has


@function("fn:abs($arg as xs:numeric?) as xs:numeric?")
def abs_(call: CallContext, arg: Column) -> Column:
    """The number without its sign."""
    return arg.with_items(per_type(arg.items, _absolute))


def _absolute(items: Items) -> Items:
    primitive = PRIMITIVE[items.tag]
    if primitive == INTEGER and items.values.dtype != object and items.values.min() == -(2**63):
        return Items.of(INTEGER, [abs(value) for value in items.values.tolist()])
    if primitive == DECIMAL:
        return Items.of(DECIMAL, [value.copy_abs() for value in items.values.tolist()])
    return Items(primitive, np.abs(items.values))


@function("fn:ceiling($arg as xs:numeric?) as xs:numeric?")
def ceiling(call: CallContext, arg: Column) -> Column:
    """The smallest integer that is not below the argument."""
    return arg.with_items(per_type(arg.items, lambda part: _whole(part, np.ceil, math.ceil)))


@function("fn:floor($arg as xs:numeric?) as xs:numeric?")
def floor(call: CallContext, arg: Column) -> Column:
    """The largest integer that is not above the argument."""
    return arg.with_items(per_type(arg.items, lambda part: _whole(part, np.floor, math.floor)))


def _whole(items: Items, fast: Callable[[Array], Array], exact: Callable[[Decimal], int]) -> Items:
    primitive = PRIMITIVE[items.tag]
    if primitive == INTEGER:
        return Items(INTEGER, items.values)
    if primitive == DECIMAL:
        return Items.of(DECIMAL, [Decimal(exact(value)) for value in items.values.tolist()])
    return Items(primitive, fast(items.values))


@function("fn:round($arg as xs:numeric?) as xs:numeric?")
def round_(call: CallContext, arg: Column) -> Column:
    """The nearest integer; halfway cases are rounded up."""
    return arg.with_items(per_type(arg.items, _rounded_whole))


def _rounded_whole(items: Items) -> Items:
    primitive = PRIMITIVE[items.tag]
    if primitive in (FLOAT, DOUBLE):
        low = np.floor(items.values)
        with np.errstate(invalid="ignore"):
            up = low + (items.values - low >= 0.5)
        whole = np.where(np.isfinite(items.values), up, items.values)
        return Items(primitive, np.copysign(whole, items.values))  # -0.4 becomes negative zero
    return _rounded(items, [0] * len(items), _half_up)


@function("fn:round($arg as xs:numeric?, $precision as xs:integer) as xs:numeric?")
def round_to(call: CallContext, arg: Column, precision: Column) -> Column:
    """The nearest number with so many digits after the point; halfway cases go up."""
    return _to_precision(arg, precision, _half_up)


@function("fn:round-half-to-even($arg as xs:numeric?) as xs:numeric?")
def round_half_to_even(call: CallContext, arg: Column) -> Column:
    """The nearest integer; halfway cases are rounded to the even one."""
    return _to_precision(arg, column_of(INTEGER, [0] * call.n), _half_even)


@function("fn:round-half-to-even($arg as xs:numeric?, $precision as xs:integer) as xs:numeric?")
def round_half_to_even_to(call: CallContext, arg: Column, precision: Column) -> Column:
    """The nearest number with so many digits after the point; halfway cases go to the even one."""
    return _to_precision(arg, precision, _half_even)


Rounding = Callable[[Decimal, int], Decimal]


def _to_precision(arg: Column, precision: Column, rounding: Rounding) -> Column:
    digits = precision.items.values[arg.rows()].tolist()
    place = iter(digits)
    if arg.items.tags is None:
        return arg.with_items(_rounded(arg.items, digits, rounding) if digits else arg.items)
    single = [
        _rounded(arg.items.slice(i, i + 1), [next(place)], rounding) for i in range(len(digits))
    ]
    return arg.with_items(Items.concat(single))


def _rounded(items: Items, digits: list[int], rounding: Rounding) -> Items:
    primitive = PRIMITIVE[items.tag]
    pairs = zip(items.values.tolist(), digits, strict=True)
    if primitive == INTEGER:
        return Items(INTEGER, integer_array([_integer(v, d, rounding) for v, d in pairs]))
    if primitive == DECIMAL:
        return Items(DECIMAL, objects([_decimal(v, d, rounding) for v, d in pairs]))
    values = [_floating(v, d, rounding) for v, d in pairs]
    return Items.of(primitive, [to_single(v) for v in values] if primitive == FLOAT else values)


def _half_up(value: Decimal, digits: int) -> Decimal:
    """To the nearest, halves towards positive infinity."""
    rounding = ROUND_HALF_UP if value >= 0 else "ROUND_HALF_DOWN"
    return value.quantize(_unit(digits), rounding, EXACT)


def _half_even(value: Decimal, digits: int) -> Decimal:
    return value.quantize(_unit(digits), ROUND_HALF_EVEN, EXACT)


@lru_cache(maxsize=64)
def _unit(digits: int) -> Decimal:
    """1 at the last of so many digits after the point."""
    return Decimal(1).scaleb(-digits, EXACT)


def _integer(value: int, digits: int, rounding: Rounding) -> int:
    return value if digits >= 0 else int(_decimal(Decimal(value), digits, rounding))


def _decimal(value: Decimal, digits: int, rounding: Rounding) -> Decimal:
    if 0 <= digits <= _USUAL and value.adjusted() < _USUAL:
        return rounding(value, digits)  # at worst the same number with more zeros
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if digits >= -exponent:
        return value
    if -digits > value.adjusted() + 2:
        return Decimal(0)
    return rounding(value, digits)


def _floating(value: float, digits: int, rounding: Rounding) -> float:
    """By way of the exact decimal value, as specified; the sign of zero is kept."""
    if not math.isfinite(value) or value == 0 or digits > _MANY:
        return value
    return math.copysign(float(_decimal(Decimal(value), digits, rounding)), value)


@function("fn:number() as xs:double", focus=True)
def number_of_context(call: CallContext) -> Column:
    """The context item as xs:double, NaN if it is none."""
    return number(call, atomize(call, call.context_item()))


@function("fn:number($arg as xs:anyAtomicType?) as xs:double")
def number(call: CallContext, arg: Column) -> Column:
    """The argument as xs:double, NaN if it is none."""
    out = np.full(arg.n, math.nan)
    out[arg.rows()] = per_type(arg.items, _numbers).values
    return Column(Items(DOUBLE, out))


def _numbers(items: Items) -> Items:
    lazy = unread(items)
    if lazy is not None:
        values, valid = lazy[0].doubles(lazy[1])
        return Items(DOUBLE, np.where(valid, values, math.nan))
    if PRIMITIVE[items.tag] in (INTEGER, DECIMAL, FLOAT, DOUBLE):
        return cast(items, DOUBLE)
    return Items.of(DOUBLE, [_number(items.tag, value) for value in items.values.tolist()])


def _number(tag: int, value: Any) -> float:
    try:
        result: float = converter(tag, DOUBLE, {})(value)
    except Error:
        return math.nan
    return result
