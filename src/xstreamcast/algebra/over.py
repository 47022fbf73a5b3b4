"""A shape over the document of one unit in the place of its input; FLWORs that gather tuples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.division import Grouped, Listed, Shape, Sorted
from xstreamcast.algebra.walk import bottom_up, map_children


def gathering(
    plan: p.Expression, kind: type[p.OrderBy | p.GroupBy]
) -> tuple[p.OrderBy | p.GroupBy, p.Expression] | None:
    """The lowest gathering clause of a FLWOR, and what is done with each of its tuples."""
    if not isinstance(plan, p.Return):
        return None
    above: list[p.Let | p.Where | p.ForEach | p.Window] = []
    source = plan.source
    while isinstance(source, p.Let | p.Where | p.ForEach | p.Window):
        above.append(source)
        source = source.source
    if not isinstance(source, kind):
        return None
    tail: p.Tuples = p.Unit()
    for clause in reversed(above):
        tail = replace(clause, source=tail)
    result = plan.result if isinstance(tail, p.Unit) else replace(plan, source=tail)
    return source, result


def over(shape: Shape, name: str | None, document: p.Expression) -> Shape:
    """The shape with the unit's document in the place of the input."""

    def put(node: p.Plan) -> p.Plan:
        return document if isinstance(node, p.StreamInput) and node.name == name else node

    change: Callable[[p.Plan], p.Plan] = lambda plan: bottom_up(plan, put)  # noqa: E731
    if name is None:
        change = lambda plan: _unfocused(plan, document)  # noqa: E731
    match shape:
        case Listed(expression):
            return Listed(change(expression))  # type: ignore[arg-type]
        case Sorted(tuples):
            return replace(shape, tuples=change(tuples))  # type: ignore[arg-type]
        case Grouped(tuples):
            return replace(shape, tuples=change(tuples), group=change(shape.group))  # type: ignore[arg-type]


def _unfocused(plan: Any, document: p.Expression) -> Any:
    """The plan with the document in the place of the outermost context item."""
    match plan:
        case p.Focus():
            return document
        case p.Path(left) | p.SimpleMap(left):
            return replace(plan, left=_unfocused(left, document))
        case p.Filter(input):
            return replace(plan, input=_unfocused(input, document))
        case p.Inline():
            return plan
        case _:
            return map_children(plan, lambda child: _unfocused(child, document))
