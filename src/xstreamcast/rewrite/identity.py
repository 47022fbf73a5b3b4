"""Whether a program can distinguish one node from two equal nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import descendants

_BY_IDENTITY: Final = frozenset({"generate-id", "innermost", "outermost"})


def observes_identity(bodies: Iterable[p.Expression]) -> bool:
    """Whether expressions may compare nodes, or remove those that occur twice.

    A path removes duplicates from its nodes; it finds none where it begins at one node, or at nodes
    that a walk from one node gives.
    """
    nodes = [node for body in bodies for node in descendants(body)]
    many = frozenset[p.Variable]().union(*map(_gathered, nodes))
    lets = [node for node in nodes if isinstance(node, p.Let)]
    while found := {one.variable for one in lets if not _is_walk(one.value, many)} - many:
        many |= found
    return any(_observes(node, many) for node in nodes)


def _gathered(node: p.Plan) -> frozenset[p.Variable]:
    """The variables of a clause that hold what several tuples or items gave."""
    match node:
        case p.GroupBy(_, _, carried):
            return frozenset(held for _, held in carried)
        case p.ForWindow(variable=variable):
            return frozenset({variable})
        case p.TypeSwitch(variable):
            return frozenset({variable})
        case _:
            return frozenset()


def _observes(node: p.Plan, many: frozenset[p.Variable]) -> bool:
    match node:
        case p.NodeCompare() | p.SetOperation():
            return True
        case p.UserCall() | p.DynamicCall() | p.Partial() | p.FunctionRef() | p.UserRef():
            return True  # what is done there is not looked at
        case p.Inline() | p.SetVariable() | p.Block():
            return True
        case p.Call(function):
            return function.local in _BY_IDENTITY
        case p.Step(input):
            return not _is_walk(input, many)
        case p.Path(left, right):
            return not (_is_walk(left, many) and _is_walk(right, many))
        case _:
            return False


def _is_walk(plan: p.Expression, many: frozenset[p.Variable]) -> bool:
    """Whether no node occurs twice in it that was copied once."""
    match plan:
        case p.Step(input) | p.Filter(input):
            return _is_walk(input, many)
        case p.IntervalProjection(operand) | p.VersionProjection(operand) | p.Treat(operand):
            return _is_walk(operand, many)
        case p.Path(left, right):
            return _is_walk(left, many) and _is_walk(right, many)
        case p.Var(variable):
            return variable not in many
        case p.Focus() | p.TreeRoot() | p.StreamInput() | p.Const():
            return True
        case _:
            return False
