"""Operators over streams of tuples: the nested relational algebra of FLWOR clauses.

A tuple binds variables. Each operator keeps the order of its source unless it says otherwise, and
each expression in it sees the variables of the source and those of the enclosing tuples.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.algebra.nodes.operands import CompareOp, Variable
from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression, Tuples


@dataclass(frozen=True, slots=True)
class Unit:
    """One tuple that binds nothing."""


@dataclass(frozen=True, slots=True)
class ForEach:
    """Unnest: a tuple for every item; `allowing_empty` gives one tuple with () where there is none.

    position counts the items from 1, and is 0 for the tuple of `allowing empty`.
    """

    source: Tuples
    variable: Variable
    items: Expression
    position: Variable | None = None
    allowing_empty: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Let:
    """Each tuple extended by a variable."""

    source: Tuples
    variable: Variable
    value: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Where:
    """The tuples for which the test is true."""

    source: Tuples
    test: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class JoinKey:
    """left op right: `general` compares like = or <, otherwise like eq or lt.

    `test`: the comparison as the query has it, for pairs that must be looked at one by one.
    """

    left: Expression
    right: Expression
    general: bool
    test: Expression
    op: CompareOp = "eq"


@dataclass(frozen=True, slots=True)
class TupleJoin:
    """Every pair of a left and a right tuple that agree on all keys, left-major order.

    The right side reads no variable of the left one. Only rewrites make it.
    """

    left: Tuples
    right: Tuples
    keys: tuple[JoinKey, ...]
    residual: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class GroupKey:
    """The variable takes the atomised value (at most one item, else XPTY0004) after grouping."""

    variable: Variable
    value: Expression


@dataclass(frozen=True, slots=True)
class GroupBy:
    """Nest: a tuple for each combination of keys, in the order of first appearance.

    carried: (before, after) — after holds the values of before for all tuples of the group, in
    order. No other variable of the source is visible afterwards.
    """

    source: Tuples
    keys: tuple[GroupKey, ...]
    carried: tuple[tuple[Variable, Variable], ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of order by: at most one atomic item per tuple, else XPTY0004."""

    value: Expression
    descending: bool = False
    empty_greatest: bool = False


@dataclass(frozen=True, slots=True)
class OrderBy:
    """The tuples sorted by the keys; equal ones keep their order."""

    source: Tuples
    keys: tuple[OrderKey, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class CountTuples:
    """Each tuple extended by its number, from 1."""

    source: Tuples
    variable: Variable
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Boundary:
    """A start or end condition with the variables it binds.

    test None (only at the end): a window ends before the next item at which another would start.
    The variables stay bound in the tuples of the window.
    """

    test: Expression | None
    current: Variable | None = None
    position: Variable | None = None
    previous: Variable | None = None
    next: Variable | None = None

    def variables(self) -> tuple[Variable, ...]:
        """Those that are bound."""
        bound = (self.current, self.position, self.previous, self.next)
        return tuple(variable for variable in bound if variable is not None)


@dataclass(frozen=True, slots=True)
class ForWindow:
    """A tuple for every window of the items, bound to `variable` as a sequence.

    tumbling: no overlap; sliding: one window for each start; landmark: one for each start and each
    end at which the end condition holds; general: every sub-sequence that is not empty, without
    start and end. The end condition sees the variables of the start. `only_end` drops windows still
    open at the end of the items. `order` says by which item windows are sorted. `index`: what the
    end condition compares, a value of the start with one of the end, so that ends can be looked up.
    """

    source: Tuples
    variable: Variable
    items: Expression
    kind: Literal["tumbling", "sliding", "landmark", "general"]
    order: Literal["first", "last"]
    start: Boundary | None
    end: Boundary | None
    only_end: bool = False
    index: JoinKey | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)
