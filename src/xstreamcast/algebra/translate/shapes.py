"""What is known of a value before it is computed: `e : ts` of the paper's translation."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from xstreamcast.model.frozen import dataclass
from xstreamcast.model.structure import Tag, TagStructure

Kind = Literal["plain", "raw", "whole", "loose"]


class Uncovered(Exception):
    """No rule covers this: the stream has to be materialised. Its text is the reason."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The nodes of a stream in a value.

    plain  none: atomic values, constructed elements
    raw    elements of these tags, holes in them, in document order
    whole  elements without holes, in document order
    loose  elements without holes, in any order, maybe twice
    """

    kind: Kind
    stream: str = ""
    structure: TagStructure | None = None
    tags: frozenset[int] = frozenset()
    document: bool = False  # raw: the document node
    one: bool = False  # one item at most
    nested: bool = False  # one may be in another, or they came out of order

    def single(self) -> Shape:
        """The shape of each of its items."""
        return self if self.kind == "plain" else replace(self, one=True, nested=False)

    def children(self) -> list[Tag]:
        """The tags that may be directly below."""
        assert self.structure is not None
        if self.document:
            return [self.structure[self.structure.root]]
        found = {child for tag in self.tags for child in self.structure[tag].children}
        return [self.structure[child] for child in sorted(found)]

    def has_holes(self) -> bool:
        """May there be holes in it?"""
        if self.kind != "raw":
            return False
        assert self.structure is not None
        return self.document or any(
            self.structure.travels(below)
            for tag in self.tags
            for child in self.structure[tag].children
            for below in self.structure.below(child)
        )

    def walkable(self) -> bool:
        """Would a step from it find each node once, in document order, item by item?"""
        return self.one or self.kind == "plain" or (self.kind != "loose" and not self.nested)


PLAIN = Shape("plain")
LOOSE = Shape("loose")
ONE_LOOSE = Shape("loose", one=True)


def whole(nested: bool = False, one: bool = False) -> Shape:
    """Nodes without holes, in document order."""
    return Shape("whole", one=one, nested=nested)
