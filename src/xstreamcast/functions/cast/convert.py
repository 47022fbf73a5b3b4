"""The casting table of F&O 3.1, section 19: which primitive becomes which, and how."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from xstreamcast.errors import error
from xstreamcast.functions.cast.calendar import CALENDAR, parse_calendar, parse_duration
from xstreamcast.functions.cast.canonical import string_value
from xstreamcast.functions.cast.facets import as_string_type, collapse, in_range, invalid
from xstreamcast.functions.cast.lexical import (
    parse_base64,
    parse_boolean,
    parse_decimal,
    parse_double,
    parse_float,
    parse_hex,
    parse_integer,
    to_single,
)
from xstreamcast.model.atomic import (
    ANY_URI,
    ATOMIC,
    BASE64_BINARY,
    BOOLEAN,
    BY_TAG,
    DATE,
    DATE_TIME,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    HEX_BINARY,
    INTEGER,
    PRIMITIVE,
    QNAME,
    STRING,
    TIME,
    UNTYPED,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.date_time import DateTime
from xstreamcast.model.duration import Duration
from xstreamcast.model.qname import QName
from xstreamcast.model.xml_names import NCNAME

Convert = Callable[[Any], Any]
Namespaces = Mapping[str, str]

NOTATION: Final = ATOMIC["NOTATION"].tag
STAMP: Final = ATOMIC["dateTimeStamp"].tag
_NUMBERS: Final = frozenset({INTEGER, DECIMAL, FLOAT, DOUBLE})
_DURATIONS: Final = frozenset({DURATION, DAY_TIME_DURATION, YEAR_MONTH_DURATION})
_PARTS: Final = frozenset(
    ATOMIC[n].tag for n in ("gYearMonth", "gYear", "gMonthDay", "gDay", "gMonth")
)

# For each source: the targets other than itself, xs:string and xs:untypedAtomic.
TARGETS: Final[dict[int, frozenset[int]]] = {
    **dict.fromkeys(_NUMBERS, _NUMBERS | {BOOLEAN}),
    BOOLEAN: _NUMBERS,
    **dict.fromkeys(_DURATIONS, _DURATIONS),
    DATE_TIME: frozenset({DATE, TIME}) | _PARTS,
    DATE: frozenset({DATE_TIME}) | _PARTS,
    HEX_BINARY: frozenset({BASE64_BINARY}),
    BASE64_BINARY: frozenset({HEX_BINARY}),
}


def allowed(source: int, target: int) -> bool:
    """Whether the table has an entry for these two types."""
    source, target = PRIMITIVE[source], PRIMITIVE[target]
    if source in (STRING, UNTYPED) or target in (STRING, UNTYPED, source):
        return True
    return target in TARGETS.get(source, ())


def converter(source: int, target: int, namespaces: Namespaces) -> Convert:
    """How one value of type `source` becomes one of type `target`; XPTY0004 if never."""
    if target in (NOTATION, ATOMIC["anyAtomicType"].tag):
        raise error("XPST0080", f"xs:{BY_TAG[target].name} is not the type of any value")
    if not allowed(source, target):
        names = BY_TAG[source].name, BY_TAG[target].name
        raise error("XPTY0004", "xs:{} cannot be cast to xs:{}".format(*names))
    first, second = PRIMITIVE[source], PRIMITIVE[target]
    if second == STRING:
        return lambda value: as_string_type(target, string_value(source, value))
    if second == UNTYPED:
        return lambda value: string_value(source, value)
    if first in (STRING, UNTYPED):
        return _narrowed(target, _from_text(target, namespaces))
    return _narrowed(target, _between(first, second))


def _from_text(target: int, namespaces: Namespaces) -> Convert:
    primitive = PRIMITIVE[target]
    if primitive in CALENDAR:
        return lambda text: parse_calendar(primitive, text)
    if primitive in _DURATIONS:
        return lambda text: parse_duration(primitive, text)
    if primitive == QNAME:
        return lambda text: parse_qname(text, namespaces)
    return _READERS[primitive]


_READERS: Final[dict[int, Convert]] = {
    INTEGER: parse_integer,
    DECIMAL: parse_decimal,
    DOUBLE: parse_double,
    FLOAT: parse_float,
    BOOLEAN: parse_boolean,
    HEX_BINARY: parse_hex,
    BASE64_BINARY: parse_base64,
    ANY_URI: collapse,
}


def _narrowed(target: int, convert: Convert) -> Convert:
    """The conversion to the primitive, then the facets of the derived type."""
    if target == STAMP:
        return lambda value: _stamped(convert(value))
    if PRIMITIVE[target] != INTEGER or target == INTEGER:
        return convert

    def narrow(value: Any) -> int:
        number: int = convert(value)
        if not in_range(target, number):
            raise invalid(target, number)
        return number

    return narrow


def _stamped(value: DateTime) -> DateTime:
    if value.offset is None:
        raise error("FORG0001", "an xs:dateTimeStamp must have a time zone")
    return value


def _between(source: int, target: int) -> Convert:
    if source == target:
        return lambda value: value
    if source in _NUMBERS or source == BOOLEAN:
        return _NUMERIC[target]
    if source in _DURATIONS:
        return _DURATION[target]
    if source in CALENDAR:
        return lambda value: part_of(value, target)
    return lambda value: value


def part_of(value: DateTime, target: int) -> DateTime:
    """What another date/time type keeps of a value; the rest moves to the reference."""
    year, month, day = value.ymd()
    match BY_TAG[target].name:
        case "dateTime":
            return value
        case "date":
            return DateTime(value.day, 0, value.offset)
        case "time":
            return DateTime.of(1972, 12, 31, value.nanos, value.offset)
        case "gYearMonth":
            return DateTime.of(year, month, 1, 0, value.offset)
        case "gYear":
            return DateTime.of(year, 1, 1, 0, value.offset)
        case "gMonthDay":
            return DateTime.of(1972, month, day, 0, value.offset)
        case "gDay":
            return DateTime.of(1972, 12, day, 0, value.offset)
        case _:
            return DateTime.of(1972, month, 1, 0, value.offset)


def to_integer(value: Any) -> int:
    """Towards zero; NaN and infinities have no integer."""
    return int(_finite(value))


def to_decimal(value: Any) -> Decimal:
    """The exact decimal value of a number."""
    return value if isinstance(value, Decimal) else Decimal(_finite(value))


def to_double(value: Any) -> float:
    """The nearest xs:double."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise error("FOCA0002", "NaN and infinity cannot become xs:decimal or xs:integer")
    return value


