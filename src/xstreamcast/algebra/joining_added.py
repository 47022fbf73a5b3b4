"""Whether more units of another input can only add items to what a part gives.

additive(e): items of e over some units of the other input  →  items of e over more of them
"""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis import predicate_class
from xstreamcast.algebra.free import facts
from xstreamcast.algebra.walk import children
from xstreamcast.functions.signature import FN

_DOWN: Final = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})


def additive(plan: p.Expression, other: p.Variable) -> bool:
    """Whether more units of the other input, whose documents `other` stands for, only add items."""
    if other not in facts(plan).used:
        return True
    match plan:
        case p.Var():
            return True
        case p.Step(source, axis):
            return axis in _DOWN and additive(source, other)
        case p.Path(left, right) | p.SimpleMap(left, right):
            return additive(left, other) and additive(right, other)
        case p.Filter(source, predicate):
            return additive(source, other) and _chooses(predicate, other)
        case p.Comma(parts):
            return all(additive(part, other) for part in parts)
        case p.Return(source, result):
            return _tuples(source, other) and additive(result, other)
        case _:
            return False


def _tuples(plan: p.Tuples, other: p.Variable) -> bool:
    if other not in facts(plan).used:
        return True
    match plan:
        case p.ForEach(source, _, items, position, allowing_empty):
            counted = position is not None or allowing_empty
            free = other not in facts(items).used
            return _tuples(source, other) and (free or (not counted and additive(items, other)))
        case p.Let(source, _, value):
            return _tuples(source, other) and other not in facts(value).used
        case p.Where(source, test):
            return _tuples(source, other) and _truth(test, other)
        case p.Join(left, right):
            own = [one for one in children(plan) if one is not left and one is not right]
            free = all(other not in facts(one).used for one in own)
            return free and _tuples(left, other) and _tuples(right, other)
        case _:
            return False


def _chooses(predicate: p.Expression, other: p.Variable) -> bool:
    """Whether a predicate looks at each item alone, and what is true of it stays true."""
    known = facts(predicate)
    if known.position or known.last or predicate_class(predicate) != "truth":
        return False
    return _truth(predicate, other)


def _truth(plan: p.Expression, other: p.Variable) -> bool:
    """Whether a condition that is true stays true."""
    if other not in facts(plan).used:
        return True
    match plan:
        case p.And(operands) | p.Or(operands):
            return all(_truth(one, other) for one in operands)
        case p.GeneralCompare(_, left, right):
            return additive(left, other) and additive(right, other)
        case p.Quantified("some", source, test):
            return _tuples(source, other) and _truth(test, other)
        case p.Call(function, (argument,)) if function.uri == FN and function.local in (
            "exists",
            "boolean",
        ):
            return additive(argument, other)
        case p.Step() | p.Path() | p.Filter():
            return additive(plan, other)
        case _:
            return False
