"""The elements of an XML Schema: declarations, types, groups, references, extensions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from xstreamcast.edges.infer.from_dtd import tells_time
from xstreamcast.edges.infer.graph import Element, Graph, merge_equals
from xstreamcast.errors import DataPlace, error
from xstreamcast.tape.namespaces import in_scope_namespaces
from xstreamcast.tape.node import Node
from xstreamcast.tape.reading.read import read

_XS: Final = "http://www.w3.org/2001/XMLSchema"
_PARTICLES: Final = ("sequence", "choice", "all")
_TIMES: Final = ("dateTime", "date", "dateTimeStamp")

Name = tuple[str, str]
Key = tuple[int, int]  # which file, which row


@dataclass(slots=True)
class _Schemas:
    """All files of a schema, and what they declare by kind and name."""

    graph: Graph
    globals: dict[tuple[str, Name], tuple[int, Node]] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    spaces: list[tuple[str, bool]] = field(default_factory=list)  # target, locals are qualified

    def load(self, path: str, space: str | None = None) -> int:
        """Read a file, with those it includes and imports where they are at hand."""
        full = os.path.abspath(path)
        if full in self.files:
            return self.files[full]
        tape = read(path)
        schema = next(node for node in tape[0].children if node.kind == "element")
        if (schema.uri, _local(schema)) != (_XS, "schema"):
            raise error("XSCT0001", f"{path} must be an XML Schema; got {schema.name}")
        said = _said(schema)
        number = self.files[full] = len(self.spaces)
        target = said.get("targetNamespace", space or "")
        self.spaces.append((target, said.get("elementFormDefault") == "qualified"))
        for node in _elements(schema):
            if _local(node) in ("include", "import", "redefine"):
                self._other(node, path, target)
            elif "name" in _said(node):
                kind = "type" if _local(node).endswith("Type") else _local(node)
                self.globals[kind, (target, _said(node)["name"])] = number, node
        return number

    def _other(self, node: Node, path: str, target: str) -> None:
        there = _said(node).get("schemaLocation", "")
        near = os.path.join(os.path.dirname(path), there)
        if there and os.path.isfile(near):
            self.load(near, target if _local(node) == "include" else None)

    # --- what an element contains ---------------------------------------------------------

    def element(self, number: int, node: Node, outermost: bool) -> Key:
        """Add a declaration with all that it contains → its key."""
        if "ref" in _said(node):
            number, node = self._named("element", node, "ref")
            outermost = True
        key = number, node.row
        if key in self.graph.elements:
            return key
        target, qualified = self.spaces[number]
        said = _said(node)
        form = said.get("form", "qualified" if qualified else "unqualified")
        made = Element(target if outermost or form == "qualified" else "", said["name"])
        self.graph.elements[key] = made
        for owner, kind in self._types(number, node):
            self._content(owner, kind, False, made)
        return key

    def _types(self, number: int, node: Node) -> Iterator[tuple[int, Node]]:
        """The complex type of an element, written in it or named."""
        yield from ((number, inner) for inner in _elements(node) if _local(inner) == "complexType")
        if "type" in _said(node) and self._resolved(node, "type")[0] != _XS:
            yield self._named("type", node, "type")

    def _content(self, number: int, node: Node, repeats: bool, made: Element) -> None:
        """Note the elements below a type, group or part of one, and the attributes that are times.

        What an extension has is that of its base, then its own.
        """
        for part in _elements(node):
            said, kind = _said(part), _local(part)
            again = repeats or said.get("maxOccurs", "1") not in ("0", "1")
            if kind == "element":
                key = self.element(number, part, False)
                made.children[key] = made.children.get(key, False) or again
                self._note_time(part, made, said.get("name", ""))
            elif kind == "attribute":
                self._note_time(part, made, "@" + said.get("name", ""))
            elif kind in ("group", "attributeGroup") and "ref" in said:
                self._content(*self._named(kind, part, "ref"), again, made)
            elif kind in (*_PARTICLES, "complexContent", "simpleContent", "restriction"):
                self._content(number, part, again, made)
            elif kind == "extension":
                if self._resolved(part, "base")[0] != _XS:
                    self._content(*self._named("type", part, "base"), again, made)
                self._content(number, part, again, made)

    def _note_time(self, node: Node, made: Element, name: str) -> None:
        typed = "type" in _said(node) and self._resolved(node, "type")
        is_time = typed and typed[0] == _XS and typed[1] in _TIMES
        if (is_time or tells_time(name)) and name not in made.times:
            made.times.append(name)

    def _resolved(self, node: Node, attribute: str) -> Name:
        prefix, _, local = _said(node)[attribute].rpartition(":")
        return in_scope_namespaces(node.tape, node.row).get(prefix, ""), local

    def _named(self, kind: str, node: Node, attribute: str) -> tuple[int, Node]:
        """The target of a reference."""
        tape, name = node.tape, self._resolved(node, attribute)
        target = next((space for space, _ in self.spaces if space), "")
        found = self.globals.get((kind, name)) or self.globals.get((kind, (target, name[1])))
        if found is None:
            raise error(
                "XSCT0001",
                f"the schema must declare {kind} {_said(node)[attribute]}",
                at=DataPlace(tape.source or "schema", None, int(tape.columns.start[node.row])),
            )
        return found


def graph_of_xsd(path: str, root: str | None = None) -> Graph:
    """What the schema allows below its root: the one named, or the element no other refers to."""
    schemas = _Schemas(Graph(None))
    schemas.load(path)
    tops = {
        name: schemas.element(number, node, True)
        for (kind, (_, name)), (number, node) in list(schemas.globals.items())
        if kind == "element"
    }
    if not tops or (root is not None and root not in tops):
        raise error("XSCT0001", f"{path} must declare {root or 'a global element'}")
    graph = schemas.graph
    inside = {key for made in graph.elements.values() for key in made.children}
    free = [key for key in tops.values() if key not in inside]
    graph.root = tops[root] if root else (free or list(tops.values()))[0]
    kept = set(graph.walk())
    graph.elements = {key: made for key, made in graph.elements.items() if key in kept}
    merge_equals(graph, recursive=False)
    return graph


def _elements(node: Node) -> list[Node]:
    return [child for child in node.children if child.kind == "element"]


def _local(node: Node) -> str:
    return node.name.rpartition(":")[2]


def _said(node: Node) -> dict[str, str]:
    return {attribute.name: attribute.string.strip() for attribute in node.attributes}
