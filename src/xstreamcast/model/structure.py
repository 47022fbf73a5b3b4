"""Tag structures: which tags a stream has, how they nest, and which of them have versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Literal

from xstreamcast.model.frozen import dataclass

TagType = Literal["snapshot", "temporal", "event"]


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag: `filler`: its elements are sent as fragments of their own.

    `children` are tag ids, not tags, so that a tag may contain itself.
    """

    id: int
    uri: str
    local: str
    type: TagType
    filler: bool
    children: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name as messages show it."""
        return f"{{{self.uri}}}{self.local}" if self.uri else self.local


class Identifiers(dict[tuple[str, str], str]):
    """(element, attribute) → ID or IDREF, in a view whose elements may have several versions."""


@dataclass(frozen=True, slots=True)
class TagStructure:
    """The tags of a stream by id, and the id of the root's tag."""

    root: int
    tags: dict[int, Tag] = field(hash=False)
    open: bool = False  # no types: the fragments that arrive decide which tags are fragments
    # (element, attribute, ID or IDREF): what names elements, and what refers to them by name
    identifiers: frozenset[tuple[str, str, str]] = frozenset()

    def __getitem__(self, tsid: int) -> Tag:
        return self.tags[tsid]

    def __contains__(self, tsid: int) -> bool:
        return tsid in self.tags

    def travels(self, tsid: int) -> bool:
        """Whether elements of this tag arrive as fragments; the root always does."""
        return tsid == self.root or self.tags[tsid].filler

    @property
    def declares_inside(self) -> bool:
        """Whether it declares what is inside fragments, not only the fragments."""
        return len(self.tags) < 2 or not all(map(self.travels, self.tags))

    def children(self, tsid: int) -> Iterator[Tag]:
        """The tags that may be children of this one."""
        return (self.tags[child] for child in self.tags[tsid].children)

    def parents(self, tsid: int) -> Iterator[Tag]:
        """The tags that may be parents of this one."""
        return (tag for tag in self.tags.values() if tsid in tag.children)

    def below(self, tsid: int) -> frozenset[int]:
        """This tag and all possible descendants."""
        seen, todo = {tsid}, [tsid]
        while todo:
            fresh = [child for child in self.tags[todo.pop()].children if child not in seen]
            seen.update(fresh)
            todo.extend(fresh)
        return frozenset(seen)

    def named(self, uri: str | None, local: str | None) -> list[Tag]:
        """The tags with a name; None is a wildcard."""
        return [
            tag
            for tag in self.tags.values()
            if uri in (None, tag.uri) and local in (None, tag.local)
        ]

    def instants(self) -> frozenset[tuple[str, str]]:
        """Names of elements that are events with nothing in them that has a lifespan of its own."""
        if self.open:
            return frozenset()
        last = {
            tag.id: tag.type == "event"
            and not any(self.tags[one].type != "snapshot" for one in self.below(tag.id) - {tag.id})
            for tag in self.tags.values()
        }
        names = {(tag.uri, tag.local) for tag in self.tags.values()}
        return frozenset(name for name in names if all(last[tag.id] for tag in self.named(*name)))
