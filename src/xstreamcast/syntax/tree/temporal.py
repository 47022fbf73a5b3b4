"""XCQL: projections to times and versions, interval comparison; and the sequential block."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.model.frozen import dataclass
from xstreamcast.syntax.tree.names import NOWHERE, Name, Span

if TYPE_CHECKING:
    from xstreamcast.syntax.tree import Expr

AllenWord = Literal[
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
class IntervalProjectionExpr:
    """`base?[begin, end]`; `end` None is `base?[begin]`. `$a/x?[t]` projects `$a/x`."""

    base: Expr
    begin: Expr
    end: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VersionProjectionExpr:
    """`base#[first, last]`; `last` None is `base#[first]`."""

    base: Expr
    first: Expr
    last: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntervalExpr:
    """`[begin, end]` or `[begin]`, only as an operand of an interval comparison."""

    begin: Expr
    end: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntervalComparison:
    """`left before right` and Allen's other words, over the lifespans of the operands."""

    operator: AllenWord
    left: Expr | IntervalExpr
    right: Expr | IntervalExpr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """`set $name := value`, a statement of a block."""

    name: Name
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BlockExpr:
    """`{ s1; s2; …; result }`, only under `declare execution sequential`."""

    statements: tuple[Assign | Expr, ...]
    result: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)