_NUMERIC: Final[dict[int, Convert]] = {
    INTEGER: to_integer,
    DECIMAL: to_decimal,
    DOUBLE: to_double,
    FLOAT: lambda value: to_single(to_double(value)),
    BOOLEAN: lambda value: bool(value) and value == value,
}
_DURATION: Final[dict[int, Convert]] = {
    DURATION: lambda value: value,
    YEAR_MONTH_DURATION: lambda value: Duration(months=value.months),
    DAY_TIME_DURATION: lambda value: Duration(seconds=value.seconds),
}


def split_qname(text: str) -> tuple[str, str] | None:
    """(prefix, local) of a lexical QName, None if it is none."""
    prefix, colon, local = text.rpartition(":")
    valid = NCNAME.fullmatch(local) and (not colon or NCNAME.fullmatch(prefix))
    return (prefix, local) if valid else None


def parse_qname(text: str, namespaces: Namespaces) -> QName:
    """A QName as written, its prefix bound by `namespaces` ("" is the default for elements)."""
    parts = split_qname(collapse(text))
    if parts is None:
        raise invalid(QNAME, text)
    prefix, local = parts
    uri = XML_NAMESPACE if prefix == "xml" else namespaces.get(prefix, "")
    if prefix and not uri:
        raise error("FONS0004", f"no namespace is bound to the prefix {prefix}")
    return QName(uri, local, prefix)


XML_NAMESPACE: Final = "http://www.w3.org/XML/1998/namespace"
