"""The built-in atomic types: one row each, with a small integer tag that columns carry."""

from __future__ import annotations

from typing import Final, NamedTuple


class AtomicType(NamedTuple):
    """One row: the local name in the xs namespace, what it derives from, its primitive."""

    tag: int
    name: str
    base: str | None
    primitive: str


# (name, base); a type's primitive is the nearest ancestor below xs:anyAtomicType, with
# xs:integer counted as a primitive of its own because arithmetic treats it as one.
_ROWS: Final[tuple[tuple[str, str | None], ...]] = (
    ("anyAtomicType", None),
    ("untypedAtomic", "anyAtomicType"),
    ("string", "anyAtomicType"),
    ("boolean", "anyAtomicType"),
    ("decimal", "anyAtomicType"),
    ("integer", "decimal"),
    ("float", "anyAtomicType"),
    ("double", "anyAtomicType"),
    ("duration", "anyAtomicType"),
    ("dayTimeDuration", "duration"),
    ("yearMonthDuration", "duration"),
    ("dateTime", "anyAtomicType"),
    ("dateTimeStamp", "dateTime"),
    ("date", "anyAtomicType"),
    ("time", "anyAtomicType"),
    ("gYearMonth", "anyAtomicType"),
    ("gYear", "anyAtomicType"),
    ("gMonthDay", "anyAtomicType"),
    ("gDay", "anyAtomicType"),
    ("gMonth", "anyAtomicType"),
    ("hexBinary", "anyAtomicType"),
    ("base64Binary", "anyAtomicType"),
    ("anyURI", "anyAtomicType"),
    ("QName", "anyAtomicType"),
    ("NOTATION", "anyAtomicType"),
    ("normalizedString", "string"),
    ("token", "normalizedString"),
    ("language", "token"),
    ("NMTOKEN", "token"),
    ("Name", "token"),
    ("NCName", "Name"),
    ("ID", "NCName"),
    ("IDREF", "NCName"),
    ("ENTITY", "NCName"),
    ("nonPositiveInteger", "integer"),
    ("negativeInteger", "nonPositiveInteger"),
    ("long", "integer"),
    ("int", "long"),
    ("short", "int"),
    ("byte", "short"),
    ("nonNegativeInteger", "integer"),
    ("unsignedLong", "nonNegativeInteger"),
    ("unsignedInt", "unsignedLong"),
    ("unsignedShort", "unsignedInt"),
    ("unsignedByte", "unsignedShort"),
    ("positiveInteger", "nonNegativeInteger"),
)

_OWN_PRIMITIVE: Final = frozenset({"integer", "dayTimeDuration", "yearMonthDuration"})


def _primitive(name: str, base: str | None, known: dict[str, AtomicType]) -> str:
    if base is None or base == "anyAtomicType" or name in _OWN_PRIMITIVE:
        return name
    return known[base].primitive


def _table() -> dict[str, AtomicType]:
    known: dict[str, AtomicType] = {}
    for tag, (name, base) in enumerate(_ROWS, start=1):
        known[name] = AtomicType(tag, name, base, _primitive(name, base, known))
    return known


ATOMIC: Final = _table()
BY_TAG: Final = {row.tag: row for row in ATOMIC.values()}

# Tags of what is no atomic value. 0 is a node, so that a column of nodes is the cheapest to make.
NODE: Final = 0
MAP: Final = 252
ARRAY: Final = 253
FUNCTION: Final = 254
MIXED: Final = 255
FUNCTIONS: Final = frozenset({MAP, ARRAY, FUNCTION})  # maps and arrays can be called too

UNTYPED: Final = ATOMIC["untypedAtomic"].tag
STRING: Final = ATOMIC["string"].tag
BOOLEAN: Final = ATOMIC["boolean"].tag
DECIMAL: Final = ATOMIC["decimal"].tag
INTEGER: Final = ATOMIC["integer"].tag
FLOAT: Final = ATOMIC["float"].tag
DOUBLE: Final = ATOMIC["double"].tag
DURATION: Final = ATOMIC["duration"].tag
DAY_TIME_DURATION: Final = ATOMIC["dayTimeDuration"].tag
YEAR_MONTH_DURATION: Final = ATOMIC["yearMonthDuration"].tag
DATE_TIME: Final = ATOMIC["dateTime"].tag
DATE: Final = ATOMIC["date"].tag
TIME: Final = ATOMIC["time"].tag
ANY_URI: Final = ATOMIC["anyURI"].tag
QNAME: Final = ATOMIC["QName"].tag
HEX_BINARY: Final = ATOMIC["hexBinary"].tag
BASE64_BINARY: Final = ATOMIC["base64Binary"].tag

PRIMITIVE: Final = {row.tag: ATOMIC[row.primitive].tag for row in ATOMIC.values()}


def _ancestors(row: AtomicType) -> frozenset[int]:
    tags = {row.tag}
    while row.base is not None:
        row = ATOMIC[row.base]
        tags.add(row.tag)
    return frozenset(tags)


ANCESTORS: Final = {row.tag: _ancestors(row) for row in ATOMIC.values()}


def derives(tag: int, ancestor: int) -> bool:
    """Whether a value with `tag` is an instance of the atomic type `ancestor`."""
    return ancestor in ANCESTORS.get(tag, ())
