"""What of a stream a query can never see, and so need not be kept.

a history without these fragments  →  the same answers

It follows from what the tag structure declares; what leaves something out must check that it holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.guide import Guide, Name, structured
from xstreamcast.algebra.analysis.inputs import inlined
from xstreamcast.algebra.analysis.places import DOCUMENT, FragmentElement, matches
from xstreamcast.algebra.analysis.projected import projected_tags, stays_below
from xstreamcast.algebra.analysis.stream_usage import UsageWalk
from xstreamcast.algebra.analysis.timing import ago
from xstreamcast.algebra.walk import descendants
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import NodeItem

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure

_DOWN: Final = ("child", "descendant", "descendant-or-self")
_OPENING: Final = frozenset({"doc", "doc-available", "collection", "uri-collection"})


@dataclass(frozen=True, slots=True)
class SeenTags:
    """Tags of a stream whose fragments a query sees, or passes on the way to what it sees.

    `thin`: of these tags, the names of the children of the payload's root that it may see; of the
    root itself it sees name and attributes, and what fills the holes. `why` says why nothing can
    be left out, if it is so.
    """

    tags: frozenset[int]
    guide: Guide
    why: str | None = None
    thin: Mapping[int, frozenset[Name]] = field(default_factory=dict)
    recent: Mapping[int, int] = field(default_factory=dict)  # seen back to so long before now
    entries: Mapping[int, frozenset[Name]] = field(default_factory=dict)  # names seen inside first
    ends: bool = True  # whether the query may read when versions end


def missed(before: SeenTags, now: SeenTags, tag: int) -> bool:
    """Whether fragments of a tag that was not kept are needed, where something else is known of the
    stream now: not if all that is seen in them is what none of them can have had.
    """
    seen = now.thin.get(tag, now.entries.get(tag))
    if tag not in now.tags:
        return False
    if seen is None or not seen.isdisjoint(before.guide.inner.get(tag, frozenset())):
        return True
    if any(link.child in now.tags for link in before.guide.links.get(tag, ())):
        return True
    above = now.guide.above({tag})
    return any(
        link.child in above and link not in before.guide.links.get(owner, frozenset())
        for owner, links in now.guide.links.items()
        for link in links
    )


def kept(
    program: Program, name: str, structure: TagStructure, guide: Guide | None = None
) -> SeenTags:
    """The tags of a stream that a program needs; `guide` says more than the structure, if given."""
    known = structured(structure) if guide is None else guide
    every = frozenset(known.name)
    flat = replace(program, body=inlined(program))
    if any(map(_opens, _plans(flat))):
        return SeenTags(every, known, "a document is opened by a name that is computed")
    if structure.open:
        return _unstructured(flat, name, known, "its structure does not declare its fragments")
    if not structure.declares_inside:
        why = "its structure declares its fragments, but not the elements inside them"
        return _unstructured(flat, name, known, why)
    declared = structured(structure)
    if undeclared := _Noting(flat, {name: declared}).undeclared():
        return SeenTags(every, known, f"its structure does not declare {undeclared}")
    reading = _Noting(flat, {name: known})
    needs = reading.done()[name]
    if needs.all is not None:
        return SeenTags(every, known, needs.all)
    # where lifespans are seen, those of what is inside decide over what has none of its own
    read = needs.read(known) | needs.timed
    # whatever is above must be there to say what is below it
    tags = (read | known.above(read) | known.roots) & every
    full = known.below(needs.whole) | needs.copied | reading.loose
    part = tags - full - known.roots
    part = part & known.timed if needs.timed else part
    thin = {tag: reading.names(tag) for tag in part}
    recent = {tag: back for tag, back in reading.recent().items() if tag in known.timed & tags}
    entries = {tag: names for tag, names in reading.entries().items() if tag in tags}
    ends = bool(needs.timed) or _clips(known, tags)
    return SeenTags(tags, known, None, thin, recent, entries, ends)


def _unstructured(program: Program, name: str, guide: Guide, why: str) -> SeenTags:
    """All tags of a stream whose structure does not say what is inside its fragments."""
    plans = _plans(program)
    needs = UsageWalk(program, {name: guide}).done()[name]
    ends = needs.all is not None or bool(needs.timed) or not stays_below(plans)
    ends = ends or _clips(guide, guide.name)
    recent = projected_tags(plans, name, guide)
    return SeenTags(frozenset(guide.name), guide, why, recent=recent, ends=ends)


def _clips(guide: Guide, tags: Iterable[int]) -> bool:
    """Whether some of these have a lifespan and are in others that do: what begins after the
    version around it has ended is not in it.
    """
    return not guide.timed.isdisjoint(guide.around(guide.timed.intersection(tags)))


class _Noting(UsageWalk):
    """A walk that notes which elements inside fragments steps lead to."""

    def __init__(self, program: Program, guides: Mapping[str, Guide]) -> None:
        super().__init__(program, guides)
        for needs in self.needs.values():
            needs.by_holes = True
        self.met: set[FragmentElement] = set()
        self.loose: set[int] = set()  # tags of which something is seen that has no name
        self.bare: Counter[int] = Counter()  # how often steps lead to a tag, whatever its versions
        self.projected: dict[int, int] = {}  # by tag: how long before now projections begin
        self.entire: set[int] = set()  # tags whose fragments are read or copied from their roots on
        self.called: dict[int, set[Name]] = {}  # names that steps lead to somewhere inside
        self.uncalled: set[int] = set()  # tags inside which steps lead to something without a name
        self.exposed: set[int] = set()  # tags that are seen as a part of something around them
        self.unknown: set[str] = set()  # names that steps down look for, and nothing has

    def _step(
        self, found: frozenset[FragmentElement], axis: p.Axis, test: NodeItem,
        children: Sequence[NodeItem] = (),
    ) -> frozenset[FragmentElement]:  # fmt: skip
        reached = super()._step(found, axis, test, children)
        self.met |= reached
        if not reached and axis in _DOWN and test.kind == "element" and test.local is not None:
            self.unknown |= {test.local for one in found if not _has(self.guides[one.stream], test)}
        self.bare.update({one.tag for one in reached if one.path == ()})
        self.loose.update(one.tag for one in reached if one.path is None)
        self._note_names({one.tag for one in reached if one.path is None}, test)
        if axis not in ("child", "attribute", "self"):
            self._pass_by({one.tag for one in found}, reached)
        if test.kind != "element" and axis not in ("attribute", "self"):
            for one in found:
                guide = self.guides[one.stream]
                self.loose |= guide.below(guide.roots if one.tag == DOCUMENT else {one.tag})
        return reached

    def undeclared(self) -> str | None:
        """A name that the query looks for, and that the structure says nothing has."""
        self.done()
        return min(self.unknown, default=None)

    def _note_names(self, tags: set[int], test: NodeItem) -> None:
        """Note what steps to some depth inside fragments ask for."""
        if test.kind != "element" or test.local is None or test.uri is None:
            self.uncalled |= tags
            return
        for tag in tags:
            self.called.setdefault(tag, set()).add((test.uri, test.local))

    def entries(self) -> dict[int, frozenset[Name]]:
        """By tag, the names of all elements inside that a step leads to from outside of them."""
        known = {one.tag for one in self.met if one.tag != DOCUMENT} - self.entire - self.uncalled
        return {tag: self.names(tag) | self.called.get(tag, set()) for tag in known}

    def places(self, plan: p.Expression) -> frozenset[FragmentElement]:
        """Where nodes may be; a step that is projected leads to what overlaps the interval."""
        found = super().places(plan)
        if isinstance(plan, p.IntervalProjection) and isinstance(plan.operand, p.Step):
            back = ago(plan.first)
            tops = {one.tag for one in found if one.path == ()}
            if back is not None:
                self.bare.subtract(tops)  # the step was counted on the way
                self.projected |= {tag: max(back, self.projected.get(tag, 0)) for tag in tops}
        return found

    def read(self, found: frozenset[FragmentElement]) -> frozenset[FragmentElement]:
        """Values are read: all that is below is a part of them."""
        for one in found:
            guide = self.guides[one.stream]
            tags = guide.roots if one.tag == DOCUMENT else {one.tag}
            inner = {k.child for tag in tags for k in guide.links.get(tag, ()) if one.holes}
            own = tags if one.tag == DOCUMENT or one.path == () else frozenset[int]()
            self.entire |= guide.below(inner | own)
            self.exposed |= guide.below(inner)
            self.exposed |= tags if one.tag == DOCUMENT else set()
        return super().read(found)

    def recent(self) -> dict[int, int]:
        """The tags of which steps lead to nothing that ended longer ago than that."""
        seen = self.exposed | {tag for tag, count in self.bare.items() if count > 0}
        return {tag: back for tag, back in self.projected.items() if tag not in seen}

    def _pass_by(self, sources: set[int], reached: frozenset[FragmentElement]) -> None:
        """Steps to any depth lead through all versions of what is above."""
        for one in reached:
            passed = self.guides[one.stream].around({one.tag})
            inside = one.path != () and sources != {one.tag}
            self.exposed |= passed | ({one.tag} if inside else set())

    def names(self, tag: int) -> frozenset[Name]:
        """The names of children of a payload's root that steps lead to, or through."""
        return frozenset(one.path[0] for one in self.met if one.tag == tag and one.path)


def _has(guide: Guide, test: NodeItem) -> bool:
    """Whether anything in a stream may pass a test."""
    inner = (name for names in guide.inner.values() for name in names)
    return any(matches(test, name) for name in (*guide.name.values(), *inner))


def _plans(program: Program) -> list[p.Plan]:
    values = [v.value for v in program.variables if v.value is not None]
    return [program.body, *values, *(f.body for f in program.functions)]


def _opens(plan: p.Plan) -> bool:
    """Whether a plan calls fn:doc and its like, which may give a stream by its name."""
    return any(
        isinstance(node, p.Call | p.FunctionRef)
        and node.function.uri == FN
        and node.function.local in _OPENING
        for node in descendants(plan)
    )
