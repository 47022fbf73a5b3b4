"""What makes two keys of a map the same key: op:same-key, as a value that Python hashes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from xstreamcast.model.atomic import (
    ANY_URI,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    INTEGER,
    PRIMITIVE,
    STRING,
    UNTYPED,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.date_time import DateTime

_TEXT: Final = frozenset({STRING, UNTYPED, ANY_URI})
_NUMBERS: Final = frozenset({INTEGER, DECIMAL, FLOAT, DOUBLE})
_DURATIONS: Final = frozenset({DURATION, DAY_TIME_DURATION, YEAR_MONTH_DURATION})


def map_key(tag: int, value: Any) -> Hashable:
    """Equal for two atomic values exactly where they are the same key of a map.

    Numbers compare by their exact value whatever their type, NaN is itself; strings, URIs and
    untyped values compare as strings; a date with a time zone is never one without.
    """
    primitive = PRIMITIVE[tag]
    if primitive in _TEXT:
        return str(value)
    if primitive in _NUMBERS:
        return ("number", value if value == value else "NaN")
    if primitive in _DURATIONS:
        return ("duration", value)
    if isinstance(value, DateTime):
        return (primitive, value.offset is None, value.instant())
    return (primitive, value)
