"""Numbers: promotion to a common type and exact decimal arithmetic."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.functions.cast import cast
from xstreamcast.model.atomic import DECIMAL, DOUBLE, FLOAT, INTEGER, PRIMITIVE
from xstreamcast.model.exact import EXACT

if TYPE_CHECKING:
    from xstreamcast.model.items import Items

    Array = npt.NDArray[Any]

_SCALE: Final = 18  # digits after the point that a division keeps at least
_UNIT: Final = 10**_SCALE

RANK: Final = {INTEGER: 0, DECIMAL: 1, FLOAT: 2, DOUBLE: 3}


def is_numeric(tag: int) -> bool:
    """Whether the type is xs:numeric or derived from one."""
    return PRIMITIVE.get(tag) in RANK


def common_type(left: int, right: int) -> int:
    """The type both are promoted to: integer, decimal, float, double in this order."""
    return max(PRIMITIVE[left], PRIMITIVE[right], key=RANK.__getitem__)


def promoted(items: Items, target: int) -> Array:
    """The values as an array of the common type."""
    if PRIMITIVE[items.tag] == target:
        return items.values
    return cast(items, target).values


def scale_of(value: Decimal) -> int:
    """Digits after the point, trailing zeros not counted."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent >= 0:
        return 0
    exponent = value.normalize(EXACT).as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)


def divide(left: Decimal, right: Decimal) -> Decimal:
    """The quotient with 18 digits after the point, and more where the dividend has more."""
    scale = _SCALE + max(0, scale_of(left) - scale_of(right))
    return divide_to(left, right, scale, ROUND_HALF_DOWN)


def divide_integers(left: int, right: int) -> Decimal:
    """The quotient of two integers with 18 digits after the point."""
    return Decimal(_quotient(left * _UNIT, right, ROUND_HALF_DOWN)).scaleb(-_SCALE, EXACT)


def divide_to(left: Decimal, right: Decimal, scale: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    """The quotient rounded once, to `scale` digits after the point."""
    above, below = left.as_integer_ratio()
    by, over = right.as_integer_ratio()
    numerator, denominator = above * over * 10**scale, below * by
    return Decimal(_quotient(numerator, denominator, rounding)).scaleb(-scale, EXACT)


def _quotient(numerator: int, denominator: int, rounding: str) -> int:
    """The integer nearest to the quotient, or towards zero."""
    whole, rest = divmod(abs(numerator), abs(denominator))
    twice, size = 2 * rest, abs(denominator)
    if rounding != ROUND_DOWN:
        whole += twice > size or (twice == size and rounding == ROUND_HALF_UP)
    return whole if (numerator < 0) == (denominator < 0) else -whole


def integer_array(values: list[int]) -> Array:
    """Integers in the array that holds them: int64 if they fit."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array(values, object)
