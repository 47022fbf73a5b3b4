"""An answer as a table: an item is a row, its attributes, children or keys are columns."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xstreamcast.errors import error

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Row: TypeAlias = dict[str, Any]

VALUE: Final = "value"  # the column of an item that has no names of its own
_JOINED: Final = "; "  # between several values in a cell of CSV
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_NUMERIC: Final = frozenset(
    {
        "xs:decimal", "xs:double", "xs:float", "xs:integer", "xs:int", "xs:long", "xs:short",
        "xs:byte", "xs:nonNegativeInteger", "xs:positiveInteger", "xs:negativeInteger",
        "xs:nonPositiveInteger", "xs:unsignedByte", "xs:unsignedShort", "xs:unsignedInt",
        "xs:unsignedLong",
    }
)  # fmt: skip


def number(text: str) -> int | float | None:
    """The number that a text is in its usual form; a key such as 007 or 1e5x is none."""
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else None


class _Text(str):
    """Text of a document: a number, if its whole column is."""

    __slots__ = ()


def rows(records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """One row for each item; text is a number where every text of its column is one.

    `records` are items as `evaluate.results.records` gives them.
    """
    made = [_row(record) for record in records]
    numeric = _numeric_columns(made)
    return [{name: _typed(cell, name in numeric) for name, cell in row.items()} for row in made]


def _numeric_columns(made: list[Row]) -> set[str]:
    seen: set[str] = set()
    other: set[str] = set()
    for row in made:
        for name, cell in row.items():
            for one in cell if isinstance(cell, list) else [cell]:
                if isinstance(one, _Text):
                    seen.add(name)
                    if number(one) is None:
                        other.add(name)
    return seen - other


def _typed(cell: Any, numeric: bool) -> Any:
    match cell:
        case list():
            return [_typed(one, numeric) for one in cell]
        case _Text():
            return number(cell) if numeric else str(cell)
        case _:
            return cell


def names(made: Iterable[Row]) -> list[str]:
    """The columns in the order in which they first appear."""
    return list(dict.fromkeys(name for row in made for name in row))


def _row(record: Mapping[str, Any]) -> Row:
    match record:
        case {"xml": str(xml)}:
            return _element_row(_parsed(xml))
        case {"n": _, "name": str(name), "v": text}:
            return {name or VALUE: _Text(text)}
        case {"n": _, "v": text}:
            return {VALUE: _Text(text)}
        case {"t": "map", "v": entries}:
            return {key.get("v", ""): _sequence(values) for key, values in entries}
        case _:
            return {VALUE: _plain(record)}


def _plain(record: Mapping[str, Any]) -> Any:
    """An item inside a row."""
    match record:
        case {"xml": str(xml)}:
            return xml
        case {"t": "map", "v": entries}:
            return {key.get("v", ""): _sequence(values) for key, values in entries}
        case {"t": "array", "v": members}:
            return [_sequence(member) for member in members]
        case {"t": "xs:boolean", "v": text}:
            return text == "true"
        case {"t": str(kind), "v": str(text)} if kind in _NUMERIC:
            found = number(text)
            return float(text) if found is None else found  # INF and NaN are no text of ours
        case {"v": text}:
            return text
        case _:
            raise error("XSCU0005", "a function has no form as a row; return its results instead")


def _sequence(values: list[Mapping[str, Any]]) -> Any:
    made = [_plain(one) for one in values]
    return made[0] if len(made) == 1 else (made or None)


def _parsed(xml: str) -> Element:
    """XML that we have written: elements, or a document with one."""
    from xml.etree.ElementTree import ParseError, fromstring

    try:
        return fromstring(xml)
    except ParseError:  # a document node with text next to its element, or without an element
        return fromstring(f"<document>{xml}</document>")


def _element_row(element: Element) -> Row:
    """Attributes, then children by name; text of its own under the name of the element."""
    row: Row = {_local(name): _Text(value) for name, value in element.attrib.items()}
    for child in element:
        if isinstance(child.tag, str):  # no comment, no processing instruction
            _add(row, _local(child.tag), _cell(child))
    text = (element.text or "").strip()
    if text or not row:
        _add(row, _local(element.tag), _Text(text))
    return row


def _cell(child: Element) -> Any:
    """What a child is in its column: its text or, if it has parts, a row of its own."""
    if len(child) or child.attrib:
        return {name: _typed(cell, False) for name, cell in _element_row(child).items()}
    return _Text(child.text or "")


def _add(row: Row, name: str, cell: Any) -> None:
    if name not in row:
        row[name] = cell
    elif isinstance(row[name], list):
        row[name].append(cell)
    else:
        row[name] = [row[name], cell]


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def json_lines(made: Iterable[Row]) -> Iterator[str]:
    """A JSON object for each row; what JSON has no number for (NaN, INF) is a string."""
    for row in made:
        yield json.dumps(_finite(row), ensure_ascii=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {name: _finite(one) for name, one in value.items()}
        case list():
            return [_finite(one) for one in value]
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
        case _:
            return value


def csv_lines(made: list[Row]) -> Iterator[str]:
    """A line with the names of the columns, then a line for each row."""
    columns, out = names(made), StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for line in (columns, *([_shown(row.get(name)) for name in columns] for row in made)):
        writer.writerow(line)
        yield out.getvalue().removesuffix("\n")
        out.seek(0)
        out.truncate()


def _shown(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case list() if not any(isinstance(one, (dict, list)) for one in cell):
            return _JOINED.join(map(_shown, cell))
        case dict() | list():
            return json.dumps(_finite(cell), ensure_ascii=False, separators=(",", ":"))
        case _:
            return str(_finite(cell))


def columns(made: list[Row]) -> dict[str, list[Any]]:
    """The cells of each column, None where a row has none."""
    return {name: [row.get(name) for row in made] for name in names(made)}
