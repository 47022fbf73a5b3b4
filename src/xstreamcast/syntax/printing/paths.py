"""Paths, steps, filters and projections, as text."""

from __future__ import annotations

from typing import Final, assert_never

from xstreamcast.syntax.grammar import xcql
from xstreamcast.syntax.printing import binding as bind
from xstreamcast.syntax.printing import expressions
from xstreamcast.syntax.printing.types import node_test
from xstreamcast.syntax.tree import (
    AnyKindTest,
    AttributeTest,
    AxisStep,
    Expr,
    FilterExpr,
    IntervalProjectionExpr,
    NamespaceNodeTest,
    NameTest,
    PathExpr,
    SchemaAttributeTest,
    TimeConstant,
    TimeLiteral,
    VersionProjectionExpr,
)

# A child with one of these names could be taken for the start of something else.
_STARTS: Final = frozenset(
    (
        *("for", "let", "forseq", "some", "every", "if", "switch", "typeswitch", "try", "validate"),
        *("element", "attribute", "processing-instruction", "namespace", "document", "text"),
        *("comment", "ordered", "unordered", "function", "map", "array", "set", "newstart"),
        *("declare", "import", "xquery", "module"),
    )
)
_DESCENDANTS: Final = AxisStep("descendant-or-self", AnyKindTest())


def path(
    found: PathExpr | AxisStep | FilterExpr | IntervalProjectionExpr | VersionProjectionExpr,
) -> str:
    """A path or a part of one."""
    match found:
        case AxisStep():
            return _step(found, _first_axis(found))
        case PathExpr(absolute, steps):
            return _steps(absolute, steps)
        case FilterExpr(inner, given):
            return base(inner) + predicates(given)
        case IntervalProjectionExpr(inner, begin, end):
            return f"{_head(inner, bind.PATH)}?{bounds(begin, end)}"
        case VersionProjectionExpr(inner, first, last):
            return f"{_head(inner, bind.PATH)}#{bounds(first, last)}"
        case _:
            assert_never(found)


def bounds(begin: Expr, end: Expr | None) -> str:
    """`[a]` or `[a, b]`."""
    shown = expressions.expression(begin)
    return f"[{shown}]" if end is None else f"[{shown}, {expressions.expression(end)}]"


def predicates(given: tuple[Expr, ...]) -> str:
    """`[p][q]`."""
    return "".join(f"[{expressions.expression(p)}]" for p in given)


def base(found: Expr) -> str:
    """What predicates or arguments follow; what would swallow or join them is wrapped."""
    if isinstance(found, AxisStep | FilterExpr | TimeConstant | TimeLiteral):
        return f"({expressions.expression(found)})"
    return expressions.at(found, bind.PROJECTED)


def _head(found: Expr, place: int) -> str:
    """What a path or a projection starts with; before a slash `now` would be a child."""
    if isinstance(found, TimeConstant | TimeLiteral):
        return f"({expressions.expression(found)})"
    return expressions.at(found, place)


def _steps(absolute: bool, steps: tuple[Expr, ...]) -> str:
    if absolute and not steps:
        return "(/)"  # alone, a slash would take the next word for its step
    shown = [] if absolute else [_head(steps[0], bind.PROJECTED)]
    rest = steps if absolute else steps[1:]
    text, skip = "".join(shown), False
    for number, found in enumerate(rest):
        if found == _DESCENDANTS and number + 1 < len(rest) and not skip:
            skip = True
            continue
        text += ("//" if skip else "/") + _later_step(found)
        skip = False
    return text


def _later_step(found: Expr) -> str:
    if isinstance(found, AxisStep):
        return _step(found, _usual_axis(found))
    return expressions.at(found, bind.STEP)


def _step(found: AxisStep, plain: str) -> str:
    """`plain` is the axis that needs no word here."""
    test = node_test(found.test)
    if found.axis == "attribute" and plain != "attribute":
        head = f"@{test}"
    elif found.axis == "parent" and found.test == AnyKindTest():
        head = ".."
    else:
        head = test if found.axis == plain else f"{found.axis}::{test}"
    return head + predicates(found.predicates)


def _usual_axis(found: AxisStep) -> str:
    attribute = isinstance(found.test, AttributeTest | SchemaAttributeTest)
    if isinstance(found.test, NamespaceNodeTest):
        return ""
    if isinstance(found.test, NameTest) and _is_taken(found.test):
        return ""
    return "attribute" if attribute else "child"


def _first_axis(found: AxisStep) -> str:
    """A bare `now` could be read as a time."""
    if isinstance(found.test, NameTest) and xcql.looks_like_time(found.test.name.local):
        return ""
    return _usual_axis(found)


def _is_taken(test: NameTest) -> bool:
    return test.name.local in _STARTS and not test.name.prefix and test.name.uri is None
