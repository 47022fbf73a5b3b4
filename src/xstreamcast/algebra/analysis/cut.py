"""Where an input is cut into units, and where the nodes of a value may be in what is cut.

Above the units is the spine: elements of which every unit knows name and attributes, and none
the content.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Final, TypeAlias

from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import NodeItem
from xstreamcast.model.structure import TagStructure

Guard = tuple[str | None, str]  # the name (namespace, local) that no element of the spine may have


class NotDivided(Exception):
    """Why a part of a plan cannot be computed unit by unit."""

    def __init__(self, reason: str, span: Span = NOWHERE) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


@dataclass(frozen=True, slots=True)
class Depths:
    """Spine nodes by depth, the document's 0; `test` is the last one that they passed."""

    low: int
    high: int
    test: NodeItem | None = None


Spine: TypeAlias = "Depths | frozenset[int]"  # depths of a document, or tags of a stream


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where nodes may be: in the spine; inside units; `below` says never at their roots.

    `held`: some may be elements of the spine, of which only named children may be read.
    """

    spine: Spine | None = None
    inside: bool = False
    below: bool = False
    held: bool = False

    def joined(self, other: NodePlace) -> NodePlace:
        """Where the nodes of either may be."""
        if other == ELSEWHERE:
            return self
        if self == ELSEWHERE:
            return other
        spine = self.spine if other.spine is None else other.spine
        if self.spine is not None and other.spine is not None and self.spine != other.spine:
            raise NotDivided("it mixes elements from different places around the units")
        below = (self.below or not self.inside) and (other.below or not other.inside)
        return NodePlace(spine, self.inside or other.inside, below, self.held or other.held)


ELSEWHERE: Final = NodePlace()  # no node of the input: atomic values, constructed nodes, copies
UNIT: Final = NodePlace(inside=True)
_BELOW: Final = NodePlace(inside=True, below=True)
_DOWN: Final = ("child", "descendant", "descendant-or-self")
DOCUMENT_TAG: Final = -1


@dataclass(frozen=True, slots=True)
class DepthCut:
    """A document cut at a depth: the root element has depth 1, its children 2."""

    depth: int = 2

    def document(self) -> NodePlace:
        """Where the document node is."""
        return NodePlace(Depths(0, 0))

    def guard(self, test: NodeItem) -> Guard | None:
        """The name of children that must not come apart: how ranges are made depends on it."""
        assert test.local is not None
        return test.uri, test.local

    def down(self, spine: Spine, axis: str, test: NodeItem) -> NodePlace:
        """Where a step down leads from the spine."""
        assert isinstance(spine, Depths)
        if test.kind != "element" and not (test.kind == "node" and axis == "descendant-or-self"):
            raise NotDivided("it reads nodes between the units")
        low = spine.low if axis == "descendant-or-self" else spine.low + 1
        high = spine.high + 1 if axis == "child" else self.depth
        left = Depths(low, min(high, self.depth - 1), test)
        return NodePlace(left if low < self.depth else None, inside=high >= self.depth)

    def settled(self, place: NodePlace) -> tuple[NodePlace, Guard | None]:
        """The place without the spine, if a look at names can rule the spine out."""
        spine = place.spine
        assert isinstance(spine, Depths)
        test = spine.test
        if not place.inside or test is None or test.local is None:
            raise NotDivided("it reads the content of an element around the units")
        return NodePlace(None, True, place.below), (test.uri, test.local)


@dataclass(frozen=True, slots=True)
class TagCut:
    """A fragment stream cut at the holes of its root fragment, according to its structure."""

    structure: TagStructure = field(hash=False)
    passed: frozenset[int] = frozenset()  # tags of fragments that are around the units, too

    @property
    def levels(self) -> int:
        """How many fragments may be around a unit, besides the root."""
        return self._levels(self.structure.root, frozenset()) if self.passed else 0

    def _levels(self, tag: int, above: frozenset[int]) -> int:
        around = above | {tag}
        inner = (one for one in self.structure[tag].children if not self._cut(one))
        below = max((self._levels(one, around) for one in inner if one not in around), default=0)
        return below + (tag in self.passed)

    def document(self) -> NodePlace:
        """Where the document node is."""
        root = self.structure[self.structure.root]
        if root.type != "snapshot":
            raise NotDivided(f"the root {root.name} has versions")
        return NodePlace(frozenset({DOCUMENT_TAG}))

    def guard(self, test: NodeItem) -> Guard | None:
        """Children of elements around units must not pass the test, wherever they are."""
        above = (tag for tag in self.structure.tags if not self._is_inside(tag))
        if any(self._passes(tag, test) for tag in above):
            raise NotDivided("it reads the content of the root fragment")
        return None

    def _is_inside(self, tag: int) -> bool:
        """Whether elements of a tag are neither around units nor travel by themselves."""
        return not self.structure.travels(tag) and tag not in self.spine_tags()

    def down(self, spine: Spine, axis: str, test: NodeItem) -> NodePlace:
        """Where a step down leads from the spine, according to the structure."""
        assert isinstance(spine, frozenset)
        if test.kind != "element" and not (test.kind == "node" and axis == "descendant-or-self"):
            raise NotDivided("it reads nodes between the units")
        reached = set(self._below(spine)) if axis != "child" else set(self._children(spine))
        inside = any(self._cut(tag) for tag in reached)
        if axis == "child":
            inside = any(self._cut(tag) and self._passes(tag, test) for tag in reached)
        left = {tag for tag in reached if not self._cut(tag) and self._passes(tag, test)}
        if axis == "descendant-or-self":
            left |= {tag for tag in spine if self._passes(tag, test)}
        return NodePlace(frozenset(left) or None, inside)

    def leads_nowhere(self, spine: frozenset[int], axis: str, test: NodeItem) -> bool:
        """Whether the structure has no element that a step down could lead to."""
        if test.kind != "element" or axis not in ("child", "descendant") or self.structure.open:
            return False
        if not self.structure.declares_inside:
            return False
        reached = set(self._children(spine))
        if axis == "descendant":
            reached = {tag for one in reached for tag in self.structure.below(one)}
        return not any(self._passes(tag, test) for tag in reached)

    def settled(self, place: NodePlace) -> tuple[NodePlace, Guard | None]:
        """The structure already declares what may be in the spine."""
        raise NotDivided("it reads the content of the root fragment")

    def spine_tags(self) -> frozenset[int]:
        """The tags whose elements are in the root fragment itself."""
        below = self._below(frozenset({DOCUMENT_TAG}))
        return frozenset(tag for tag in below if not self._cut(tag))

    def depth_of(self, spine: frozenset[int]) -> int | None:
        """The one depth at which elements of some tags are in the root fragment, its own being 1;
        None if there are several.
        """
        depths: dict[int, int] = {}
        todo = [(self.structure.root, 1)]
        while todo:
            tag, depth = todo.pop()
            if depths.setdefault(tag, depth) != depth or depth > len(self.structure.tags):
                return None
            inner = (one for one in self.structure[tag].children if one not in self.passed)
            todo += [(one, depth + 1) for one in inner if not self._cut(one)]
        found = {depths.get(tag) for tag in spine}
        return found.pop() if len(found) == 1 else None

    def names_spine(self, test: NodeItem) -> bool:
        """Whether an element around units may pass a test."""
        return any(self._passes(tag, test) for tag in self.spine_tags())

    def _cut(self, tag: int) -> bool:
        if tag == self.structure.root or tag in self.passed:
            return False
        return self.structure.travels(tag)

    def _children(self, spine: frozenset[int]) -> Iterator[int]:
        for tag in spine:
            if tag == DOCUMENT_TAG:
                yield self.structure.root
            else:
                yield from self.structure[tag].children

    def _below(self, spine: frozenset[int]) -> frozenset[int]:
        """All tags below that can be reached without entering a unit, units' own tags included."""
        seen: set[int] = set()
        todo = list(self._children(spine))
        while todo:
            tag = todo.pop()
            if tag not in seen:
                seen.add(tag)
                if not self._cut(tag):
                    todo.extend(self.structure[tag].children)
        return frozenset(seen)

    def _passes(self, tag: int, test: NodeItem) -> bool:
        if tag == DOCUMENT_TAG:
            return test.kind == "node"
        named = self.structure[tag]
        return test.uri in (None, named.uri) and test.local in (None, named.local)


