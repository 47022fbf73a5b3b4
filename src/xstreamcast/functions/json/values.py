"""fn:parse-json and fn:json-doc: a JSON text as maps and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.json.reading import events
from xstreamcast.functions.json.strings import kept_escaped, plain
from xstreamcast.functions.registry import function
from xstreamcast.functions.resources.texts import text_at
from xstreamcast.functions.rows import one_or, text
from xstreamcast.functions.structured.options import OptionSpec, options_of
from xstreamcast.model.array_item import ArrayItem
from xstreamcast.model.atomic import ARRAY, BOOLEAN, DOUBLE, FUNCTION, MAP, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.function_item import FunctionItem
from xstreamcast.model.items import Items
from xstreamcast.model.map_item import MapItem

Value = tuple[int, Any] | None  # the type and the value; None is null

_OPTIONS: Final = {
    "liberal": OptionSpec(BOOLEAN, False),
    "duplicates": OptionSpec(STRING, "use-first", ("reject", "use-first", "use-last")),
    "escape": OptionSpec(BOOLEAN, False),
    "fallback": OptionSpec(FUNCTION),
}


@function("fn:parse-json($json-text as xs:string?) as item()?")
@function("fn:parse-json($json-text as xs:string?, $options as map(*)) as item()?")
def parse_json(call: CallContext, json: Column, options: Column | None = None) -> Column:
    """The maps, arrays, strings, numbers and booleans that a JSON text describes."""
    rules = rules_of(call, options)
    rows = zip(one_or(json), rules, strict=True)
    return column_of_values(None if value is None else parsed(value, one) for value, one in rows)


@function("fn:json-doc($href as xs:string?) as item()?")
@function("fn:json-doc($href as xs:string?, $options as map(*)) as item()?")
def json_doc(call: CallContext, href: Column, options: Column | None = None) -> Column:
    """The maps, arrays, strings, numbers and booleans of the JSON text at an address."""
    texts = [
        None if at is None else text_at(call, at, None, any_character=True) for at in one_or(href)
    ]
    rows = zip(texts, rules_of(call, options), strict=True)
    return column_of_values(None if value is None else parsed(value, one) for value, one in rows)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the options of a call say."""

    duplicates: str = "use-first"
    string: Callable[[str], str] = lambda raw: plain(raw, lambda code: "\ufffd")


def rules_of(call: CallContext, options: Column | None) -> list[Rules]:
    """The rules of each row."""
    if options is None:
        return [Rules()] * call.n
    given = (options_of(call, one, _OPTIONS, "FOJS0005") for one in one_or(options))
    return [Rules(one["duplicates"], string_rule(call, one)) for one in given]


def string_rule(call: CallContext, options: dict[str, Any]) -> Callable[[str], str]:
    """How a string is read: its escapes kept, or resolved with a fallback for odd characters."""
    fallback = options["fallback"]
    if options["escape"]:
        if fallback is not None:
            raise error("FOJS0005", "fallback has no meaning where escapes are kept")
        return kept_escaped
    if fallback is None:
        return lambda raw: plain(raw, lambda code: "\ufffd")
    return lambda raw: plain(raw, lambda code: _replaced(call, fallback, code))


def _replaced(call: CallContext, fallback: FunctionItem, code: str) -> str:
    """The result of the fallback for an escape: one string."""
    if fallback.arity != 1:
        raise error("XPTY0004", "the fallback must be a function of one argument")
    assert call.invoke is not None
    made = call.invoke(fallback, [text([code])])
    if len(made.items) != 1 or made.items.tag != STRING:
        raise error("XPTY0004", "the fallback must give one string")
    return str(made.items.values[0])


def parsed(json: str, rules: Rules) -> Value:
    """The value of a JSON text."""
    opened: list[tuple[str, list[Any]]] = []
    done: Value = None
    for kind, raw in events(json):
        if kind in ("[", "{"):
            opened.append((kind, []))
            continue
        if kind == "key":
            opened[-1][1].append(rules.string(raw))
            continue
        value = _closed(*opened.pop(), rules) if kind in ("]", "}") else _scalar(kind, raw, rules)
        if opened:
            opened[-1][1].append(value)
        else:
            done = value
    return done


def _scalar(kind: str, raw: str, rules: Rules) -> Value:
    match kind:
        case "string":
            return STRING, rules.string(raw)
        case "number":
            return DOUBLE, float(raw)
        case "null":
            return None
        case _:
            return BOOLEAN, kind == "true"


def _closed(mark: str, parts: list[Any], rules: Rules) -> Value:
    if mark == "[":
        return ARRAY, ArrayItem(column_of_values(parts), 0, len(parts))
    found: dict[str, Value] = {}
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        if key in found:
            if rules.duplicates == "reject":
                raise error("FOJS0003", f"the key {key!r} comes twice in an object")
            if rules.duplicates == "use-first":
                continue
        found[key] = value
    values = column_of_values(found.values())
    return MAP, MapItem(Items.of(STRING, list(found)), values, 0, len(found))


def column_of_values(values: Iterable[Value]) -> Column:
    """A row for each value; null is ()."""
    cells = list(values)
    live = [cell for cell in cells if cell is not None]
    items = Items.mixed([tag for tag, _ in live], [value for _, value in live])
    if len(live) == len(cells):
        return Column(items)
    lengths = np.fromiter((cell is not None for cell in cells), np.int64, len(cells))
    return Column.from_lengths(items, lengths)
