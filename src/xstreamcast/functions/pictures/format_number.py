"""fn:format-number."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Any

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast.convert import split_qname
from xstreamcast.functions.cast.facets import collapse
from xstreamcast.functions.decimal_format import DecimalFormat
from xstreamcast.functions.pictures.number_picture import SubPicture, parse_picture
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import one_or, text
from xstreamcast.model.column import Column
from xstreamcast.model.exact import EXACT

_parsed = lru_cache(256)(parse_picture)


@function("fn:format-number($value as xs:numeric?, $picture as xs:string) as xs:string")
def format_number(call: CallContext, value: Column, picture: Column) -> Column:
    """The number formatted by a picture, in the default decimal format."""
    using = call.static.decimal_formats.get(None) or DecimalFormat()
    pairs = zip(one_or(value, math.nan), one_or(picture), strict=True)
    return text(write(number, how, using) for number, how in pairs)


@function(
    "fn:format-number($value as xs:numeric?, $picture as xs:string, "
    "$decimal-format-name as xs:string?) as xs:string"
)
def format_number_named(call: CallContext, value: Column, picture: Column, name: Column) -> Column:
    """The number formatted by a picture, in a decimal format of the prolog."""
    rows = zip(one_or(value, math.nan), one_or(picture), one_or(name), strict=True)
    return text(write(number, how, _format(call, name)) for number, how, name in rows)


def _format(call: CallContext, name: str | None) -> DecimalFormat:
    formats = call.static.decimal_formats
    if name is None:
        return formats.get(None) or DecimalFormat()
    found = formats.get(_expanded(call, collapse(name)))
    if found is None:
        raise error("FODF1280", f"the decimal format {name} is not declared")
    return found


def _expanded(call: CallContext, name: str) -> tuple[str, str]:
    if name.startswith("Q{") and "}" in name:
        uri, _, local = name[2:].partition("}")
        return uri, local
    parts = split_qname(name)
    bound = {**call.static.namespaces, "": ""}
    if parts is None or parts[0] not in bound:
        raise error("FODF1280", f"{name} is not the name of a decimal format")
    return bound[parts[0]], parts[1]


def write(number: Any, picture: str, using: DecimalFormat) -> str:
    """A number (int, Decimal or float) in a picture."""
    positive, negative = _parsed(picture, using)
    if isinstance(number, float) and math.isnan(number):
        return using.nan
    minus = math.copysign(1, number) < 0 if isinstance(number, float) else number < 0
    sub = negative if minus else positive
    sign = using.minus_sign if minus and negative is positive else ""
    # A double scaled by the percent sign may leave the range of doubles.
    if isinstance(number, float) and math.isinf(number * 10**sub.shift):
        return f"{sign}{sub.prefix}{using.infinity}{sub.suffix}"
    size = Decimal(repr(number) if isinstance(number, float) else number).copy_abs()
    return f"{sign}{sub.prefix}{_digits(size.scaleb(sub.shift, EXACT), sub, using)}{sub.suffix}"


def _digits(size: Decimal, sub: SubPicture, using: DecimalFormat) -> str:
    power = 0
    if sub.least_exponent:
        power = 0 if size == 0 else size.adjusted() + 1 - sub.scaling
        size = size.scaleb(-power, EXACT)
    size = size.quantize(Decimal(1).scaleb(-sub.most_fraction), ROUND_HALF_EVEN, EXACT)
    integer, _, fraction = format(size, "f").partition(".")
    integer = integer.lstrip("0").rjust(sub.least_integer, "0")
    fraction = fraction.rstrip("0").ljust(sub.least_fraction, "0")
    out = _local(_grouped(integer, sub), using)
    if fraction:
        out += using.decimal_separator + _local(_split(fraction, sub.fraction_groups), using)
    return out + (_exponent(power, sub, using) if sub.least_exponent else "")


def _exponent(power: int, sub: SubPicture, using: DecimalFormat) -> str:
    digits = str(abs(power)).rjust(sub.least_exponent, "0")
    sign = using.minus_sign if power < 0 else ""
    return using.exponent_separator + sign + _local(digits, using)


def _grouped(integer: str, sub: SubPicture) -> str:
    """Separators (as commas) counted from the point to the left."""
    places = range(sub.regular, len(integer), sub.regular) if sub.regular else sub.groups
    return _split(integer[::-1], tuple(places))[::-1]


def _split(digits: str, places: tuple[int, ...]) -> str:
    out, last = [], 0
    for place in places:
        if place < len(digits):
            out.append(digits[last:place])
            last = place
    return ",".join([*out, digits[last:]])


def _local(digits: str, using: DecimalFormat) -> str:
    """ASCII digits and commas in the signs of the format."""
    zero = ord(using.zero_digit)
    signs = (using.grouping_separator if s == "," else chr(zero + int(s)) for s in digits)
    return "".join(signs)
