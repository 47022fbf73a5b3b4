"""Cutting a document into fragments as its bytes come.

Elements of fragment tags become fragments of their own and leave a hole in their place. Ids count
in document order, the root is 0. A fragment is written when its element ends, so what is kept is
the open path: for each open fragment what is not yet written of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from xstreamcast.circuit.inputs.unit_tags import unit_tags
from xstreamcast.edges.wire.encoder import UNIT, declaring, fragment_line, hole
from xstreamcast.edges.wire.reading import ENDING
from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.model.fragment import STREAM
from xstreamcast.model.structure import TagStructure
from xstreamcast.tape.expat.expat_errors import input_error
from xstreamcast.tape.expat.transcoding import Transcoder
from xstreamcast.tape.reading.read import read

_START_TAG: Final = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")

ValidTime = Callable[[bytes], str | None]  # of a fragment's payload


@dataclass(slots=True)
class _Open:
    """A fragment whose element has not ended."""

    id: int
    tsid: int
    at: int  # the first byte of the input that is not yet in `parts`
    inherited: dict[str, str]
    parts: list[bytes] = field(default_factory=list)


def cut(
    document: Iterable[bytes],
    structure: TagStructure,
    *,
    valid: ValidTime | None = None,
    name: str = "document",
    prefix: str = "",
) -> Iterator[bytes]:
    """The fragments of a document that comes in chunks, each a line, children before parents.

    `prefix`: what their ids begin with.
    """
    chunks = iter(document)
    cutter, transcoder = _Cutter(structure, valid, name, prefix), Transcoder(name)
    seen: list[bytes] = []  # until it is clear that no entities are declared
    for chunk in chunks:
        if not cutter.begun:
            seen.append(chunk)
        try:
            yield from cutter.feed(transcoder.feed(chunk) or b"")
        except _DeclaresEntities:
            expanded = [_expanded([*seen, *chunks], name)]
            yield from cut(expanded, structure, valid=valid, name=name, prefix=prefix)
            return
    if not cutter.begun:
        yield from cutter.feed(transcoder.feed(ENDING) or b"")
    yield from cutter.close()


class _DeclaresEntities(Exception):
    """The document has declarations of its own: its parts mean nothing without them."""


def _expanded(document: list[bytes], name: str) -> bytes:
    """The document without a document type: entities expanded, defaults written out."""
    return read(b"".join(document), name=name).serialize()


class _Cutter:
    """A document on its way through."""

    def __init__(
        self, structure: TagStructure, valid: ValidTime | None, name: str, prefix: str
    ) -> None:
        self._structure, self._valid, self._name, self._prefix = structure, valid, name, prefix
        self._ids = 0
        self._below = {
            tag.id: {(child.uri, child.local): child.id for child in structure.children(tag.id)}
            for tag in structure.tags.values()
        }
        self._travels = {tag.id for tag in structure.tags.values() if tag.filler}
        tags = unit_tags(structure)
        self._inside = frozenset[int]() if tags is None else tags.inside
        self._bytes, self._begin = b"", 0  # what is kept, and where in the input it begins
        self._path: list[int] = []
        self._open: list[_Open] = []
        self._scopes: list[dict[str, str]] = [{}]
        self._last = (0, False)  # byte of the last tag, and whether it was a start tag
        self._ready: list[bytes] = []
        self.begun = False
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.SkippedEntityHandler = self._skipped

    def feed(self, chunk: bytes) -> list[bytes]:
        """Read a chunk → the fragments that it completed."""
        self._bytes += chunk
        self._parse(chunk, False)
        self._drop()
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> list[bytes]:
        """The document has ended."""
        self._parse(b"", True)
        return self._ready

    def _parse(self, chunk: bytes, final: bool) -> None:
        try:
            self._parser.Parse(chunk, final)
        except expat.ExpatError as said:
            at = self._parser.ErrorByteIndex
            refused = input_error(said, at - self._begin, self._bytes, self._name)
            refused.place = DataPlace(self._name, None, at, said.lineno, said.offset + 1)
            raise refused from None

    def _drop(self) -> None:
        """Drop the bytes before the last tag; the innermost fragment copies its own."""
        last = self._last[0]
        if self._open and self._open[-1].at < last:
            top = self._open[-1]
            top.parts.append(self._slice(top.at, last))
            top.at = last
        if last > self._begin:
            self._bytes, self._begin = self._bytes[last - self._begin :], last

    def _slice(self, first: int, last: int) -> bytes:
        return self._bytes[first - self._begin : last - self._begin]

    def _doctype(self, _name: str, _system: object, _public: object, declares: int) -> None:
        if declares:
            raise _DeclaresEntities

    def _skipped(self, name: str, _parameter: bool) -> None:
        raise error("XSCX0001", f"the entity {name} is not declared here", at=self._place())

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        at, self.begun = self._parser.CurrentByteIndex, True
        above = self._scopes[-1]
        scope = _scope(above, attributes) if attributes else above
        self._scopes.append(scope)
        tsid = self._tag(name, scope)
        self._path.append(tsid)
        if not self._open or tsid in self._travels:
            self._open_fragment(tsid, at, above)
        self._last = at, True

    def _tag(self, name: str, scope: dict[str, str]) -> int:
        """The tag of an element below the innermost open one."""
        prefix, _, local = name.rpartition(":")
        key = scope.get(prefix, ""), local
        if self._path:
            tsid = self._below[self._path[-1]].get(key)
            if tsid is not None:
                return tsid
            where = f"below {self._structure[self._path[-1]].name}"
        else:
            root = self._structure[self._structure.root]
            if key == (root.uri, root.local):
                return root.id
            where = f"as root, which must be {root.name}"
        raise self._does_not_fit(f"{{{key[0]}}}{local}" if key[0] else local, where)

    def _does_not_fit(self, name: str, where: str) -> Error:
        return error(
            "XSCT0003",
            f"the tag structure must know every element; got {name} {where}",
            at=self._place(),
            hint="xstreamcast infer proposes a structure for the document",
        )

    def _place(self) -> DataPlace:
        parser = self._parser
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        return DataPlace(self._name, None, parser.CurrentByteIndex, line, column)

    def _open_fragment(self, tsid: int, at: int, above: dict[str, str]) -> None:
        if self._open:
            around, scope = self._open[-1], self._scopes[-2]
            around.parts.append(self._slice(around.at, at))
            around.parts.append(hole(self._id(self._ids), tsid, scope.get("stream", STREAM)))
        self._open.append(_Open(self._ids, tsid, at, above))
        self._ids += 1

    def _end(self, name: str) -> None:
        at = self._parser.CurrentByteIndex
        tsid = self._path.pop()
        self._scopes.pop()
        if not self._path or tsid in self._travels:
            self._close_fragment(self._end_of_tag(at))
        self._last = at, False

    def _end_of_tag(self, at: int) -> int:
        """The byte after an end tag at `at`, or after an empty element, which expat calls it."""
        start, direct = self._last
        if direct and self._slice(at - 2, at) == b"/>":
            tag = _START_TAG.match(self._bytes, start - self._begin)
            if tag is not None and tag.end() + self._begin == at:
                return at
        return self._bytes.index(b">", at - self._begin) + 1 + self._begin

    def _close_fragment(self, end: int) -> None:
        unit = self._unit()
        done = self._open.pop()
        done.parts.append(self._slice(done.at, end))
        payload = declaring(b"".join(done.parts), done.inherited)
        valid = self._valid(payload) if self._valid else None
        self._ready.append(fragment_line(self._id(done.id), done.tsid, payload, valid, more=unit))
        if self._open:
            self._open[-1].at = end

    def _id(self, number: int) -> str:
        return f"{self._prefix}{number}"

    def _unit(self) -> dict[str, str]:
        """The unit of the innermost fragment, which readers partition it by; a unit
        names itself where others of its tag are inside of units.
        """
        if len(self._open) > 2 or (len(self._open) == 2 and self._open[1].tsid in self._inside):
            return {UNIT: self._id(self._open[1].id)}
        return {}


def _scope(above: dict[str, str], attributes: dict[str, str]) -> dict[str, str]:
    """The namespaces in scope: prefix → URI, "" for the default one."""
    own = {
        name[6:]: uri for name, uri in attributes.items() if name == "xmlns" or name[:6] == "xmlns:"
    }
    if not own:
        return above
    both = {**above, **own}
    return {prefix: uri for prefix, uri in both.items() if uri}
