"""Node tests, and the step along an axis for many rows of one tape."""

from __future__ import annotations

import numpy as np

from xstreamcast.model.column import distinct
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    I64,
    KIND,
    NAMESPACE,
    PI,
    TEXT,
    Bools,
    Columns,
    Tape,
)
from xstreamcast.tape.names import Names
from xstreamcast.tape.steps import axis_kernels as k

AXES = (
    "child",
    "descendant",
    "descendant-or-self",
    "self",
    "parent",
    "ancestor",
    "ancestor-or-self",
    "attribute",
    "following-sibling",
    "preceding-sibling",
    "following",
    "preceding",
)

_ALONG = {
    "child": k.CHILD,
    "attribute": k.ATTRIBUTES,
    "following-sibling": k.FOLLOWING_SIBLING,
    "preceding-sibling": k.PRECEDING_SIBLING,
    "following": k.FOLLOWING,
    "preceding": k.PRECEDING,
}
_NO_NAMES = np.zeros(0, np.bool_)


@dataclass(frozen=True, slots=True)
class NodeTest:
    """Which nodes a step keeps: kinds as bits, and of named ones local part and URI (None: any)."""

    mask: int
    local: str | None = None
    uri: str | None = None

    @staticmethod
    def node() -> NodeTest:
        return NodeTest((1 << 7) - 1)

    @staticmethod
    def element(local: str | None = None, uri: str | None = None) -> NodeTest:
        return NodeTest(1 << ELEMENT, local, uri)

    @staticmethod
    def attribute(local: str | None = None, uri: str | None = None) -> NodeTest:
        return NodeTest(1 << ATTRIBUTE, local, uri)

    @staticmethod
    def text() -> NodeTest:
        return NodeTest(1 << TEXT)

    @staticmethod
    def comment() -> NodeTest:
        return NodeTest(1 << COMMENT)

    @staticmethod
    def pi(target: str | None = None) -> NodeTest:
        return NodeTest(1 << PI, target)

    @staticmethod
    def document() -> NodeTest:
        return NodeTest(1 << DOCUMENT)

    @staticmethod
    def namespace(prefix: str | None = None) -> NodeTest:
        return NodeTest(1 << NAMESPACE, prefix)

    @staticmethod
    def principal(axis: str, local: str | None = None, uri: str | None = None) -> NodeTest:
        """A name test: attributes on the attribute axis, elements on the others."""
        made = NodeTest.attribute if axis == "attribute" else NodeTest.element
        return made(local, uri)

    def resolved(self, names: Names) -> tuple[int, int, Bools]:
        """mask, wanted, names: as the kernels take it."""
        if self.local is None and self.uri is None:
            return self.mask, k.ANY, _NO_NAMES
        lookup = names.matching(self.local, self.uri)
        matches = np.flatnonzero(lookup)
        if len(matches) == 0:
            return 0, k.ANY, _NO_NAMES
        return self.mask, int(matches[0]) if len(matches) == 1 else k.LISTED, lookup


def step(tape: Tape, rows: I64, axis: str, test: NodeTest) -> tuple[I64, I64]:
    """(labels, rows) of the nodes on `axis` from each of `rows` that pass `test`."""
    c, by = tape.columns, test.resolved(tape.names)
    if by[0] == 0:
        return rows[:0], rows[:0]
    match axis:
        case "self" | "parent" | "ancestor" | "ancestor-or-self":
            own, far = axis in ("self", "ancestor-or-self"), axis.startswith("ancestor")
            return k.upward(c, rows, *by, own, far)
        case "descendant" | "descendant-or-self":
            return _descendant(c, rows, by, axis == "descendant-or-self")
        case _ if axis in _ALONG:
            return k.along(c, rows, _ALONG[axis], *by)
        case _:
            raise ValueError(f"axis must be one of {', '.join(AXES)}; got {axis}")


def descendant_distinct(tape: Tape, rows: I64, test: NodeTest, own: bool = False) -> I64:
    """The descendants of all of `rows`, each once, in document order: linear in the tape."""
    by = test.resolved(tape.names)
    return _distinct(tape.columns, rows, by, own) if by[0] else rows[:0]


_Resolved = tuple[int, int, Bools]


def _descendant(c: Columns, rows: I64, by: _Resolved, own: bool) -> tuple[I64, I64]:
    if k.apart(c, rows):
        return k.descendant_apart(c, rows, *by, own)
    return k.descendant_among(c, rows, _distinct(c, rows, by, own), own)


def _distinct(c: Columns, rows: I64, by: _Resolved, own: bool) -> I64:
    rows = distinct(rows)
    kinds = c.kind[rows] & KIND
    childless = (kinds == ATTRIBUTE) | (kinds == NAMESPACE)
    found = k.descendant_distinct(c, rows[~childless], *by, own)
    if own and childless.any():
        # Attributes that are contexts count for themselves; no scan of their element finds them.
        found = distinct(np.concatenate((found, k.upward(c, rows[childless], *by, True, False)[1])))
    return found
