"""Whether what a part has found can only grow while fragments are missing: a witness decides.

monotone(e): items of e over some fragments  →  items of e over more of them, corrections aside
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.item_kinds import predicate_class
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import INTEGER, STRING
from xstreamcast.model.frozen import dataclass

_EXISTENTIAL: Final = frozenset({"exists", "boolean", "true", "false"})
_OF_VALUES: Final = frozenset(
    {"string", "data", "concat", "normalize-space", "upper-case", "lower-case", "number"}
)
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


def witnessed_item(plan: p.Expression, hollow: frozenset[str]) -> str | None:
    """The answer that is final as soon as it is there: of a test, or of a choice by a test."""
    match plan:
        case p.If(test, then, otherwise):
            kept = True if monotone(test, hollow) else witnessed(test, hollow)
            return None if kept is None else _constant(then if kept else otherwise)
        case _:
            found = witnessed(plan, hollow)
            return None if found is None else str(found).lower()


def _constant(plan: p.Expression) -> str | None:
    match plan:
        case p.Const((atom,)) if atom.tag in (STRING, INTEGER):
            return str(atom.value)
        case _:
            return None


def grows(plan: p.Expression, hollow: frozenset[str], travelling: frozenset[str]) -> bool:
    """Whether an item of the answer is final as soon as it is there, though others are missing.

    `travelling` names elements that are fragments: a hole may represent one of them.
    """
    match plan:
        case p.Return(source, result):
            known = frozenset(one.variable for one in _loops(source))
            return _tuples(source, hollow) and _final(result, Missing(known, hollow, travelling))
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Missing:
    """What is known while fragments are missing: the nodes that loops bind, and names of elements
    that may lack something, or be lacking.
    """

    bound: frozenset[p.Variable]
    hollow: frozenset[str]
    travelling: frozenset[str]


def _loops(plan: p.Tuples) -> Iterator[p.ForEach]:
    while isinstance(plan, p.ForEach | p.Where):
        if isinstance(plan, p.ForEach):
            yield plan
        plan = plan.source


def _final(plan: p.Expression, missing: Missing) -> bool:
    """Whether missing fragments neither add to a value nor to what is in it."""
    match plan:
        case p.Const():
            return True
        case p.Comma(parts):
            return all(_final(one, missing) for one in parts)
        case p.MakeElement(name, _, attributes, content) if isinstance(name, p.StaticName):
            parts = (*content, *(part for one in attributes for part in one.parts))
            return all(_final(one, missing) for one in parts)
        case p.Call(function, args) if function.uri == FN and function.local in _OF_VALUES:
            return all(_final(one, missing) for one in args)
        case p.Path(left, p.Call(function, args)) | p.SimpleMap(left, p.Call(function, args)):
            of_items = all(isinstance(one, p.Focus | p.Const) for one in args)
            known = function.uri == FN and function.local in _OF_VALUES
            return known and of_items and _final(left, missing)
        case p.Step():
            return _steady(plan, missing) and _whole(plan, missing.hollow)
        case _:
            return False


def _steady(plan: p.Expression, missing: Missing) -> bool:
    """Whether the nodes that are found from one that is there are there, too."""
    match plan:
        case p.Var(variable):
            return variable in missing.bound
        case p.Step(input, "parent" | "self"):
            return _steady(input, missing)
        case p.Step(input, "attribute", test):
            return test.local not in (None, "vtFrom", "vtTo") and _steady(input, missing)
        case p.Step(input, "child", test):
            named = test.local is not None and test.local not in missing.travelling
            return (named or test.kind == "text") and _steady(input, missing)
        case _:
            return False


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
