"""fn:json-to-xml: a JSON text as the XML that represents it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.json.reading import events
from xstreamcast.functions.json.strings import unescaped
from xstreamcast.functions.json.values import Rules, string_rule
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.functions.signature import FN
from xstreamcast.functions.structured.options import OptionSpec, options_of
from xstreamcast.model.atomic import BOOLEAN, FUNCTION, NODE, STRING
from xstreamcast.model.column import Column
from xstreamcast.tape.writing.builder import Builder

if TYPE_CHECKING:
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.store import Store

_OPTIONS: Final = {
    "liberal": OptionSpec(BOOLEAN, False),
    "duplicates": OptionSpec(STRING, "retain", ("reject", "use-first", "retain")),
    "validate": OptionSpec(BOOLEAN, False),
    "escape": OptionSpec(BOOLEAN, False),
    "fallback": OptionSpec(FUNCTION),
}
_RETAIN: Final = Rules("retain")
_ELEMENTS: Final = {"[": "array", "{": "map", "true": "boolean", "false": "boolean"}


@function("fn:json-to-xml($json-text as xs:string?) as document-node()?", deterministic=False)
@function(
    "fn:json-to-xml($json-text as xs:string?, $options as map(*)) as document-node()?",
    deterministic=False,
)
def json_to_xml(call: CallContext, json: Column, options: Column | None = None) -> Column:
    """The document that represents a JSON text."""
    rules = _rules(call, options)
    rows = zip(one_or(json), rules, strict=True)
    return maybe(
        NODE, (None if text is None else document(call.store, text, one) for text, one in rows)
    )


def _rules(call: CallContext, options: Column | None) -> list[Rules]:
    if options is None:
        return [_RETAIN] * call.n
    made = []
    for given in one_or(options):
        one = options_of(call, given, _OPTIONS, "FOJS0005")
        if one["validate"]:
            raise error("FOJS0004")
        made.append(Rules(one["duplicates"], string_rule(call, one)))
    return made


def document(store: Store, json: str, rules: Rules = _RETAIN) -> int:
    """The document node of the XML that represents a JSON text."""
    writer = _Writer(store.names, rules)
    writer.write(json)
    number: int = store.add(writer.builder.finish())
    return number << 32


class _Writer:
    """Events of JSON as elements; what a repeated key drops is not written."""

    def __init__(self, names: Names, rules: Rules) -> None:
        self.names = names
        self.rules = rules
        self.builder = Builder(self.names)
        self.key: str | None = None
        self.seen: list[set[str] | None] = []  # keys so far of each open object
        self.dropped = 0  # open elements inside an entry that is dropped
        self.skips = False

    def write(self, json: str) -> None:
        self.builder.start_document()
        for kind, raw in events(json):
            if kind == "key":
                self._key(raw)
            elif kind in ("]", "}"):
                self._end()
            elif kind in ("[", "{"):
                self._begin(kind)
            else:
                self._leaf(kind, raw)
        self.builder.end()

    def _key(self, raw: str) -> None:
        if self.dropped:
            return
        key, seen = unescaped(raw), self.seen[-1]
        assert seen is not None
        if key in seen and self.rules.duplicates == "reject":
            raise error("FOJS0003", f"the key {key!r} comes twice in an object")
        self.skips = key in seen and self.rules.duplicates == "use-first"
        seen.add(key)
        self.key = raw

    def _begin(self, kind: str) -> None:
        if self.dropped or self.skips:
            self.dropped, self.skips = self.dropped + 1, False
            return
        self._open(_ELEMENTS[kind])
        self.seen.append(set() if kind == "{" else None)

    def _end(self) -> None:
        if self.dropped:
            self.dropped -= 1
            return
        self.seen.pop()
        self.builder.end()

    def _leaf(self, kind: str, raw: str) -> None:
        if self.dropped or self.skips:
            self.skips = False
            return
        text = raw
        if kind == "string":
            text = self.rules.string(raw)
        elif kind in ("true", "false"):
            text = kind
        self._open(_ELEMENTS.get(kind, kind), "\\" in text if kind == "string" else False)
        if text:
            self.builder.text(text)
        self.builder.end()

    def _open(self, local: str, escaped: bool = False) -> None:
        self.builder.start_element(self.names.intern("", local, FN))
        if self.key is not None:
            key = self.rules.string(self.key)
            self._attribute("key", key)
            if self._keeps_escapes() and "\\" in key:
                self._attribute("escaped-key", "true")
            self.key = None
        if escaped and self._keeps_escapes():
            self._attribute("escaped", "true")

    def _keeps_escapes(self) -> bool:
        return self.rules.string(r"\\") == r"\\"

    def _attribute(self, local: str, value: Any) -> None:
        self.builder.attribute(self.names.intern("", local, ""), value)
