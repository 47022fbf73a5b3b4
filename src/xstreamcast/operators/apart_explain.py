"""Where a query that is left running is computed, if its units are asked in several places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xstreamcast.algebra.division import Division, Part, Sorted
from xstreamcast.algebra.split import inputs_of
from xstreamcast.operators.apart import why_in_one_place
from xstreamcast.operators.explain import division_of

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.watch import Policy


def explain_apart(
    program: Program, structures: Mapping[str, TagStructure], policy: Policy = "optimistic"
) -> str:
    """What is asked in buckets, what goes to all of them, and what is serial; or why nothing is."""
    division = division_of(program, structures)
    documents = inputs_of(program) - set(structures)
    why = "it reads documents" if documents else why_in_one_place(division, policy)
    if why is not None:
        return in_one_place(why)
    return "\n".join(_spread(division))


def in_one_place(why: str) -> str:
    """All operators are in one place."""
    return f"in one place, however many buckets there are\n  why: {why}"


def _spread(division: Division) -> Iterator[str]:
    (name,) = {part.input for part in division.parts}
    others = sorted({one for part in division.parts for one in part.others})
    yield f'in buckets, by the units of stream("{name}"): what stands in the holes of its root'
    yield "  router, in one place: which fragment stands below which unit, and the clock"
    yield "  to the bucket of a unit, by a hash of its id: the fragments below it"
    whole = "".join(f', all of stream("{one}")' for one in others)
    yield f"  to all buckets: the root, tag structures, what time it is, ends{whole}"
    for part in division.parts:
        yield f"  in each bucket: {_asked(part)}"
    yield f"  teller, in one place: {_told(division)}"


def _asked(part: Part) -> str:
    if isinstance(part.shape, Sorted):
        return "the tuples of its units, with what they are sorted by"
    match part.fold:
        case "items":
            return "the items of its units"
        case "count" | "exists" | "empty":
            return "how many items its units give"
        case fold:
            return f"the values of its units, for {fold}"


def _told(division: Division) -> str:
    if division.plain and division.parts[0].fold == "items":
        sorts = isinstance(division.parts[0].shape, Sorted)
        how = "sorted" if sorts else "in the order of units"
        return f"the answer, {how}, and what changes in it"
    return "what follows from these values, computed again when one of them changes"
