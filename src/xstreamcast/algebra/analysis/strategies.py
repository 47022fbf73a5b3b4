"""CaQ, QaC, QaC+: what of each stream is put together before a query is evaluated, and why.

caq   the whole temporal view
qac   the fragments along the query's paths, from the root down
qac+  the fragments of the tags that the query reads; levels above them by links alone
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal

from xstreamcast.algebra.analysis.documents import with_streams
from xstreamcast.algebra.analysis.guide import Guide, structured
from xstreamcast.algebra.analysis.places import Needs
from xstreamcast.algebra.analysis.stream_usage import needs_of
from xstreamcast.algebra.analysis.tag_paths import with_parts
from xstreamcast.algebra.analysis.trims import Trim
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure

Strategy = Literal["caq", "qac", "qac+"]
STRATEGIES: Final = ("caq", "qac", "qac+", "auto")


@dataclass(frozen=True, slots=True)
class Choice:
    """What is made of a stream: tags written in full, tags passed by link; and why.

    `in_place`: if their fragments have no holes, nothing need be copied. `trims`: tags of which
    only a part is seen.
    """

    strategy: Strategy
    full: frozenset[int]
    link: frozenset[int]
    in_place: bool
    why: str
    trims: Mapping[int, Trim] = field(default_factory=dict)
    bounds: bool = True  # whether lifespans are seen

    @property
    def shells(self) -> frozenset[int]:
        """The tags of which nothing is seen but their attributes, and what fills their holes."""
        return frozenset(tag for tag, trim in self.trims.items() if trim.empty)


@dataclass(frozen=True, slots=True)
class Decision:
    """The program to evaluate, and the choice for each stream."""

    program: Program
    streams: Mapping[str, Choice]


def decide(
    program: Program, guides: Mapping[str, Guide], wanted: str, links: bool, inline: bool = True
) -> Decision:
    """The strategy that is wanted for each stream, or the nearest that is exact.

    `links` False: whatever is above must be there. `inline` False: a path that a variable
    represents is not put in its place.
    """
    if not guides:
        return Decision(program, {})
    parted, through = program, frozenset[str]()
    if wanted in ("qac+", "auto") and links:
        parted, through = with_parts(program, guides, inline)
        needs = needs_of(parted, guides)
        unsure = {name for name in through if not _is_had_without(guides[name], needs[name])}
        if unsure:
            rest = {name: guide for name, guide in guides.items() if name not in unsure}
            parted, through = with_parts(program, rest, inline)
    # where all that is above is there, steps up are followed; elsewhere there are none
    needs = needs_of(parted, guides, fine=True)
    return Decision(
        parted,
        {
            name: _choice(guide, needs[name], wanted, name in through)
            for name, guide in guides.items()
        },
    )


def _is_had_without(guide: Guide, needs: Needs) -> bool:
    """Whether nothing is seen of what is above: nodes, or the namespaces that copies take."""
    around = guide.above(needs.copied) - needs.copied
    return needs.all is None and not around & guide.binding


def _choice(guide: Guide, needs: Needs, wanted: str, through: bool) -> Choice:
    every = frozenset(guide.name)
    if wanted == "caq":
        return Choice("caq", every, frozenset(), False, "requested")
    if needs.all is not None:
        return Choice("caq", every, frozenset(), False, needs.all)
    read = needs.read(guide)
    if through:
        return _through_links(guide, needs, read)
    read |= guide.above(read) & guide.below(guide.roots)
    if wanted == "auto" and read >= guide.below(guide.roots):
        return Choice("caq", every, frozenset(), False, "the query reads every tag")
    return Choice("qac", read, frozenset(), False, "the query reads the elements above its tags")


def _through_links(guide: Guide, needs: Needs, read: frozenset[int]) -> Choice:
    above = guide.above(read) - read
    between = above & guide.below(link.child for tag in read for link in guide.links.get(tag, ()))
    full = read | between
    inside = guide.below(link.child for tag in full for link in guide.links.get(tag, ()))
    in_place = not (needs.timed | needs.copied | inside) & full
    why = "paths name all elements of their tags"
    trims, bounds = _trims(guide, needs, full), bool((needs.timed | needs.copied) & full)
    return Choice("qac+", full, above - between, in_place, why, trims, bounds)


def _trims(guide: Guide, needs: Needs, full: frozenset[int]) -> dict[int, Trim]:
    """What is left of fragments of which less than half may be seen, by the names in them."""
    whole = guide.below(needs.whole) | needs.copied | needs.timed
    found = needs.seen.trims(full - whole)
    return {tag: trim for tag, trim in found.items() if _is_worth_it(trim, guide, tag)}


def _is_worth_it(trim: Trim, guide: Guide, tag: int) -> bool:
    kept = {path[-1] for path in trim.paths}
    return trim.empty or (() not in trim.texts and 2 * len(kept) <= len(guide.inner.get(tag, ())))


def explain_strategy(program: Program, structures: Mapping[str, TagStructure]) -> str:
    """Which strategy `auto` takes for each stream, with the tags it reads, in words."""
    guides = {name: structured(structure) for name, structure in structures.items()}
    made = decide(with_streams(program, structures), guides, "auto", links=True)
    lines = []
    for name, choice in made.streams.items():
        tags = structures[name]
        lines.append(f"stream {name}: {choice.strategy}, because {choice.why}")
        lines.append(f"  fragments read: {_named(tags, choice.full - choice.shells) or 'none'}")
        if choice.shells:
            shells = _named(tags, choice.shells)
            lines.append(f"  of these only their attributes and what fills their holes: {shells}")
        if choice.link:
            lines.append(f"  passed by links alone: {_named(tags, choice.link)}")
        if choice.in_place:
            lines.append("  in place, where they have no holes and arrived in order")
    return "\n".join(lines)


def _named(structure: TagStructure, tags: frozenset[int]) -> str:
    return ", ".join(structure[tag].name for tag in sorted(tags))
