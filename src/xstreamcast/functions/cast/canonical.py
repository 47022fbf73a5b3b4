"""From values to text: the canonical string form of every atomic type."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import error
from xstreamcast.functions.cast.calendar import CALENDAR, calendar_text
from xstreamcast.model.atomic import (
    ANY_URI,
    ATOMIC,
    BASE64_BINARY,
    BOOLEAN,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    FUNCTIONS,
    HEX_BINARY,
    INTEGER,
    MIXED,
    PRIMITIVE,
    QNAME,
    STRING,
    UNTYPED,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.items import objects

if TYPE_CHECKING:
    from xstreamcast.model.duration import Duration
    from xstreamcast.model.items import Items

_TEXTS: Final = frozenset({STRING, UNTYPED, ANY_URI})
_MANY_BITS: Final = 13_000  # Python refuses to write longer integers in one go


def string_value(tag: int, value: Any) -> str:
    """The value as xs:string."""
    return _writer(tag)(value)


def strings(items: Items) -> npt.NDArray[Any]:
    """Every (atomic) item as xs:string, in an object array."""
    if PRIMITIVE.get(items.tag) in _TEXTS:
        return items.values
    if items.tag == MIXED:
        return objects([string_value(tag, value) for tag, value in items.pairs()])
    if len(items) == 0:
        return np.empty(0, object)
    return objects(list(map(_writer(items.tag), items.values.tolist())))


def integer_text(value: int) -> str:
    """xs:integer"""
    return str(value) if value.bit_length() < _MANY_BITS else format(Decimal(value), "f")


def decimal_text(value: Decimal) -> str:
    """xs:decimal: no exponent, no trailing zeros, no point where none is needed."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def double_text(value: float) -> str:
    """xs:double: plain from 1e-6 up to 1e6, else with exponent."""
    text = repr(value)
    if 1e-3 <= abs(value) < 1e6:
        return text.removesuffix(".0")  # the code below has the same result, but is slower
    return _floating(value, text)


def single_text(value: float) -> str:
    """xs:float: the shortest digits that denote the same xs:float."""
    if math.isnan(value) or math.isinf(value) or value == 0:
        return _floating(value, "")
    return _floating(value, np.format_float_scientific(np.float32(value), unique=True))


def _floating(value: float, shortest: str) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    exact = Decimal(shortest)
    if Decimal("1e-6") <= abs(exact) < Decimal("1e6"):
        return decimal_text(exact)
    sign, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    exponent += len(text) - 1
    return f"{'-' if sign else ''}{text[0]}.{text[1:].rstrip('0') or '0'}E{exponent}"


def _months_text(value: Duration) -> str:
    return str(value) if value.months else "P0M"


def _no_text(value: object) -> str:
    raise error("FOTY0014")


_WRITERS: Final[dict[int, Callable[[Any], str]]] = {
    **dict.fromkeys(_TEXTS, str),
    BOOLEAN: lambda value: "true" if value else "false",
    INTEGER: integer_text,
    DECIMAL: decimal_text,
    DOUBLE: double_text,
    FLOAT: single_text,
    DURATION: str,
    DAY_TIME_DURATION: str,
    YEAR_MONTH_DURATION: _months_text,
    HEX_BINARY: lambda value: value.hex().upper(),
    BASE64_BINARY: lambda value: base64.b64encode(value).decode("ascii"),
    QNAME: str,
    ATOMIC["NOTATION"].tag: str,
    **dict.fromkeys(FUNCTIONS, _no_text),
}


def _calendar_writer(tag: int) -> Callable[[Any], str]:
    return lambda value: calendar_text(tag, value)


_WRITERS.update({tag: _calendar_writer(tag) for tag in CALENDAR})


def _writer(tag: int) -> Callable[[Any], str]:
    return _WRITERS[PRIMITIVE.get(tag, tag)]
