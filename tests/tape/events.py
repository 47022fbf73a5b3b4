"""A document as a list of events, as expat, libxml2 and a tape tell it."""

from __future__ import annotations

import re
from typing import Any
from xml.parsers import expat

import numpy as np
from lxml import etree

from xstreamcast.tape.layout import ATTRIBUTE, COMMENT, ELEMENT, KIND, NAMESPACE, PI, TEXT, Tape
from xstreamcast.tape.store import Store

Event = tuple[Any, ...]
BAR = "\x01"
_LEFT_OUT = re.compile(rb"&(?!#|(?:lt|gt|amp|quot|apos);)")


class _Told:
    """Events with neighbouring texts made one."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, *event: Any) -> int:
        self.events.append(event)
        return len(self.events)

    def text(self, text: str) -> None:
        if not text:
            return
        if self.events and self.events[-1][0] == "text":
            self.events[-1] = ("text", self.events[-1][1] + text)
        else:
            self.add("text", text)


def expat_events(*chunks: bytes, final: bool = True) -> list[Event] | None:
    """What expat tells of a document; None if it refuses, or leaves an entity out."""
    told = _Told()
    declared: list[tuple[str | None, str | None]] = []
    doctype: list[bool] = []
    outside: list[bool] = []  # a DTD outside may declare entities, and none are declared inside
    parser = expat.ParserCreate(None, BAR)
    parser.namespace_prefixes = True
    parser.ordered_attributes = True

    def start(name: str, attributes: list[str]) -> None:
        written = parser.GetInputContext() or b""
        if outside and _LEFT_OUT.search(written.split(b">")[0]):
            raise ValueError(name)
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        bound = sorted((prefix or "", uri or "") for prefix, uri in declared if prefix != "xml")
        told.add("start", _qname(name), sorted((_qname(n), v) for n, v in pairs), bound)
        declared.clear()

    parser.StartElementHandler = start
    parser.StartNamespaceDeclHandler = lambda prefix, uri: declared.append((prefix, uri))
    parser.EndElementHandler = lambda name: told.add("end")
    parser.CharacterDataHandler = told.text
    parser.CommentHandler = lambda text: doctype or told.add("comment", text)
    parser.ProcessingInstructionHandler = lambda target, text: (
        doctype or told.add("pi", target, text)
    )

    def begin(_name: str, system: str | None, _public: str | None, subset: int) -> None:
        doctype.append(True)
        outside.extend([True] if system and not subset else [])

    def left_out(*_: object) -> int:
        raise ValueError

    parser.StartDoctypeDeclHandler = begin
    parser.SkippedEntityHandler = parser.ExternalEntityRefHandler = left_out
    parser.EndDoctypeDeclHandler = doctype.clear
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
        parser.Parse(b"", final)
    except (expat.ExpatError, ValueError, LookupError):
        return None
    return told.events


def _qname(name: str) -> tuple[str, str, str]:
    """(uri, local, prefix) of what expat calls a name."""
    parts = name.split(BAR)
    return ("", name, "") if len(parts) == 1 else (parts[0], parts[1], (*parts, "")[2])


def lxml_events(xml: bytes) -> list[Event] | None:
    """What libxml2 tells, without prefixes and declarations; None if it refuses."""
    parser = etree.XMLParser(resolve_entities=True, load_dtd=False, no_network=True)
    try:
        root = etree.fromstring(xml, parser)
    except etree.XMLSyntaxError:
        return None
    told = _Told()
    _tell(root, told)
    return told.events


def _tell(node: Any, told: _Told) -> None:
    if node.tag is etree.Comment:
        told.add("comment", node.text or "")
    elif node.tag is etree.PI:
        told.add("pi", node.target, node.text or "")
    else:
        told.add("start", node.tag, sorted(node.attrib.items()))
        told.text(node.text or "")
        for child in node:
            _tell(child, told)
            told.text(child.tail or "")
        told.add("end")


def tape_events(tape: Tape, first: int = 0) -> list[Event]:
    """What a tape tells of the tree at row `first`, below its document node."""
    c, told = tape.columns, _Told()
    open_until: list[int] = []
    store = Store(tape.names)
    handles = np.arange(len(tape), dtype=np.int64) | (store.add(tape) << 32)
    values = store.strings(handles)
    for row in range(first, first + int(c.size[first]) + 1):
        while open_until and open_until[-1] < row:
            open_until.pop()
            told.add("end")
        kind = int(c.kind[row]) & KIND
        if kind == ELEMENT:
            told.add("start", _name(tape, row), [], [])
            open_until.append(row + int(c.size[row]))
        elif kind == ATTRIBUTE:
            told.events[-1][2].append((_name(tape, row), values[row]))
        elif kind == NAMESPACE:
            told.events[-1][3].append((_name(tape, row)[1], values[row]))
        elif kind == TEXT:
            assert told.events[-1][0] != "text", "two text nodes side by side"
            assert values[row], "an empty text node"
            told.text(values[row])
        elif kind == COMMENT:
            told.add("comment", values[row])
        elif kind == PI:
            told.add("pi", _name(tape, row)[1], values[row])
    for _ in open_until:
        told.add("end")
    for event in told.events:
        for part in event[2:]:
            if isinstance(part, list):
                part.sort()
    return told.events


def _name(tape: Tape, row: int) -> tuple[str, str, str]:
    prefix, local, uri = tape.names.qname(int(tape.columns.name[row]))
    return uri, local, prefix


def without_prefixes(events: list[Event]) -> list[Event]:
    """Events as libxml2 tells them: `{uri}local`, no declarations, nothing outside the root."""

    def clark(name: tuple[str, str, str]) -> str:
        return f"{{{name[0]}}}{name[1]}" if name[0] else name[1]

    plain: list[Event] = []
    for event in events:
        if event[0] == "start":
            attributes = sorted((clark(name), value) for name, value in event[2])
            plain.append(("start", clark(event[1]), attributes))
        else:
            plain.append(event)
    first = next(i for i, event in enumerate(plain) if event[0] == "start")
    last = max(i for i, event in enumerate(plain) if event[0] == "end")
    return plain[first : last + 1]


def well_shaped(tape: Tape) -> None:
    """Assert what every tape keeps: parents, levels and sizes fit together."""
    c = tape.columns
    open_rows: list[int] = []
    for row in range(len(tape)):
        while open_rows and open_rows[-1] + int(c.size[open_rows[-1]]) < row:
            open_rows.pop()
        parent = open_rows[-1] if open_rows else -1
        assert int(c.parent[row]) == parent
        assert int(c.level[row]) == len(open_rows)
        if int(c.kind[row]) & KIND in (0, ELEMENT):
            open_rows.append(row)
        else:
            assert int(c.size[row]) == 0
        assert (int(c.kind[row]) & KIND == ELEMENT) <= (int(c.name[row]) >= 0)
