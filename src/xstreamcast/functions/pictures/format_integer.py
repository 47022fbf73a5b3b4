"""fn:format-integer."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast.canonical import integer_text
from xstreamcast.functions.pictures.numerals import (
    DigitPattern,
    digit_pattern,
    is_digit,
    numeral,
    ordinal_suffix,
)
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import one_or, text
from xstreamcast.model.column import Column

_MODIFIER: Final = re.compile(r"(?:(?P<kind>[co])(?:\([^()]+\))?)?[at]?")
_PLAIN: Final = DigitPattern(ord("0"), 1, (), 1)


class IntegerPicture(NamedTuple):
    """How to write integers: by digits, or by the token of another numbering."""

    digits: DigitPattern
    token: str | None
    ordinal: bool

    def write(self, number: int) -> str:
        """The integer in this picture."""
        sign, size = "-" if number < 0 else "", abs(number)
        other = numeral(size, self.token, self.ordinal) if self.token else None
        if other is not None:
            return sign + other
        suffix = ordinal_suffix(size) if self.ordinal else ""
        return sign + self.digits.write(integer_text(size)) + suffix


@lru_cache(256)
def integer_picture(picture: str) -> IntegerPicture:
    """The picture as read: a primary format token, then ; and a modifier."""
    token, semicolon, modifier = picture.rpartition(";")
    if not semicolon:
        token, modifier = picture, ""
    match = _MODIFIER.fullmatch(modifier)
    if not token or match is None:
        raise error("FODF1310", f'"{picture}" is not a valid picture of an integer')
    ordinal = match["kind"] == "o"
    if any(map(is_digit, token)):
        return IntegerPicture(digit_pattern(token), None, ordinal)
    return IntegerPicture(_PLAIN, token, ordinal)


@function("fn:format-integer($value as xs:integer?, $picture as xs:string) as xs:string")
def format_integer(call: CallContext, value: Column, picture: Column) -> Column:
    """The integer formatted by a picture: digits, letters, Roman numerals or words."""
    pairs = zip(one_or(value), one_or(picture), strict=True)
    return text(
        "" if number is None else integer_picture(how).write(number) for number, how in pairs
    )


@function(
    "fn:format-integer($value as xs:integer?, $picture as xs:string, $lang as xs:string?) "
    "as xs:string"
)
def format_integer_in(
    call: CallContext, value: Column, picture: Column, language: Column
) -> Column:
    """The integer formatted by a picture, in English regardless of the requested language."""
    return format_integer(call, value, picture)
