"""From the nesting of elements to a tag structure: which tags have versions, and why.

In this order:
- the user's options: --temporal, --event, --filler;
- the root is a snapshot;
- what repeats and carries a beginning and an end is temporal;
- what repeats and carries an instant and the number of a version, or the instant of a change, is
  temporal;
- what repeats and carries an instant is an event;
- what repeats, has parts and is in nothing that travels is a snapshot that travels: a feed is
  more than one fragment; where it only wraps an element with attributes, that one travels;
- all else is a snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Final

from xstreamcast.edges.infer.graph import Element, Graph
from xstreamcast.errors import error
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.structure import Tag, TagStructure, TagType

_FROM: Final = re.compile(r"@?(?:vt|valid)?[-_]?(?:from|since|start|begin)(?:date|time)?", re.I)
_CHANGED: Final = re.compile(r"updated|modified|changed|versioned|version[-_]?time", re.I)
_TO: Final = re.compile(r"@?(?:vt|valid)?[-_]?(?:to|until|end)(?:date|time)?", re.I)


@dataclass(frozen=True, slots=True)
class Wishes:
    """Paths of tags whose type the user gives."""

    temporal: tuple[str, ...] = ()
    event: tuple[str, ...] = ()
    filler: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A structure, and for each tag why it is what it is."""

    structure: TagStructure
    reasons: dict[int, str]

    def lines(self) -> list[str]:
        """`name: type, because …` for each tag; a path where several have the name."""
        tags = self.structure.tags.values()
        return [f"{self._called(tag)}: {_shown(tag)}, {self.reasons[tag.id]}" for tag in tags]

    def _called(self, tag: Tag) -> str:
        """The name, with as many parents before it as make it unique."""
        steps, top = [tag.name], tag
        rivals = [one for one in self.structure.named(tag.uri, tag.local) if one.id != tag.id]
        while rivals and top.id != self.structure.root:
            top = next(self.structure.parents(top.id))
            steps.insert(0, top.name)
            rivals = [above for one in rivals for above in self.structure.parents(one.id)]
            rivals = [one for one in rivals if one.name == top.name and len(steps) < 9]
        return "/".join(steps)


def propose(graph: Graph, wishes: Wishes | None = None) -> Proposal:
    """The structure of a graph; tags count from 1 in document order."""
    given = _given(graph, wishes or Wishes())
    ids = {key: number for number, key in enumerate(graph.walk(), start=1)}
    repeated = {
        key for made in graph.elements.values() for key, again in made.children.items() if again
    }
    for key in list(repeated):
        if _wraps_parts(graph, graph.elements[key]):
            repeated |= graph.elements[key].children.keys()
    judged = {
        key: given.get(key) or _judged(graph.elements[key], key == graph.root, key in repeated)
        for key in ids
    }
    _cut_highest(graph, judged, repeated)
    tags, reasons = {}, {}
    for key, tsid in ids.items():
        made = graph.elements[key]
        kind, filler, why = judged[key]
        children = tuple(ids[child] for child in made.children)
        tags[tsid] = Tag(tsid, made.uri, made.local, kind, filler, children)
        reasons[tsid] = why
    return Proposal(TagStructure(1, tags), reasons)


def _judged(made: Element, root: bool, repeats: bool) -> tuple[TagType, bool, str]:
    if root:
        return "snapshot", False, "because it is the root"
    begin = next((time for time in made.times if _FROM.fullmatch(time)), None)
    end = next((time for time in made.times if _TO.fullmatch(time)), None)
    if repeats and begin and end:
        return "temporal", True, f"because it repeats and carries a lifespan ({begin}, {end})"
    changed = next((time for time in made.times if _CHANGED.search(time)), None)
    if repeats and changed:
        return "temporal", True, f"because it repeats and carries when it changed ({changed})"
    if repeats and made.times and made.versioned:
        return "temporal", True, f"because it repeats and carries a version ({made.versioned})"
    if repeats and made.times:
        return "event", True, f"because it repeats and carries an instant ({made.times[0]})"
    return "snapshot", False, "because nothing shows that it changes"


def _wraps_parts(graph: Graph, made: Element) -> bool:
    """Whether it only wraps elements that have attributes of their own."""
    return bool(made.wraps) and all(graph.elements[one].attributed for one in made.children)


def _cut_highest(
    graph: Graph, judged: dict[Hashable, tuple[TagType, bool, str]], repeated: set[Hashable]
) -> None:
    """Let travel what repeats, from the root down to the first elements that travel."""
    names = {graph.elements[key].name for key in repeated}
    todo, seen = list(graph.elements[graph.root].children), {graph.root}
    while todo:
        key = todo.pop()
        if key in seen or judged[key][1]:
            continue
        seen.add(key)
        made = graph.elements[key]
        if made.name in names and made.has_parts and not _wraps_parts(graph, made):
            judged[key] = "snapshot", True, "because it repeats"
        else:
            todo.extend(made.children)


def _given(graph: Graph, wishes: Wishes) -> dict[Hashable, tuple[TagType, bool, str]]:
    """What the user said of which elements; those that no sample has are added."""
    out: dict[Hashable, tuple[TagType, bool, str]] = {}
    said: list[tuple[str, TagType, tuple[str, ...]]] = [
        ("filler", "snapshot", wishes.filler),
        ("event", "event", wishes.event),
        ("temporal", "temporal", wishes.temporal),
    ]
    for option, kind, written in said:
        for path in written:
            found = [key for key in graph.walk() if _matches(graph, key, path)]
            why = f"because given by --{option} {path}"
            if not found:
                found = _added(graph, option, path)
                why += ", though nothing that was looked at has one"
            out |= {key: (kind, True, why) for key in found}
    return out


def _added(graph: Graph, option: str, path: str) -> list[Hashable]:
    """An element without a sample: below the element before it in the path, or the root."""
    above, _, local = path.rstrip("/").rpartition("/")
    if not above.strip("/"):
        parents = [graph.root]
    else:
        parents = [key for key in graph.walk() if _matches(graph, key, above)]
    if not parents or re.fullmatch(r"[^\W\d][\w.-]*", local) is None:
        known = ", ".join(sorted({graph.elements[key].local for key in graph.walk()})[:12])
        raise error(
            "XSCU0001",
            f"--{option} must name an element, or one below an element that there is; got {path}",
            hint=f"there are {known}",
        )
    for parent in parents:
        made = Element(graph.elements[parent].uri, local)
        graph.elements[parent, local] = made
        graph.elements[parent].children[parent, local] = True
    return [(parent, local) for parent in parents]


def _matches(graph: Graph, key: Hashable, path: str) -> bool:
    """Whether a path leads there: `a`, `b/a`, `//b/a` from anywhere, `/r/b/a` from the root."""
    steps = path.strip("/").split("/")
    places = {key} if graph.elements[key].local == steps[-1] else set()
    for step in reversed(steps[:-1]):
        places = {
            above
            for above, made in graph.elements.items()
            if made.local == step and not places.isdisjoint(made.children)
        }
    absolute = path.startswith("/") and not path.startswith("//")
    return graph.root in places if absolute else bool(places)


def _shown(tag: Tag) -> str:
    return "snapshot in fragments" if tag.type == "snapshot" and tag.filler else tag.type
