"""The math namespace: exponentials, logarithms, trigonometry, on doubles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast
from xstreamcast.functions.registry import function
from xstreamcast.model.atomic import DOUBLE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Array = npt.NDArray[Any]


@function("math:pi() as xs:double")
def pi(call: CallContext) -> Column:
    """π"""
    return Column(Items(DOUBLE, np.full(call.n, math.pi)))


def _row(name: str, formula: Callable[[Array], Array], doc: str) -> None:
    def body(call: CallContext, arg: Column) -> Column:
        with np.errstate(all="ignore"):
            return arg.with_items(Items(DOUBLE, formula(arg.items.values.astype(np.float64))))

    function(f"math:{name}($arg as xs:double?) as xs:double?", doc=doc)(body)


def _exp10(values: Array) -> Array:
    return np.array([_power(10.0, value) for value in values.tolist()], np.float64)


def _power(base: float, exponent: float) -> float:
    """C's pow, with infinities in the place of Python's exceptions."""
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(base), np.float64(exponent)))


_row("exp", np.exp, "e to the power of the argument.")
_row("exp10", _exp10, "10 to the power of the argument.")
_row("log", np.log, "The natural logarithm.")
_row("log10", np.log10, "The logarithm to base 10.")
_row("sqrt", np.sqrt, "The square root that is not negative.")
_row("sin", np.sin, "The sine of an angle in radians.")
_row("cos", np.cos, "The cosine of an angle in radians.")
_row("tan", np.tan, "The tangent of an angle in radians.")
_row("asin", np.arcsin, "The angle in radians whose sine is the argument.")
_row("acos", np.arccos, "The angle in radians whose cosine is the argument.")
_row("atan", np.arctan, "The angle in radians whose tangent is the argument.")


@function("math:pow($x as xs:double?, $y as xs:numeric) as xs:double?")
def pow_(call: CallContext, x: Column, y: Column) -> Column:
    """The first argument to the power of the second."""
    exponents = cast(y.items, DOUBLE).values[x.rows()] if len(x.items) else np.empty(0)
    with np.errstate(all="ignore"):
        return x.with_items(Items(DOUBLE, np.power(x.items.values.astype(np.float64), exponents)))


@function("math:atan2($y as xs:double, $x as xs:double) as xs:double")
def atan2(call: CallContext, y: Column, x: Column) -> Column:
    """The angle in radians from the positive x axis to the point (x, y)."""
    return Column(Items(DOUBLE, np.arctan2(y.items.values, x.items.values)))
