"""Names, literals and references, as text."""

from __future__ import annotations

import math
from typing import Final, assert_never

from xstreamcast.syntax.tree import (
    DecimalLiteral,
    DoubleLiteral,
    IntegerLiteral,
    Name,
    NumericLiteral,
    StringLiteral,
)

_CHARACTERS: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", "{": "{{", "}": "}}", "\r": "&#xD;", ">": "&gt;"}
)
_VALUE: Final = _CHARACTERS | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})
_STRING: Final = str.maketrans({"&": "&amp;", '"': '""', "\r": "&#xD;"})
_ADDRESS: Final = str.maketrans({"&": "&amp;", "{": "&#123;", "}": "&#125;"})


def name(found: Name) -> str:
    """`a`, `p:a` or `Q{uri}a`."""
    if found.uri is not None:
        return braced(found.uri) + found.local
    return str(found)


def braced(uri: str) -> str:
    """`Q{uri}`."""
    return "Q{" + uri.translate(_ADDRESS) + "}"


def quoted(value: str) -> str:
    """A string literal."""
    return '"' + value.translate(_STRING) + '"'


def characters(value: str) -> str:
    """Text of an element; pure space is written so that it is no boundary space."""
    text = value.translate(_CHARACTERS)
    if value.strip(" \t\r\n"):
        return text
    return f"&#{ord(value[0])};" + value[1:].translate(_CHARACTERS)


def attribute_characters(value: str) -> str:
    """Text of an attribute; line ends are written so that they stay."""
    return value.translate(_VALUE)


def literal(found: StringLiteral | NumericLiteral) -> str:
    """A string or number that reads back as the same value of the same type."""
    match found:
        case StringLiteral(value):
            return quoted(value)
        case IntegerLiteral(integer):
            return str(integer)
        case DecimalLiteral(decimal):
            text = format(decimal, "f")
            return text if "." in text else text + ".0"
        case DoubleLiteral(double):
            text = "1e999" if math.isinf(double) else repr(double)
            return text if "e" in text else text + "e0"
        case _:
            assert_never(found)
