"""Tag structures as XML: every dialect is read, one canonical form is written.

    <stream:structure xmlns:stream="urn:xstreamcast:stream">
      <tag id="1" name="accounts" type="snapshot">
        <tag id="2" name="account" type="temporal"> … <tag ref="2"/> </tag>
      </tag>
    </stream:structure>

`ref` refers to a tag that is described elsewhere, so that a tag may contain itself. `uri` is the
namespace of the name, where it has one. `filler="true"` says that a snapshot tag travels as
fragments. The structure's own attributes name identifiers and references to them, as a DTD does:
`<stream:structure ids="account/@no" idrefs="transfer/@from transfer/@to">`.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, Final

from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.model.fragment import STREAM
from xstreamcast.model.markup import quoteattr
from xstreamcast.model.structure import Tag, TagStructure, TagType
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.namespaces import in_scope_namespaces
from xstreamcast.tape.node import Node
from xstreamcast.tape.reading.read import read

_TYPES: Final[dict[str, tuple[TagType, bool]]] = {
    "snapshot": ("snapshot", False),
    "temporal": ("temporal", True),
    "event": ("event", True),
    "filler": ("snapshot", True),
    "embedded": ("snapshot", False),
}
_TRUTH: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_IDENTIFIERS: Final = {"ids": "ID", "idrefs": "IDREF"}
_WRAPPERS: Final = ("structure", "tagstructure")
_IDS: Final = 1 << 31  # ids of tags are below this


def read_structure(source: Any, name: str | None = None) -> TagStructure:
    """The structure in XML of its own: bytes, or the path of a file."""
    if isinstance(source, str | PathLike):
        with open(source, "rb") as file:
            raw, name = file.read(), name or str(source)
    else:
        raw = bytes(source)
    if b"stream:" in raw and b"xmlns:stream" not in raw:
        raw = raw.replace(b"<stream:structure", b"<stream:structure xmlns:stream='%s'" % _URI, 1)
    tape = read(raw, name=name)
    root = next(child for child in tape[0].children if child.kind == "element")
    return structure_of(tape, root.row)


def structure_of(tape: Tape, row: int) -> TagStructure:
    """The structure that the element at `row` describes: a wrapper of a tag, or a tag."""
    top, named = Node(tape, row), frozenset[tuple[str, str, str]]()
    while _local(top).lower() in _WRAPPERS or (_local(top) == "tag" and not _said(top)):
        inner = _tags(top)
        if len(inner) != 1:
            raise _wrong(top, f"a structure must have one root tag; got {len(inner)}")
        named |= _identifiers(top)
        top = inner[0]
    return replace(_Reading().read(top), identifiers=named)


def _identifiers(node: Node) -> frozenset[tuple[str, str, str]]:
    """Which attributes name elements, and which refer to them."""
    found = []
    for word, kind in _IDENTIFIERS.items():
        for one in _said(node).get(word, "").split():
            element, slash, attribute = one.partition("/@")
            if not (element and slash and attribute) or "/" in element + attribute:
                raise _wrong(node, f"{word} must be like account/@no; got {one}")
            found.append((element, attribute, kind))
    return frozenset(found)


class _Reading:
    """The tags met so far."""

    def __init__(self) -> None:
        self.tags: dict[int, Tag] = {}
        self.typed = False
        self._open: set[int] = set()
        self._referred: dict[int, Node] = {}

    def read(self, top: Node) -> TagStructure:
        root = self.tag(top)
        for tsid, node in self._referred.items():
            if tsid not in self.tags:
                raise _wrong(node, f"ref must be the id of a tag; got {tsid}")
        structure = TagStructure(root, self.tags, not self.typed)
        for tag in self.tags.values():
            names = [child.name for child in structure.children(tag.id)]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise _wrong(top, f"below {tag.name} there must be one tag {twice}; got two")
        return structure

    def tag(self, node: Node) -> int:
        """Add a tag with all below it → its id."""
        if _local(node) != "tag":
            raise _wrong(node, f"a structure must be made of tag elements; got {node.name}")
        said = _said(node)
        if "ref" in said:
            tsid = _id(node, said["ref"], "ref")
            self._referred[tsid] = node
            return tsid
        tsid = _id(node, said.get("id", said.get("tsid", "")), "id")
        if tsid in self._open and not _tags(node):
            return tsid  # a tag below itself, written out
        if tsid in self.tags or tsid in self._open:
            raise _wrong(node, f"ids of tags must differ; got {tsid} twice")
        self._open.add(tsid)
        uri, local = _name(node, said)
        kind, filler = self._type(node, said)
        children = tuple(dict.fromkeys(self.tag(child) for child in _tags(node)))
        self._open.discard(tsid)
        self.tags[tsid] = Tag(tsid, uri, local, kind, filler, children)
        return tsid

    def _type(self, node: Node, said: dict[str, str]) -> tuple[TagType, bool]:
        written, flag = said.get("type"), said.get("filler")
        if written is None and flag is None:
            return "snapshot", False
        self.typed = True
        if written is not None and written.strip() not in _TYPES:
            raise _wrong(node, f"type must be one of {', '.join(_TYPES)}; got {written}")
        kind, filler = _TYPES[(written or "snapshot").strip()]
        if flag is not None and flag.strip().lower() not in _TRUTH:
            raise _wrong(node, f"filler must be true or false; got {flag}")
        if flag is not None and kind == "snapshot":
            filler = _TRUTH[flag.strip().lower()]
        return kind, filler


def write_structure(structure: TagStructure, indent: str | None = "  ") -> bytes:
    """The canonical form; on one line if `indent` is None."""
    pad, end = ("", "") if indent is None else (indent, "\n")
    lines = _written(structure, structure.root, set(), 1, pad)
    head = f'<stream:structure xmlns:stream="{STREAM}"'
    for word, kind in _IDENTIFIERS.items():
        names = sorted(f"{e}/@{a}" for e, a, one in structure.identifiers if one == kind)
        head += f" {word}={quoteattr(' '.join(names))}" if names else ""
    head, foot = f"{head}>", "</stream:structure>"
    return end.join([head, *lines, foot]).encode()


def _written(structure: TagStructure, tsid: int, met: set[int], depth: int, pad: str) -> list[str]:
    if tsid in met:
        return [f'{pad * depth}<tag ref="{tsid}"/>']
    met.add(tsid)
    tag = structure[tsid]
    head = f'{pad * depth}<tag id="{tsid}" name={quoteattr(tag.local)}'
    head += f" uri={quoteattr(tag.uri)}" if tag.uri else ""
    if not structure.open or any(one.type != "snapshot" for one in structure.tags.values()):
        head += f' type="{tag.type}"'
    if tag.type == "snapshot" and tag.filler:
        head += ' filler="true"'
    if not tag.children:
        return [head + "/>"]
    inner = [
        line for child in tag.children for line in _written(structure, child, met, depth + 1, pad)
    ]
    return [head + ">", *inner, f"{pad * depth}</tag>"]


_URI: Final = STREAM.encode()


def _local(node: Node) -> str:
    return node.name.rpartition(":")[2]


def _tags(node: Node) -> list[Node]:
    return [child for child in node.children if child.kind == "element"]


def _said(node: Node) -> dict[str, str]:
    """Attributes that say something of a tag, by local name."""
    known = ("id", "tsid", "ref", "name", "uri", "type", "filler", "ids", "idrefs")
    found = {attribute.name.rpartition(":")[2]: attribute.string for attribute in node.attributes}
    return {name: value for name, value in found.items() if name in known}


def _id(node: Node, written: str, what: str) -> int:
    text = written.strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else _IDS
    if number >= _IDS:
        raise _wrong(node, f"{what} must be a number below {_IDS}; got {written or 'none'}")
    return number


def _name(node: Node, said: dict[str, str]) -> tuple[str, str]:
    """(namespace, local part) of a tag's name: `uri` and name, {uri}name, or prefix:name."""
    written = said.get("name", "").strip()
    uri, brace, local = written[1:].rpartition("}") if written[:1] == "{" else ("", "", written)
    if not brace and ":" in local:
        prefix, _, local = local.partition(":")
        scope = in_scope_namespaces(node.tape, node.row)
        if prefix not in scope:
            raise _wrong(node, f"the prefix of a name must be declared; got {written}")
        uri = scope[prefix]
    if not local or any(mark in local for mark in " <>&\"'/:{}"):
        raise _wrong(node, f"name must be an element name; got {written or 'none'}")
    return said.get("uri", uri), local


def _wrong(node: Node, message: str) -> Error:
    start = int(node.tape.columns.start[node.row])
    return error("XSCT0001", message, at=DataPlace(node.tape.source or "structure", None, start))
