"""Children without which an element does not pass a predicate: elsewhere it need not be read."""

from __future__ import annotations

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import children
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import NodeItem


def required(predicate: p.Expression) -> tuple[NodeItem, ...]:
    """Children without which a node does not pass a predicate."""
    match predicate:
        case p.And():
            inner = children(predicate)
            return tuple(test for one in inner for test in required(one))  # type: ignore[arg-type]
        case p.GeneralCompare(_, left, right) | p.ValueCompare(_, left, right):
            return (*_first_child(left), *_first_child(right))
        case p.Step():
            return _first_child(predicate)
        case p.Call(function, (argument,)) if (function.uri, function.local) == (FN, "exists"):
            return _first_child(argument)
        case _:
            return ()


def _first_child(plan: p.Expression) -> tuple[NodeItem, ...]:
    """The child of the focus that a path begins with, if it has a name."""
    while isinstance(plan, p.Step) and isinstance(plan.input, p.Step):
        plan = plan.input
    match plan:
        case p.Step(p.Focus(), "child", NodeItem(kind="element", local=str()) as test):
            return (test,)
        case _:
            return ()
