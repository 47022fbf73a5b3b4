"""Signatures as F&O prints them ("fn:abs($arg as xs:numeric?) as xs:numeric?"), as types."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.model.atomic import ATOMIC, DECIMAL, DOUBLE, FLOAT
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import (
    AnyItem,
    ArrayType,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    ItemType,
    Kind,
    MapType,
    NodeItem,
    Occurs,
    SequenceType,
)

FN: Final = "http://www.w3.org/2005/xpath-functions"
XS: Final = "http://www.w3.org/2001/XMLSchema"
MATH: Final = "http://www.w3.org/2005/xpath-functions/math"
LOCAL: Final = "http://www.w3.org/2005/xquery-local-functions"
MAP_URI: Final = "http://www.w3.org/2005/xpath-functions/map"
ARRAY_URI: Final = "http://www.w3.org/2005/xpath-functions/array"
XSC: Final = "urn:xstreamcast:functions"
ERR: Final = "http://www.w3.org/2005/xqt-errors"
OUTPUT: Final = "http://www.w3.org/2010/xslt-xquery-serialization"
PREFIXES: Final = {
    "fn": FN,
    "xs": XS,
    "math": MATH,
    "map": MAP_URI,
    "array": ARRAY_URI,
    "local": LOCAL,
    "xsc": XSC,
    "err": ERR,
    "output": OUTPUT,
}
NUMERIC: Final = AtomicUnion("numeric", (DOUBLE, FLOAT, DECIMAL))

_TOKEN: Final = re.compile(r"\s*(\.\.\.|\$?[A-Za-z][\w.\-]*(?::[A-Za-z][\w.\-]*)?|[(),?*+])")
_OCCURS: Final[dict[str, Occurs]] = {"?": "optional", "*": "many", "+": "some"}
_KINDS: Final[dict[str, Kind]] = {
    "node": "node",
    "document-node": "document",
    "element": "element",
    "attribute": "attribute",
    "text": "text",
    "comment": "comment",
    "processing-instruction": "pi",
    "namespace-node": "namespace",
}


@dataclass(frozen=True, slots=True)
class Signature:
    """The head of a function: its expanded name, parameters and result."""

    uri: str
    local: str
    names: tuple[str, ...]
    parameters: tuple[SequenceType, ...]
    variadic: bool
    result: SequenceType


def parse_signature(text: str) -> Signature:
    """The signature that the text describes."""
    return _Reader(text).signature()


def parse_type(text: str) -> SequenceType:
    """The sequence type that the text describes: "xs:string?" and the like."""
    return _Reader(text).sequence_type()


class _Reader:
    """A cursor over the tokens of one signature."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(text)
        self.at = 0
        if "".join(self.tokens) != re.sub(r"\s", "", text):
            raise ValueError(f"a signature cannot be read: {text}")

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token: str) -> None:
        if self.peek() != token:
            raise ValueError(f"must be {token!r}; got {self.peek()!r} in {' '.join(self.tokens)}")
        self.at += 1

    def signature(self) -> Signature:
        uri, local = expanded(self.next())
        names: list[str] = []
        types: list[SequenceType] = []
        variadic = False
        self.expect("(")
        while self.peek() != ")":
            if self.peek() == "...":
                variadic = bool(self.next())
                continue
            names.append(self.next().removeprefix("$"))
            self.expect("as")
            types.append(self.sequence_type())
            if self.peek() == ",":
                self.at += 1
        self.expect(")")
        self.expect("as")
        return Signature(uri, local, tuple(names), tuple(types), variadic, self.sequence_type())

    def sequence_type(self) -> SequenceType:
        if self.peek() in ("empty-sequence", "none"):
            if self.next() == "empty-sequence":
                self.expect("(")
                self.expect(")")
            return SequenceType(AnyItem(), "none")
        item = self.item_type()
        return SequenceType(item, _OCCURS[self.next()] if self.peek() in _OCCURS else "one")

    def item_type(self) -> ItemType:
        name = self.next()
        if self.peek() != "(":
            local = name.removeprefix("xs:")
            return NUMERIC if local == "numeric" else AtomicItem(ATOMIC[local].tag)
        self.expect("(")
        if name == "function":
            return self.function_type()
        if name in ("map", "array"):
            return self.map_type() if name == "map" else self.array_type()
        made = AnyItem() if name == "item" else self.kind_test(_KINDS[name])
        self.expect(")")
        return made

    def kind_test(self, kind: Kind) -> NodeItem:
        if self.peek() == ")":
            return NodeItem(kind)
        if kind == "document":
            self.next()
            self.expect("(")
            content = self.kind_test("element")
            self.expect(")")
            return NodeItem(kind, content=content)
        token = self.next()
        if token == "*":
            return NodeItem(kind)
        uri, local = expanded(token)
        return NodeItem(kind, uri, local)

    def map_type(self) -> MapType:
        if self.peek() == "*":
            self.next()
            self.expect(")")
            return MapType()
        key = self.item_type()
        assert isinstance(key, AtomicItem | AtomicUnion)
        self.expect(",")
        value = self.sequence_type()
        self.expect(")")
        return MapType(key, value)

    def array_type(self) -> ArrayType:
        if self.peek() == "*":
            self.next()
            self.expect(")")
            return ArrayType()
        member = self.sequence_type()
        self.expect(")")
        return ArrayType(member)

    def function_type(self) -> FunctionType:
        if self.peek() == "*":
            self.next()
            self.expect(")")
            return FunctionType()
        parameters: list[SequenceType] = []
        while self.peek() != ")":
            parameters.append(self.sequence_type())
            if self.peek() == ",":
                self.next()
        self.expect(")")
        self.expect("as")
        return FunctionType(tuple(parameters), self.sequence_type())


def expanded(name: str) -> tuple[str, str]:
    """(namespace, local) of a name with one of the fixed prefixes; fn where it has none."""
    prefix, colon, local = name.rpartition(":")
    return (PREFIXES[prefix] if colon else FN), local
