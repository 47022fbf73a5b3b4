"""XCQL: expressions over lifespans and versions. Their meaning needs the history of a stream."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression

AllenOp = Literal[
    "before",
    "after",
    "meets",
    "overlaps",
    "during",
    "contains",
    "starts",
    "finishes",
    "equals",
]


@dataclass(frozen=True, slots=True)
class Instant:
    """now, start: what the clock or the history says."""

    which: Literal["now", "start"]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class LastVersion:
    """last inside #[…]: the number of the newest version."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class LifespanBound:
    """vtFrom(e), vtTo(e)"""

    which: Literal["vtFrom", "vtTo"]
    operand: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class IntervalProjection:
    """e?[first,last]: the subtrees clipped to the interval; e?[t] has no last."""

    operand: Expression
    first: Expression
    last: Expression | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


def is_current(plan: IntervalProjection) -> bool:
    """Whether it is e?[now]: what lives now, with the lifespan that it has."""
    now = Instant("now")
    return plan.first == now and plan.last in (None, now)


def projected_before(plan: object) -> IntervalProjection | None:
    """The e?[a,b] of e?[a,b]?[c,d], which is one projection to what both intervals share."""
    match plan:
        case IntervalProjection(IntervalProjection() as inner):
            return None if is_current(plan) or is_current(inner) else inner
        case _:
            return None


@dataclass(frozen=True, slots=True)
class VersionProjection:
    """e#[first,last]: the versions of those numbers; e#[n] has no last."""

    operand: Expression
    first: Expression
    last: Expression | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Interval:
    """[first, last], an operand of Allen's comparisons; [t] has no last."""

    first: Expression
    last: Expression | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class AllenCompare:
    """Allen's comparison of two intervals: those written out, or the lifespans of nodes."""

    op: AllenOp
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)
