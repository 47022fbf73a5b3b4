"""What derived types add to their primitive: whitespace, patterns, ranges of integers."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.errors import Error, error
from xstreamcast.model.atomic import ATOMIC, BY_TAG
from xstreamcast.model.xml_names import NAME, NCNAME, NMTOKEN, NamePattern

SPACE: Final = " \t\r\n"
_RUNS: Final = re.compile(r"[ \t\r\n]+")
_ONE: Final = re.compile(r"[\t\r\n]")

_SUBTAGS: Final = r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*"
LANGUAGE: Final = NamePattern(_SUBTAGS, _SUBTAGS)

_PATTERNS: Final[dict[str, NamePattern]] = {
    "language": LANGUAGE,
    "NMTOKEN": NMTOKEN,
    "Name": NAME,
    "NCName": NCNAME,
    "ID": NCNAME,
    "IDREF": NCNAME,
    "ENTITY": NCNAME,
}
PATTERN: Final = {ATOMIC[name].tag: pattern for name, pattern in _PATTERNS.items()}

_RANGES: Final[dict[str, tuple[int | None, int | None]]] = {
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "nonNegativeInteger": (0, None),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
    "positiveInteger": (1, None),
}
RANGE: Final = {ATOMIC[name].tag: bounds for name, bounds in _RANGES.items()}
_STRING: Final = ATOMIC["string"].tag
_NORMALIZED: Final = ATOMIC["normalizedString"].tag
_UNTYPED: Final = ATOMIC["untypedAtomic"].tag


def collapse(text: str) -> str:
    """Runs of white space become one blank; none at the ends."""
    if _RUNS.search(text) is None:
        return text
    return _RUNS.sub(" ", text.strip(SPACE))


def invalid(tag: int, text: object) -> Error:
    """FORG0001 for a value that the type does not have."""
    shown = text if isinstance(text, int) else f'"{text}"'
    return error("FORG0001", f"{shown} is not a valid xs:{BY_TAG[tag].name}")


def as_string_type(tag: int, text: str) -> str:
    """The value of a type derived from xs:string."""
    if tag in (_STRING, _UNTYPED):
        return text
    if tag == _NORMALIZED:
        return _ONE.sub(" ", text)
    text = collapse(text)
    pattern = PATTERN.get(tag)
    if pattern is not None and not pattern.fullmatch(text):
        raise invalid(tag, text)
    return text


def in_range(tag: int, value: int) -> bool:
    """Whether an integer belongs to the (derived) integer type."""
    low, high = RANGE.get(tag, (None, None))
    return (low is None or value >= low) and (high is None or value <= high)
