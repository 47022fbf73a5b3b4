"""Which elements of an update stream become fragments: by a tag structure, or by learning.

Learnt, a tag is a name; its elements travel once one of them was at the top of a region.
"""

from __future__ import annotations

from typing import Protocol

from xstreamcast.edges.updates.tree import Region, TreeElement
from xstreamcast.model.structure import Tag, TagStructure, TagType


class Tags(Protocol):
    """The tags that a decoder needs."""

    def note(self, element: TreeElement) -> bool:
        """Give a new element its tag → whether this makes elements travel that did not before."""

    def travels(self, element: TreeElement) -> bool: ...

    def is_removable(self, element: TreeElement) -> bool:
        """Whether a removal ends an element that travels; an event cannot be taken back."""

    def structure(self, root: TreeElement) -> TagStructure: ...


class StructureTags:
    """Tags as a structure says; an element that it does not know stays within its parent."""

    def __init__(self, structure: TagStructure) -> None:
        self._structure = structure
        self._child = {
            (tsid, child.uri, child.local): child.id
            for tsid in structure.tags
            for child in structure.children(tsid)
        }

    def note(self, element: TreeElement) -> bool:
        uri, local = expanded_name(element)
        around = element.around
        if around is None:
            root = self._structure[self._structure.root]
            element.tag = root.id if (root.uri, root.local) == (uri, local) else None
        elif around.tag is not None:
            element.tag = self._child.get((around.tag, uri, local))
        return False

    def travels(self, element: TreeElement) -> bool:
        return element.tag is not None and self._structure.travels(element.tag)

    def is_removable(self, element: TreeElement) -> bool:
        return element.tag is not None and self._structure[element.tag].type != "event"

    def structure(self, root: TreeElement) -> TagStructure:
        return self._structure


class Learnt:
    """Tags by name, as they are met.

    A replacement takes the place of an element; with `versions`, both are kept, each with
    its lifespan.
    """

    def __init__(self, versions: bool = False) -> None:
        self._type: TagType = "temporal" if versions else "snapshot"
        self._ids: dict[tuple[str, str], int] = {}
        self._children: dict[int, dict[int, None]] = {}
        self._travelling: set[int] = set()
        self._known: TagStructure | None = None

    def note(self, element: TreeElement) -> bool:
        name = expanded_name(element)
        tag = self._ids.get(name)
        if tag is None:
            tag = self._ids[name] = len(self._ids) + 1
            self._children[tag], self._known = {}, None
        element.tag = tag
        around = element.around
        if around is not None and around.tag is not None and tag not in self._children[around.tag]:
            self._children[around.tag][tag] = None
            self._known = None
        top = isinstance(element.above, Region) and element.above.begun is not None
        if not top or around is None or tag in self._travelling:
            return False
        self._travelling.add(tag)
        self._known = None
        return True

    def travels(self, element: TreeElement) -> bool:
        return element.tag in self._travelling

    def is_removable(self, element: TreeElement) -> bool:
        return True

    def structure(self, root: TreeElement) -> TagStructure:
        if self._known is None or self._known.root != root.tag:
            assert root.tag is not None
            tags = {tag: self._tag(tag, *name) for name, tag in self._ids.items()}
            self._known = TagStructure(root.tag, tags)
        return self._known

    def _tag(self, tag: int, uri: str, local: str) -> Tag:
        travels = tag in self._travelling
        children = tuple(self._children[tag])
        return Tag(tag, uri, local, self._type if travels else "snapshot", travels, children)


def expanded_name(element: TreeElement) -> tuple[str, str]:
    """(namespace, local name) of an element, by the declarations around it."""
    prefix, _, local = str(element.token[1]).rpartition(":")
    return scope(element).get(prefix, ""), local


def scope(element: TreeElement | None) -> dict[str, str]:
    """The prefixes that an element and those around it declare, and what for."""
    found: dict[str, str] = {}
    while element is not None:
        for name, value in element.token[2] if len(element.token) > 2 else ():
            prefix = "" if name == "xmlns" else name[6:] if name.startswith("xmlns:") else None
            if prefix is not None:
                found.setdefault(prefix, value)
        element = element.around
    return found
