"""Whether what a part has found can only grow while fragments are missing: a witness decides.

monotone(e): items of e over some fragments  →  items of e over more of them, corrections aside
"""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis import predicate_class
from xstreamcast.algebra.free import facts
from xstreamcast.functions.signature import FN

_EXISTENTIAL: Final = frozenset({"exists", "boolean", "true", "false"})
_DOWN: Final = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})


def monotone(plan: p.Expression, hollow: frozenset[str]) -> bool:
    """Whether missing fragments can only add items; `hollow` names elements that may lack some."""
    match plan:
        case p.Const() | p.Var() | p.Focus() | p.StreamInput():
            return True
        case p.Step(input, axis):
            return axis in _DOWN and monotone(input, hollow)
        case p.Path(left, right) | p.SimpleMap(left, right):
            return monotone(left, hollow) and monotone(right, hollow)
        case p.Filter(input, predicate):
            return monotone(input, hollow) and _test(predicate, hollow)
        case p.Return(source, result):
            return _tuples(source, hollow) and monotone(result, hollow)
        case _:
            return False


def witnessed(plan: p.Expression, hollow: frozenset[str]) -> bool | None:
    """The truth value that a test keeps once it has it; None if missing fragments may change both.

    exists(e) stays true, empty(e) and not(e) stay false: items that are there decide.
    """
    match plan:
        case p.Call(function, (operand,)) if function.uri == FN and function.local == "empty":
            return False if monotone(operand, hollow) else None
        case p.Call(function, (operand,)) if function.uri == FN and function.local == "not":
            kept = witnessed(operand, hollow)
            if kept is None:
                return False if monotone(operand, hollow) else None
            return not kept
        case p.Call(function) if function.uri == FN and function.local in _EXISTENTIAL:
            return True if _truth(plan, hollow) else None
        case p.GeneralCompare() | p.Quantified("some") | p.And() | p.Or():
            return True if _truth(plan, hollow) else None
        case _:
            return None


def _tuples(plan: p.Tuples, hollow: frozenset[str]) -> bool:
    match plan:
        case p.Unit():
            return True
        case p.ForEach(source, _, items, position, allowing_empty):
            known = position is None and not allowing_empty
            return known and _tuples(source, hollow) and monotone(items, hollow)
        case p.Where(source, test):
            return _tuples(source, hollow) and _truth(test, hollow)
        case _:
            return False


def _test(predicate: p.Expression, hollow: frozenset[str]) -> bool:
    known = facts(predicate)
    if known.position or known.last or predicate_class(predicate) != "truth":
        return False
    return _truth(predicate, hollow)


def _truth(plan: p.Expression, hollow: frozenset[str]) -> bool:
    """Whether a condition that is true stays true."""
    match plan:
        case p.And(operands) | p.Or(operands):
            return all(_truth(one, hollow) for one in operands)
        case p.GeneralCompare(_, left, right):
            return all(monotone(side, hollow) and _whole(side, hollow) for side in (left, right))
        case p.Quantified("some", source, test):
            return _tuples(source, hollow) and _truth(test, hollow)
        case p.Call(function, args) if function.uri == FN and function.local in _EXISTENTIAL:
            return all(monotone(arg, hollow) for arg in args)
        case _:
            return monotone(plan, hollow)


def _whole(plan: p.Expression, hollow: frozenset[str]) -> bool:
    """Whether the values that it compares are there whole as soon as they are there."""
    match plan:
        case p.Const():
            return True
        case p.Step(_, axis, test):
            named = test.local is not None and test.local not in hollow
            return axis == "attribute" or test.kind == "text" or named
        case p.Path(_, right) | p.SimpleMap(_, right):
            return _whole(right, hollow)
        case p.Filter(input):
            return _whole(input, hollow)
        case _:
            return False
