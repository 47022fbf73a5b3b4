"""Where in a stream the nodes of an expression may be, and how a step moves them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xstreamcast.algebra.analysis.guide import Guide, Link, Name, Names
from xstreamcast.algebra.analysis.trims import Seen

if TYPE_CHECKING:
    from xstreamcast.algebra.nodes.navigate import Axis
    from xstreamcast.model.sequence_type import NodeItem

Keep: TypeAlias = "Callable[[FragmentElement], bool] | None"
DOCUMENT = -1  # the tag of a place that is the document node


class FragmentElement(NamedTuple):
    """An element of a fragment of a tag: the names below its root to it; None: anywhere in it.

    `holes` False: no hole is below it.
    """

    stream: str
    tag: int
    path: Names | None
    holes: bool = True


@dataclass(slots=True)
class Needs:
    """What a query reads of a stream.

    tags: whose fragments it reads; inside: of which it sees more than root and holes; whole: of
    which it reads everything below; copied: whose elements it copies or shows; timed: whose
    lifespans it sees; seen: what of their inside; all: it may see anything. `fine`: steps up are
    followed. `by_holes`: elements inside fragments are distinguished by the holes below them.
    """

    tags: set[int] = field(default_factory=set)
    inside: set[int] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)
    copied: set[int] = field(default_factory=set)
    timed: set[int] = field(default_factory=set)
    seen: Seen = field(default_factory=Seen)
    all: str | None = None
    fine: bool = False
    by_holes: bool = False

    def read(self, guide: Guide) -> frozenset[int]:
        """The tags whose fragments must be there."""
        if self.all is not None:
            return frozenset(guide.name)
        return guide.below(self.whole) | self.tags


def matches(test: NodeItem, name: Name) -> bool:
    """Whether an element of this name passes the test."""
    if test.kind not in ("element", "node"):
        return False
    return test.uri in (None, name[0]) and test.local in (None, name[1])


def moved(
    place: FragmentElement,
    axis: Axis,
    test: NodeItem,
    guide: Guide,
    needs: Needs,
    keep: Keep = None,
) -> set[FragmentElement]:
    """The places that a step leads to; notes in `needs` what is passed on the way.

    `keep`: of elements, those of which anything is left afterwards.
    """
    match axis:
        case "self":
            return {place} if _is_self(place, test, guide) else set()
        case "attribute":
            _see_attribute(place, test, guide, needs)
            return set()
        case "child":
            found = _children(place, test, guide, needs)
        case "descendant":
            found = _descendants(place, test, guide, needs, keep)
        case "descendant-or-self":
            found = _descendants(place, test, guide, needs, keep)
            found |= {place} if _is_self(place, test, guide) else set()
        case "parent" | "ancestor" | "ancestor-or-self" if needs.fine:
            return _upwards(place, axis, test, guide, needs)
        case _:
            needs.all = f"the axis {axis} leads out of a fragment"
            return set()
    needs.tags.update(one.tag for one in found if one.tag != DOCUMENT)
    needs.inside.update(one.tag for one in found if one.path != ())
    for one in found:
        needs.seen.element(one.tag, one.path)
    if axis != "child":
        passed = guide.below(guide.roots if place.tag == DOCUMENT else {place.tag})
        needs.inside |= passed
        needs.seen.every |= passed
    elif test.kind != "element":
        needs.inside.add(place.tag)
        needs.seen.text(place.tag, place.path)
    return found


def _upwards(
    place: FragmentElement, axis: Axis, test: NodeItem, guide: Guide, needs: Needs
) -> set[FragmentElement]:
    """Where steps up lead: what is above must be there, whatever is seen of it."""
    met = _parents(place, guide)
    todo = list(met) if axis != "parent" else []
    while todo:
        fresh = _parents(todo.pop(), guide) - met
        met |= fresh
        todo += fresh
    met |= {place} if axis == "ancestor-or-self" else set()
    tags = {one.tag for one in met if one.tag != DOCUMENT}
    needs.tags |= tags
    needs.inside |= tags
    needs.seen.every |= tags
    return {one for one in met if _is_self(one, test, guide)}


def _parents(place: FragmentElement, guide: Guide) -> set[FragmentElement]:
    """The places directly above: in the same fragment, or around a hole."""
    stream, tag, path, _ = place
    if tag == DOCUMENT:
        return set()
    if path:
        return {FragmentElement(stream, tag, path[:-1])}
    around = {
        FragmentElement(stream, above, link.path)
        for above, links in guide.links.items()
        for link in links
        if link.child == tag
    }
    around |= {FragmentElement(stream, DOCUMENT, ())} if tag in guide.roots else set()
    return (
        around
        if path == ()
        else {FragmentElement(stream, tag, None), FragmentElement(stream, tag, ())}
    )


def _is_self(place: FragmentElement, test: NodeItem, guide: Guide) -> bool:
    if place.tag == DOCUMENT:
        return test.kind in ("node", "document")
    if place.path is None:
        return test.kind in ("node", "element")
    return matches(test, place.path[-1] if place.path else guide.name[place.tag])


def _see_attribute(place: FragmentElement, test: NodeItem, guide: Guide, needs: Needs) -> None:
    named = test.local in (None, "vtFrom", "vtTo")
    if named and not place.path and place.tag in guide.timed:
        needs.timed.add(place.tag)


def _links(place: FragmentElement, guide: Guide) -> Iterator[Link]:
    """The holes directly below a place; below an uncertain one, all that may be."""
    for link in guide.links.get(place.tag, ()):
        if place.holes and (place.path is None or link.path == place.path):
            yield link


def may_have(children: Sequence[NodeItem], guide: Guide, place: FragmentElement) -> bool:
    """Whether an element there may have a child that passes each of these tests."""
    return all(_children(place, test, guide, Needs()) for test in children)


def _children(
    place: FragmentElement, test: NodeItem, guide: Guide, needs: Needs
) -> set[FragmentElement]:
    stream = place.stream
    if place.tag == DOCUMENT:
        return {
            FragmentElement(stream, tag, ())
            for tag in guide.roots
            if matches(test, guide.name[tag])
        }
    if test.kind not in ("element",):
        # What is in holes separates the texts around it.
        needs.tags.update(link.child for link in _links(place, guide))
    found = {
        FragmentElement(stream, link.child, ())
        for link in _links(place, guide)
        if matches(test, guide.name[link.child])
    }
    inside = {name for name in guide.inner.get(place.tag, ()) if matches(test, name)}
    if place.path is None:
        return found | ({place} if inside else set())
    return found | {FragmentElement(stream, place.tag, (*place.path, name)) for name in inside}


def _descendants(
    place: FragmentElement, test: NodeItem, guide: Guide, needs: Needs, keep: Keep
) -> set[FragmentElement]:
    """All matching places below: fragments on the way to one of them are passed."""
    stream, found = place.stream, set[FragmentElement]()
    if place.tag == DOCUMENT:
        begin = guide.below(guide.roots)
        found |= _children(place, test, guide, needs)
    else:
        below = [link.child for link in guide.links.get(place.tag, ()) if _is_below(link, place)]
        begin = guide.below(below)
        found |= {FragmentElement(stream, t, ()) for t in begin if matches(test, guide.name[t])}
        found |= _named(
            FragmentElement(stream, place.tag, place.path, place.holes), test, guide, needs
        )
    if test.kind not in ("element",):
        needs.tags.update(begin)
    for tag in begin:
        if matches(test, guide.name[tag]) and place.tag == DOCUMENT:
            found.add(FragmentElement(stream, tag, ()))
        found |= _named(FragmentElement(stream, tag, ()), test, guide, needs)
    found = found if keep is None else {one for one in found if keep(one)}
    needs.tags.update(guide.above({one.tag for one in found}) & begin)
    return found


def _named(
    place: FragmentElement, test: NodeItem, guide: Guide, needs: Needs
) -> set[FragmentElement]:
    """Elements of that name below a place, in its own fragment."""
    stream, tag, path, _ = place
    if not any(matches(test, name) for name in guide.inner.get(tag, ())):
        return set()
    if not (needs.fine or needs.by_holes):
        return {FragmentElement(stream, tag, None)}
    from_here = len(path or ())
    above = {
        link.path[:end]
        for link in guide.links.get(tag, ())
        if _is_below(link, place)
        for end in range(from_here + 1, len(link.path) + 1)
    }
    found = {FragmentElement(stream, tag, names) for names in above if matches(test, names[-1])}
    return found | {FragmentElement(stream, tag, None, holes=False)}


def _is_below(link: Link, place: FragmentElement) -> bool:
    at = place.path
    return place.holes and (at is None or link.path[: len(at)] == at)
