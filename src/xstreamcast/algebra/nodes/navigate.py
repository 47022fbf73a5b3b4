"""Expressions over the focus and over nodes: steps, paths, predicates, sets of nodes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from xstreamcast.algebra.nodes.place import NOWHERE
from xstreamcast.errors import Span
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import NodeItem

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression

Axis = Literal[
    "child",
    "descendant",
    "attribute",
    "self",
    "descendant-or-self",
    "following-sibling",
    "following",
    "parent",
    "ancestor",
    "preceding-sibling",
    "preceding",
    "ancestor-or-self",
]
REVERSE_AXES = frozenset(
    {"parent", "ancestor", "preceding-sibling", "preceding", "ancestor-or-self"}
)


@dataclass(frozen=True, slots=True)
class Focus:
    """The context item; XPDY0002 if there is none."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Position:
    """The position of the context item; XPDY0002 if there is none."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Last:
    """The size of the context; XPDY0002 if there is none."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class TreeRoot:
    """The leading / of a path: the document at the root of the operand's tree, else XPDY0050."""

    operand: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Step:
    """The nodes on the axis from every node of the input, distinct and in document order per row.

    An item of the input that is no node: XPTY0020 if the input is the focus itself, else XPTY0019.
    `settled`: they come so from the axis, and need neither be sorted nor compared.
    """

    input: Expression
    axis: Axis
    test: NodeItem
    settled: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Path:
    """left/right: right with each node of left as focus; nodes come out distinct and in order.

    A left item that is no node: XPTY0019. Nodes and others mixed in the result: XPTY0018,
    or XPTY0019 where a further step makes this an `inner` one.
    """

    left: Expression
    right: Expression
    inner: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SimpleMap:
    """left ! right: right with each item of left as focus, results one after the other."""

    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Filter:
    """input[predicate]: a number is a position, anything else an effective boolean value.

    `reverse` counts positions from the end: the predicate of a step on a reverse axis. The result
    keeps the order of the input in either case.
    """

    input: Expression
    predicate: Expression
    reverse: bool = False
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SetOperation:
    """union, intersect, except: distinct nodes in document order; XPTY0004 for other items."""

    op: Literal["union", "intersect", "except"]
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class StreamInput:
    """stream("name"): what has arrived on a named input."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)
