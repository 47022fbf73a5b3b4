"""The current answer of a query in the formats of `run`, from its serialised items."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from xstreamcast.edges.columns import Row, csv_lines, json_lines, rows
from xstreamcast.edges.updates.writing import parsed
from xstreamcast.model.markup import escape

Lines = Callable[[Sequence[str]], Iterator[str]]


def _lines(items: Sequence[str]) -> Iterator[str]:
    return iter(items)


def _xml(items: Sequence[str]) -> Iterator[str]:
    yield "<results>"
    for item in items:
        yield f"<item>{item if _is_markup(item) else escape(item)}</item>"
    yield "</results>"


def _ndjson(items: Sequence[str]) -> Iterator[str]:
    return json_lines(_rows(items))


def _csv(items: Sequence[str]) -> Iterator[str]:
    return csv_lines(_rows(items))


def _json(items: Sequence[str]) -> Iterator[str]:
    yield json.dumps(list(items), ensure_ascii=False)


# By name: the type of the content, and its lines. The first is for those who accept anything.
FORMATS: Final[Mapping[str, tuple[str, Lines]]] = {
    "lines": ("text/plain", _lines),
    "xml": ("application/xml", _xml),
    "ndjson": ("application/x-ndjson", _ndjson),
    "json": ("application/json", _json),
    "csv": ("text/csv", _csv),
}


def accepted(header: str) -> str | None:
    """The format that a client prefers; None if there is none that it accepts."""
    wanted = sorted(map(_preference, header.split(",")), key=lambda one: -one[1])
    for kind, weight in wanted:
        for name, (media, _) in FORMATS.items():
            fits = kind in (media, "*/*") or kind == media.partition("/")[0] + "/*"
            if weight > 0 and (fits or (kind == "text/xml" and name == "xml")):
                return name
    return None


def _preference(word: str) -> tuple[str, float]:
    kind, *parameters = (part.strip() for part in word.split(";"))
    weights = [one[2:] for one in parameters if one.startswith("q=")]
    try:
        return kind, float(weights[0]) if weights else 1.0
    except ValueError:
        return kind, 0.0


def text_of(items: Sequence[str], name: str) -> str:
    """The items in a format."""
    return "".join(line + "\n" for line in FORMATS[name][1](items))


def _rows(items: Sequence[str]) -> list[Row]:
    return rows(map(_record, items))


def _record(item: str) -> dict[str, Any]:
    """An item as `rows` reads it: an element, a map that was written as JSON, or a value."""
    if _is_markup(item):
        return {"xml": item}
    if item.startswith("{"):
        try:
            found = json.loads(item)
        except ValueError:
            found = None
        if isinstance(found, dict):
            entries = [[{"v": key}, [_value(one)]] for key, one in found.items()]
            return {"t": "map", "v": entries}
    return {"n": "text", "v": item}


def _value(found: Any) -> dict[str, Any]:
    match found:
        case bool():
            return {"t": "xs:boolean", "v": "true" if found else "false"}
        case int() | float():
            return {"t": "xs:double", "v": repr(found)}
        case dict():
            return {"t": "map", "v": [[{"v": key}, [_value(one)]] for key, one in found.items()]}
        case list():
            return {"t": "array", "v": [[_value(one)] for one in found]}
        case _:
            return {"t": "xs:string", "v": found}


def _is_markup(item: str) -> bool:
    """Whether an item is a serialised node; a text that looks like one is taken for one."""
    return item.startswith("<") and "<!DOCTYPE" not in item and parsed(item) is not None
