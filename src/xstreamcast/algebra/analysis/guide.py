"""What may be where in a stream: tags, the names inside their fragments, links between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.model.structure import TagStructure

Name: TypeAlias = tuple[str, str]  # namespace, local part
Names: TypeAlias = tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A hole: below which elements of its fragment it is, and the tag of what fills it."""

    path: Names
    child: int


@dataclass(frozen=True, slots=True)
class Guide:
    """By tag id: its name, whether it has a lifespan, names inside its fragments, its links.

    binding: the tags some of whose fragments bind namespaces, which what fills their holes has too.
    """

    roots: frozenset[int]
    name: Mapping[int, Name]
    timed: frozenset[int]
    inner: Mapping[int, frozenset[Name]]
    links: Mapping[int, frozenset[Link]]
    binding: frozenset[int] = frozenset()

    def below(self, tags: Iterable[int]) -> frozenset[int]:
        """These tags and all that holes lead to from them, at any depth."""
        seen = set(tags)
        todo = list(seen)
        while todo:
            fresh = {link.child for link in self.links.get(todo.pop(), ())} - seen
            seen |= fresh
            todo.extend(fresh)
        return frozenset(seen)

    def above(self, tags: Iterable[int]) -> frozenset[int]:
        """These tags and all from which holes lead to them."""
        wanted = set(tags)
        while True:
            more = {t for t, ls in self.links.items() if any(k.child in wanted for k in ls)}
            if more <= wanted:
                return frozenset(wanted)
            wanted |= more

    def around(self, tags: Iterable[int]) -> frozenset[int]:
        """All from which holes lead to these tags; of these, what may be below itself."""
        wanted = set(tags)
        return self.above(t for t, ls in self.links.items() if any(k.child in wanted for k in ls))

    def joined(self, other: Guide) -> Guide:
        """What either of two guides contains about the tags of this one."""
        inner = {
            tag: names | other.inner.get(tag, frozenset()) for tag, names in self.inner.items()
        }
        links = {
            tag: found | {k for k in other.links.get(tag, ()) if k.child in self.name}
            for tag, found in self.links.items()
        }
        return replace(self, inner=inner, links=links, binding=self.binding | other.binding)

    def without(self, tags: frozenset[int]) -> frozenset[int]:
        """What can be reached from the roots without passing any of these tags."""
        seen = set(self.roots - tags)
        todo = list(seen)
        while todo:
            fresh = {link.child for link in self.links.get(todo.pop(), ())} - seen - tags
            seen |= fresh
            todo.extend(fresh)
        return frozenset(seen)


def structured(structure: TagStructure) -> Guide:
    """What a tag structure says, when no fragment has been seen."""
    travelling = [tsid for tsid in structure.tags if structure.travels(tsid)]
    inner: dict[int, frozenset[Name]] = {}
    links: dict[int, frozenset[Link]] = {}
    for tsid in travelling:
        names, found = set[Name](), set[Link]()
        _look(structure, tsid, (), (), names, found)
        inner[tsid], links[tsid] = frozenset(names), frozenset(found)
    return Guide(
        frozenset({structure.root}),
        {tsid: (structure[tsid].uri, structure[tsid].local) for tsid in travelling},
        frozenset(tsid for tsid in travelling if structure[tsid].type != "snapshot"),
        inner,
        links,
    )


def _look(
    structure: TagStructure,
    tsid: int,
    path: Names,
    passed: tuple[int, ...],
    names: set[Name],
    found: set[Link],
) -> None:
    """Collect what is embedded below a tag, each tag once on a way down."""
    for child in structure.children(tsid):
        if structure.travels(child.id):
            found.add(Link(path, child.id))
        elif child.id not in passed:
            names.add((child.uri, child.local))
            deeper = (*path, (child.uri, child.local))
            _look(structure, child.id, deeper, (*passed, child.id), names, found)
