"""Where a window's variable is read, and how: what the rules about windows share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.nodes.static_type import NUMBER
from xstreamcast.algebra.walk import map_children
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import INTEGER
from xstreamcast.rewrite.known import Known

Replace: TypeAlias = Callable[[p.Expression], p.Expression | None]


def is_first(plan: p.Expression, window: p.Variable) -> bool:
    """$w[1] or head($w)"""
    match plan:
        case p.Filter(p.Var(variable), p.Const((p.Atom(tag, 1),)), False):
            return variable == window and tag == INTEGER
        case p.Call(function, (p.Var(variable),)):
            return variable == window and function.uri == FN and function.local == "head"
        case _:
            return False


def is_last(plan: p.Expression, window: p.Variable) -> bool:
    """$w[last()]"""
    match plan:
        case p.Filter(p.Var(variable), p.Last(), False):
            return variable == window
        case _:
            return False


def is_count(plan: p.Expression, window: p.Variable) -> bool:
    """count($w)"""
    match plan:
        case p.Call(function, (p.Var(variable),)):
            return variable == window and function.uri == FN and function.local == "count"
        case _:
            return False


def replaced(plan: Any, window: p.Variable, by: Replace) -> Any:
    """The plan with by(part) in the place of each part for which it has something."""
    if window not in facts(plan).used:
        return plan
    made = by(plan)
    if made is not None:
        return made
    return map_children(plan, lambda child: replaced(child, window, by))


def with_current(boundary: p.Boundary, name: str, items: p.Expression, known: Known) -> p.Boundary:
    """The boundary with a variable for its item."""
    if boundary.current is not None:
        return boundary
    return replace(boundary, current=known.fresh(name, known.type_of(items).each()))


def with_position(boundary: p.Boundary, name: str, known: Known) -> p.Boundary:
    """The boundary with a variable for its position."""
    if boundary.position is not None:
        return boundary
    return replace(boundary, position=known.fresh(name, NUMBER))
