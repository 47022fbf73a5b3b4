"""The slow, authoritative way onto a tape: expat's events, written as the same columns.

It reads what the fast tokeniser does not: internal DTD subsets and encodings other than UTF-8.
Values arrive decoded and go to a heap of their own, so no row NEEDS_DECODE. Nothing external is
ever fetched: what would have to be is refused.
"""

from __future__ import annotations

from array import array
from typing import Protocol
from xml.parsers import expat

import numpy as np

from xstreamcast.errors import DataPlace, error
from xstreamcast.tape.expat.expat_errors import Buffer, input_error, place, unknown_encoding
from xstreamcast.tape.expat.outside import OutsideEntities
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    NAMESPACE,
    PI,
    TEXT,
    Columns,
    Tape,
    frozen_bytes,
)
from xstreamcast.tape.limits import DEEPEST, raised
from xstreamcast.tape.names import Names

_BAR = "\x01"  # between URI, local part and prefix in expat's names; no XML text can hold it


class LimitsLike(Protocol):
    """The limits that are kept while reading."""

    @property
    def max_depth(self) -> int: ...
    @property
    def max_name_length(self) -> int: ...
    @property
    def max_attributes(self) -> int: ...
    @property
    def max_entity_expansion(self) -> int: ...
    @property
    def max_document_size(self) -> int: ...


def columns_from_expat(
    data: Buffer,
    *,
    names: Names | None = None,
    limits: LimitsLike | None = None,
    source: str | None = None,
    encoding: str | None = None,
) -> Tape:
    """The document in `data`, read by expat; `encoding` overrides what the document declares."""
    return _Reading(data, names or Names(), limits, source, encoding).tape()


class _Reading:
    """One document on its way from expat's events to columns."""

    def __init__(
        self,
        data: Buffer,
        names: Names,
        limits: LimitsLike | None,
        source: str | None,
        encoding: str | None,
    ) -> None:
        self._data, self._names, self._limits, self._source = data, names, limits, source
        self._kind, self._level = array("B"), array("H")
        self._name, self._parent, self._size = array("i"), array("i"), array("i")
        self._start, self._length = array("q"), array("i")
        self._heap = bytearray()
        self._open: list[int] = []
        self._text: int | None = None  # the text row that further character data would extend
        self._declared: list[tuple[str, str]] = []
        self._ids: dict[tuple[str, str], str] = {}
        self._characters = 0  # of names and values, to see what entities expand to
        self._known: dict[str, int] = {}
        self._parser = self._listening(encoding)

    def tape(self) -> Tape:
        """Read it all."""
        self._check("max_document_size", len(self._data), "XSCX0105")
        self._add(DOCUMENT, -1, None)
        self._open.append(0)
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as said:
            offset = self._parser.ErrorByteIndex
            raise input_error(said, offset, self._data, self._source) from None
        except (LookupError, ValueError) as unknown:  # what Python's codecs say of the encoding
            raise unknown_encoding(unknown, self._source) from None
        self._close()
        return Tape(self._columns(), self._names, self._source, self._ids or None)

    def _listening(self, encoding: str | None) -> expat.XMLParserType:
        parser = expat.ParserCreate(encoding, _BAR)
        parser.namespace_prefixes = True
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._on_start
        parser.EndElementHandler = lambda _: self._close()
        parser.StartNamespaceDeclHandler = self._on_namespace
        parser.CharacterDataHandler = self._on_text
        parser.CommentHandler = self._on_comment
        parser.ProcessingInstructionHandler = self._on_pi
        parser.AttlistDeclHandler = self._on_attribute_list
        self._entities = OutsideEntities(parser, self._place)
        return parser

    def _on_attribute_list(self, element: str, name: str, kind: str, *_: object) -> None:
        if kind in ("ID", "IDREF", "IDREFS"):
            self._ids.setdefault((element, name), kind)

    def _on_namespace(self, prefix: str | None, uri: str | None) -> None:
        if prefix != "xml":
            self._declared.append((prefix or "", uri or ""))

    def _on_start(self, name: str, attributes: list[str]) -> None:
        self._text = None
        self._entities.check_attributes()
        row = self._add(ELEMENT, self._intern(name), None)
        self._open.append(row)
        self._check("max_depth", len(self._open) - 1, "XSCX0101")
        if len(self._open) > DEEPEST:
            raise error("XSCX0101", None, at=self._place())
        self._check("max_attributes", len(attributes) // 2 + len(self._declared), "XSCX0103")
        for prefix, uri in self._declared:
            self._add(NAMESPACE, self._names.binding(prefix, uri), uri)
        self._declared.clear()
        for i in range(0, len(attributes), 2):
            self._add(ATTRIBUTE, self._intern(attributes[i]), attributes[i + 1])

    def _on_text(self, text: str) -> None:
        if self._text is None:
            self._text = self._add(TEXT, -1, text)
        else:
            self._length[self._text] += self._store(text)

    def _on_comment(self, text: str) -> None:
        if not self._entities.in_doctype:
            self._text = None
            self._add(COMMENT, -1, text)

    def _on_pi(self, target: str, text: str) -> None:
        if not self._entities.in_doctype:
            self._text = None
            self._add(PI, self._intern(target), text)

    def _close(self) -> None:
        self._text = None
        row = self._open.pop()
        self._size[row] = len(self._kind) - row - 1

    def _add(self, kind: int, name: int, value: str | None) -> int:
        row = len(self._kind)
        self._kind.append(kind)
        self._level.append(len(self._open))
        self._name.append(name)
        self._parent.append(self._open[-1] if self._open else -1)
        self._size.append(0)
        self._start.append(len(self._heap))
        self._length.append(-1 if value is None else self._store(value))
        return row

    def _store(self, text: str) -> int:
        """Append `text` to the heap → its length in bytes."""
        coded = text.encode()
        self._heap += coded
        self._count(len(text))
        return len(coded)

    def _count(self, characters: int) -> None:
        # A character takes at least one byte of input: what exceeds it was made by entities
        # and default attributes.
        self._characters += characters
        made = self._characters - max(self._parser.CurrentByteIndex, 0)
        self._check("max_entity_expansion", made, "XSCX0104")

    def _intern(self, name: str) -> int:
        known = self._known.get(name)
        if known is None:
            uri, local, prefix = _split(name)
            self._check("max_name_length", len(prefix) + len(local), "XSCX0102")
            known = self._known[name] = self._names.intern(prefix, local, uri)
        return known

    def _check(self, limit: str, value: int, code: str) -> None:
        if self._limits is not None and value > getattr(self._limits, limit):
            bound = getattr(self._limits, limit)
            hint = f"the limit is {bound}; {raised(limit)}"
            raise error(code, None, at=self._place(), hint=hint)

    def _place(self) -> DataPlace:
        return place(self._data, max(self._parser.CurrentByteIndex, 0), self._source)

    def _columns(self) -> Columns:
        return Columns(
            np.array(self._kind, np.uint8),
            np.array(self._level, np.uint16),
            np.array(self._name, np.int32),
            np.array(self._parent, np.int32),
            np.array(self._size, np.int32),
            np.array(self._start, np.int64),
            np.array(self._length, np.int32),
            frozen_bytes(self._heap),
        )


def _split(name: str) -> tuple[str, str, str]:
    """expat's `local`, `uri|local` or `uri|local|prefix` → (uri, local, prefix)."""
    match name.split(_BAR):
        case [uri, local, prefix]:
            return uri, local, prefix
        case [uri, local]:
            return uri, local, ""
        case _:
            return "", name, ""
