"""The drawing of tuple streams: one clause a line, from the source on down."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.show.layout import Drawing

Draw = Callable[[p.Expression], Drawing]


def clauses(plan: p.Tuples, draw: Draw) -> tuple[Drawing, ...]:
    """The operators of a stream in the order in which tuples meet them."""
    match plan:
        case p.Unit():
            return ()
        case p.TupleJoin():
            return (_join(plan, draw),)
        case _:
            return (*clauses(plan.source, draw), _clause(plan, draw))


def _clause(
    plan: p.ForEach | p.Let | p.Where | p.GroupBy | p.OrderBy | p.CountTuples | p.ForWindow,
    draw: Draw,
) -> Drawing:
    match plan:
        case p.ForEach(_, variable, items, position, allowing_empty):
            empty = " allowing empty" if allowing_empty else ""
            at = f" at {position}" if position is not None else ""
            return _line(f"for {variable}{empty}{at} in", draw(items))
        case p.Let(_, variable, value):
            return _line(f"let {variable} :=", draw(value))
        case p.Where(_, test):
            return _line("where", draw(test))
        case p.GroupBy(_, keys, carried):
            drawings = [_line(f"{key.variable} :=", draw(key.value)) for key in keys]
            kept = [Drawing(f"{after} from {before}") for before, after in carried]
            return _line("group by", *drawings, *kept)
        case p.OrderBy(_, keys):
            return _line("order by", *(_order_key(key, draw) for key in keys))
        case p.CountTuples(_, variable):
            return Drawing(f"count {variable}")
        case p.ForWindow():
            return _window(plan, draw)
        case _:
            assert_never(plan)


def _line(head: str, *parts: Drawing) -> Drawing:
    return Drawing(head, parts, clause=True)


def _order_key(key: p.OrderKey, draw: Draw) -> Drawing:
    down = "descending" if key.descending else "ascending"
    return Drawing(
        f"{down} empty {'greatest' if key.empty_greatest else 'least'}", (draw(key.value),)
    )


def _window(plan: p.ForWindow, draw: Draw) -> Drawing:
    items = _line("in", draw(plan.items))
    start = [] if plan.start is None else [_boundary("start", plan.start, draw)]
    word = "only end" if plan.only_end else "end"
    end = [] if plan.end is None else [_boundary(word, plan.end, draw)]
    index = [] if plan.index is None else [_line("index", _join_key(plan.index, draw))]
    head = f"{plan.kind} window {plan.variable} by {plan.order}"
    return _line(head, items, *start, *end, *index)


def _boundary(word: str, boundary: p.Boundary, draw: Draw) -> Drawing:
    named = (
        ("", boundary.current),
        ("at ", boundary.position),
        ("previous ", boundary.previous),
        ("next ", boundary.next),
    )
    shown = "".join(f" {label}{variable}" for label, variable in named if variable is not None)
    if boundary.test is None:
        return Drawing(f"{word}{shown} when newstart")
    return _line(f"{word}{shown} when", draw(boundary.test))


def _join(plan: p.TupleJoin, draw: Draw) -> Drawing:
    left = Drawing("left", clauses(plan.left, draw))
    right = Drawing("right", clauses(plan.right, draw))
    keys = [_join_key(key, draw) for key in plan.keys]
    rest = [] if plan.residual is None else [_line("where", draw(plan.residual))]
    return Drawing("join", (left, right, _line("on", *keys), *rest), tall=True)


def _join_key(key: p.JoinKey, draw: Draw) -> Drawing:
    word = f"any-{key.op}" if key.general else key.op
    return Drawing(word, (draw(key.left), draw(key.right)))
