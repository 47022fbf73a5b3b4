"""fn:xml-to-json: XML that represents JSON, as a JSON text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from xstreamcast.errors import Error, error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast_value, string_value
from xstreamcast.functions.json.strings import quoted, unescaped
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.functions.signature import FN
from xstreamcast.functions.structured.options import OptionSpec, options_of
from xstreamcast.model.atomic import BOOLEAN, DOUBLE, STRING, UNTYPED
from xstreamcast.model.column import Column
from xstreamcast.tape.layout import DOCUMENT, ELEMENT, TEXT
from xstreamcast.tape.steps.axes import NodeTest

_OPTIONS: Final = {"indent": OptionSpec(BOOLEAN, False)}
_TRUTH: Final = {"true": True, "1": True, "false": False, "0": False}
_KINDS: Final = frozenset({"map", "array", "string", "number", "boolean", "null"})
_ESCAPE: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})')
_BARE: Final = re.compile('[\x00-\x1f\x7f-\x9f"]')


@function("fn:xml-to-json($input as node()?) as xs:string?")
@function("fn:xml-to-json($input as node()?, $options as map(*)) as xs:string?")
def xml_to_json(call: CallContext, node: Column, options: Column | None = None) -> Column:
    """The JSON text that an element represents."""
    given = [None] * call.n if options is None else one_or(options)
    indents = [
        False if one is None else options_of(call, one, _OPTIONS, "FOJS0005")["indent"]
        for one in given
    ]
    rows = zip(one_or(node), indents, strict=True)
    return maybe(STRING, (None if n is None else _text(call, n, indent) for n, indent in rows))


def _text(call: CallContext, node: int, indent: bool) -> str:
    handle = np.array([node], np.int64)
    kind = int(call.store.kinds(handle)[0])
    if kind == DOCUMENT:
        children = _children(call, node)
        texts = [n for n, k in children if k == TEXT]
        elements = [n for n, k in children if k == ELEMENT]
        if len(elements) != 1 or any(_string(call, n).strip() for n in texts):
            raise _unfit("a document must have one element and no text")
        node = elements[0]
    elif kind != ELEMENT:
        raise _unfit("it must be an element")
    return "".join(_Writer(call, indent).element(node, False, 0))


def _children(call: CallContext, node: int) -> list[tuple[int, int]]:
    _, found = call.store.step(np.array([node], np.int64), "child", NodeTest.node())
    return list(zip(found.tolist(), call.store.kinds(found).tolist(), strict=True))


def _string(call: CallContext, node: int) -> str:
    return str(call.store.strings(np.array([node], np.int64))[0])


def _unfit(why: str) -> Error:
    return error("FOJS0006", f"the XML does not represent JSON: {why}")


class _Writer:
    """Elements as JSON."""

    def __init__(self, call: CallContext, indent: bool) -> None:
        self.call = call
        self.indent = indent

    def element(self, node: int, keyed: bool, depth: int) -> Iterator[str]:
        uri, local = self._name(node)
        if uri != FN or local not in _KINDS:
            raise _unfit(f"there must be no element {local} in the namespace '{uri}'")
        given = self._attributes(node, local)
        if keyed:
            yield f'"{self._key(given)}":'
        match local:
            case "map" | "array":
                yield from self._many(node, local, depth)
            case "null":
                self._alone(node, empty=True)
                yield "null"
            case _:
                yield self._leaf(local, self._alone(node), given)

    def _many(self, node: int, local: str, depth: int) -> Iterator[str]:
        opens, closes = ("{", "}") if local == "map" else ("[", "]")
        children = _children(self.call, node)
        if any(k == TEXT and _string(self.call, n).strip() for n, k in children):
            raise _unfit(f"{local} must not have text")
        inside = [n for n, k in children if k == ELEMENT]
        keys = [self._key(self._attributes(n, self._name(n)[1])) for n in inside if local == "map"]
        if len({unescaped(key) for key in keys}) < len(keys):
            raise _unfit("a map must not have a key twice")
        space = "\n" + "  " * depth if self.indent else ""
        more = space + "  " if self.indent else ""
        yield opens
        for i, child in enumerate(inside):
            yield ("," if i else "") + more
            yield from self.element(child, local == "map", depth + 1)
        yield (space if inside else "") + closes

    def _leaf(self, local: str, text: str, given: dict[str, str]) -> str:
        match local:
            case "string":
                return f'"{_written(text, _flag(given, "escaped"))}"'
            case "boolean":
                if text.strip() not in _TRUTH:
                    raise _unfit(f"a boolean must be true or false; got {text}")
                return "true" if _TRUTH[text.strip()] else "false"
            case _:
                return _number(text)

    def _alone(self, node: int, empty: bool = False) -> str:
        """The text of an element that must have no elements."""
        children = _children(self.call, node)
        if any(k == ELEMENT for _, k in children):
            raise _unfit("a value must not have elements inside")
        text = "".join(_string(self.call, n) for n, k in children if k == TEXT)
        if empty and text:
            raise _unfit("null must be empty")
        return text

    def _key(self, given: dict[str, str]) -> str:
        if "key" not in given:
            raise _unfit("an entry of a map must have a key")
        return _written(given["key"], _flag(given, "escaped-key"))

    def _attributes(self, node: int, local: str) -> dict[str, str]:
        """The attributes without namespace; others are no concern of JSON."""
        handle = np.array([node], np.int64)
        _, found = self.call.store.step(handle, "attribute", NodeTest.node())
        given: dict[str, str] = {}
        allowed = {"key", "escaped-key", "escaped"}
        for one in found.tolist():
            uri, name = self._name(one)
            if uri == FN or (uri == "" and name not in allowed):
                raise _unfit(f"{local} must not have an attribute {name}")
            if uri == "":
                given[name] = _string(self.call, one)
        for flag in ("escaped", "escaped-key"):
            _flag(given, flag)
        if local != "string" and _flag(given, "escaped"):
            raise _unfit(f"{local} must not be escaped")
        return given

    def _name(self, node: int) -> tuple[str, str]:
        number = int(self.call.store.name_ids(np.array([node], np.int64))[0])
        _, local, uri = self.call.store.names.qname(number)
        return uri, local


def _flag(given: dict[str, str], name: str) -> bool:
    value = given.get(name, "false").strip()
    if value not in _TRUTH:
        raise _unfit(f"{name} must be true or false; got {value}")
    return _TRUTH[value]


def _number(text: str) -> str:
    try:
        value = float(cast_value(UNTYPED, text, DOUBLE))
    except Error as caught:
        raise _unfit(f"{text!r} is no number") from caught
    if value != value or value in (float("inf"), float("-inf")):
        raise _unfit(f"JSON has no number {text}")
    return string_value(DOUBLE, value)


def _written(text: str, escaped: bool) -> str:
    """A string of the XML as JSON writes it; escapes that it has already are kept."""
    if not escaped:
        return quoted(text)
    made, at = [], 0
    for found in _ESCAPE.finditer(text):
        made += [_plain(text[at : found.start()]), found[0]]
        at = found.end()
    return "".join([*made, _plain(text[at:])])


def _plain(text: str) -> str:
    if "\\" in text:
        raise error("FOJS0007", f"a backslash begins no escape in {text!r}")
    return _BARE.sub(lambda m: quoted(m[0]), text)
