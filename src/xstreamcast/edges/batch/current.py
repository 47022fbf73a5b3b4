"""Which fragments a query can see only as they are now: of these the latest version is enough.

$a/limit?[now]   →  of limits, and what is below them, the version alive now
                    (of what has been superseded, in them or above them, nothing is alive now)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.places import matches
from xstreamcast.algebra.program import with_bodies
from xstreamcast.algebra.walk import map_children
from xstreamcast.edges.table.pruning import choice_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.program import Program


def current_tags(
    programs: Sequence[Program], name: str, guide: Guide, strategy: str, temporal: frozenset[int]
) -> frozenset[int]:
    """Of the tags whose elements have versions, those of which only the latest is seen.

    Nothing else may be below them: an event under a superseded version is not clipped by it, nor
    is a snapshot.
    """
    found = frozenset(tag for tag in temporal if guide.below({tag}) <= temporal)
    for program in programs:
        if not found:
            break
        choice = choice_of(_without(program, guide), name, guide, strategy)
        if choice is None or choice.strategy == "caq":
            return frozenset()
        found -= choice.full | choice.link
    return found


def _without(program: Program, guide: Guide) -> Program:
    """The program without what it sees as it is now: what it needs besides."""

    def put(plan: Any) -> Any:
        return p.EMPTY if _is_current(plan, guide) else map_children(plan, put)

    return with_bodies(program, put)


def _is_current(plan: Any, guide: Guide) -> bool:
    """Whether it is `path?[now]`, where the path has no predicates and begins at a name."""
    if not isinstance(plan, p.IntervalProjection) or not _has_lifespans(plan.operand, guide):
        return False
    ends = [plan.first, *([] if plan.last is None else [plan.last])]
    at = plan.operand
    while isinstance(at, p.Step) and at.axis in ("child", "descendant"):
        at = at.input
    return isinstance(at, p.StreamInput | p.Var) and all(
        isinstance(end, p.Instant) and end.which == "now" for end in ends
    )


def _has_lifespans(plan: Any, guide: Guide) -> bool:
    """Whether a step leads to fragments with a lifespan alone: others always are there now."""
    if not isinstance(plan, p.Step) or plan.test.kind != "element" or plan.test.local is None:
        return False
    tags = {tag for tag, name in guide.name.items() if matches(plan.test, name)}
    inside = any(matches(plan.test, name) for names in guide.inner.values() for name in names)
    return not inside and tags <= guide.timed
