"""Results of a window that can be folded while it is open, so that its items can go.

sum($w/@n)  →  a value that each item updates, where every use of $w is such a fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.item_kinds import predicate_class
from xstreamcast.algebra.walk import descendants, map_children
from xstreamcast.functions.signature import FN

_FOLDS: Final = frozenset({"count", "exists", "empty", "sum", "avg", "min", "max"}) | {
    "distinct-values"
}
_DOWN: Final = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})


@dataclass(frozen=True, slots=True)
class WindowFold:
    """A function of values that each item of a window gives by itself."""

    variable: p.Variable  # represents the value
    name: str
    values: p.Expression


def folded(
    window: p.ForWindow, result: p.Expression
) -> tuple[tuple[WindowFold, ...], p.Expression] | None:
    """The folds of a result, and the result with variables in their place; None if it has other
    uses of the window."""
    if window.kind == "general" or not _disjoint(window.items):
        return None
    found: list[WindowFold] = []
    ends = frozenset(() if window.end is None else window.end.variables())
    if window.kind != "tumbling" and window.start is not None:
        ends |= frozenset(window.start.variables())  # an item gives the same to all its windows
    made = _put(result, window.variable, ends | facts(result).bound, found)
    if not found or window.variable in facts(made).used:
        return None
    return tuple(found), made


def _disjoint(items: p.Expression) -> bool:
    """Whether no item can be inside another."""
    steps = [node for node in descendants(items) if isinstance(node, p.Step)]
    return bool(steps) and all(node.axis == "child" for node in _spine(items))


def _spine(plan: p.Expression) -> Iterator[p.Step]:
    """The steps that lead to the items; those of predicates lead elsewhere."""
    match plan:
        case p.Step(input):
            yield from _spine(input)
            yield plan
        case p.Path(left, right):
            yield from _spine(left)
            yield from _spine(right)
        case p.Filter(input):
            yield from _spine(input)


def _put(
    plan: Any, window: p.Variable, ends: frozenset[p.Variable], found: list[WindowFold]
) -> Any:
    if window not in facts(plan).used:
        return plan
    match plan:
        case p.Call(function, (argument,)) if function.uri == FN and function.local in _FOLDS:
            known = facts(argument)
            if _each(argument, window) and not (known.free & ends or known.reads_focus):
                # numbers below zero are used here only
                variable = p.Variable(-1 - len(found), function.local)
                found.append(WindowFold(variable, function.local, argument))
                return p.Var(variable, span=plan.span)
    return map_children(plan, lambda child: _put(child, window, ends, found))


def _each(plan: p.Expression, window: p.Variable) -> bool:
    """Whether the value over several items is their values, one after another."""
    match plan:
        case p.Var(variable):
            return variable == window
        case p.Step(input, axis):
            return axis in _DOWN and _each(input, window)
        case p.Path(left, right) | p.SimpleMap(left, right):
            return _each(left, window) and _inside(right, window)
        case p.Filter(input, predicate, reverse):
            known = facts(predicate)
            free = not (reverse or known.position or known.last)
            truth = free and predicate_class(predicate) == "truth"
            return truth and _each(input, window) and _inside(predicate, window)
        case p.Call(function, (argument,)) if (function.uri, function.local) == (FN, "data"):
            return _each(argument, window)
        case p.Return(source, result):
            return _tuples(source, window) and _inside(result, window)
        case _:
            return False


def _tuples(plan: p.Tuples, window: p.Variable) -> bool:
    match plan:
        case p.ForEach(p.Unit(), _, items, None, False):
            return _each(items, window)
        case p.ForEach(source, _, items):
            return _tuples(source, window) and _inside(items, window)
        case p.Let(source, _, value):
            return _tuples(source, window) and _inside(value, window)
        case p.Where(source, test):
            return _tuples(source, window) and _inside(test, window)
        case _:
            return False


def _inside(plan: p.Expression, window: p.Variable) -> bool:
    """Whether it reads only its own item."""
    known = facts(plan)
    if window in known.used or known.position or known.last or not known.pure or known.calls:
        return False
    return all(node.axis in _DOWN for node in descendants(plan) if isinstance(node, p.Step))