Cut: TypeAlias = DepthCut | TagCut


def are_elements(spine: Spine | None) -> bool:
    """Whether nothing but elements may be there: not the document."""
    match spine:
        case None:
            return False
        case Depths(_, _, test):
            return test is not None and test.kind == "element"
        case _:
            return DOCUMENT_TAG not in spine


def step(cut: Cut, place: NodePlace, axis: str, test: NodeItem, driving: bool) -> NodePlace:
    """Where a step leads; only a driving one goes from the spine into the units."""
    found = ELSEWHERE
    if place.inside:
        found = _inside(place, axis)
    if place.spine is not None:
        found = found.joined(_from_spine(cut, place.spine, axis, test, driving))
    return found


def _inside(place: NodePlace, axis: str) -> NodePlace:
    match axis:
        case "child" | "descendant" | "attribute":
            return _BELOW
        case "self" | "descendant-or-self":
            return NodePlace(inside=True, below=place.below)
        case "parent" if place.below:
            return UNIT
        case "following-sibling" | "preceding-sibling" if place.below:
            return _BELOW
        case _:
            raise NotDivided(f"the axis {axis} may leave the unit")


def _from_spine(cut: Cut, spine: Spine, axis: str, test: NodeItem, driving: bool) -> NodePlace:
    if axis == "attribute" and not driving:
        return ELSEWHERE  # known around every unit
    if axis == "self" and isinstance(spine, Depths):
        return NodePlace(Depths(spine.low, spine.high, test))
    if axis == "self":
        return NodePlace(spine)
    if axis not in _DOWN or not driving:
        match cut, spine:
            case TagCut(), frozenset() if cut.leads_nowhere(spine, axis, test):
                return ELSEWHERE
        raise NotDivided("it reads the content of an element around the units")
    return cut.down(spine, axis, test)
