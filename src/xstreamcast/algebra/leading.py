"""Positions over all units that ask for the beginning only: how many items decide.

value of rest over all items of a part  →  its value over the first `limit` of them
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis import position_free
from xstreamcast.algebra.locality import ABOVE
from xstreamcast.algebra.walk import bottom_up, descendants
from xstreamcast.functions.signature import FN

_DOWN: Final = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})
_BELOW: Final = frozenset({"eq", "le", "lt"})


def limit(rest: p.Expression, variable: p.Variable) -> int | None:
    """How many items of a variable decide the value; None if all may."""
    uses = [n for n in descendants(rest) if isinstance(n, p.Var) and n.variable == variable]
    if len(uses) != 1:
        return None
    return next((n for node in descendants(rest) for n in _limits(node, uses[0])), None)


def stays_below(rest: p.Expression) -> bool:
    """Whether a plan walks from nodes only to what is below them, each for itself."""
    return not any(_leaves(node) for node in descendants(rest))


def _leaves(node: p.Plan) -> bool:
    match node:
        case p.Step(_, axis):
            return axis not in _DOWN
        case p.Call(function) | p.FunctionRef(function):
            return function.local in ABOVE
        case _:
            asked = (p.SetOperation, p.NodeCompare, p.UserCall, p.DynamicCall, p.Root, p.Inline)
            return isinstance(node, asked)


def _limits(node: p.Plan, use: p.Var) -> Iterator[int]:
    match node:
        case p.Filter(source, p.Const((atom,))) if source is use:
            yield from _number(atom)
        case p.Filter(source, test) if source is use:
            yield from _compared(test, p.Position)
        case p.Call(function, args) if function.uri == FN and args and args[0] is use:
            match function.local, args[1:]:
                case "head", ():
                    yield 1
                case "subsequence", (p.Const((first,)), p.Const((length,))):
                    for one, other in zip(_number(first), _number(length), strict=True):
                        yield one + other
        case p.VersionProjection(source, p.Const((first,)), None) if source is use:
            yield from _number(first)
        case p.VersionProjection(source, _, p.Const((last,))) if source is use:
            yield from _number(last)
        case p.Where(source, test):
            for position in _positions(source, use):
                yield from _compared(test, p.Var, position)


def _positions(tuples: p.Tuples, use: p.Var) -> Iterator[p.Variable]:
    """Variables that number the items, in tuples of which none is left out before."""
    while isinstance(tuples, p.Where | p.Let | p.ForEach | p.CountTuples):
        match tuples:
            case p.ForEach(p.Unit(), _, items, position, allowing_empty):
                if items is use and position is not None and not allowing_empty:
                    yield position
                return
            case p.CountTuples(source, variable) if _each(source, use):
                yield variable
        tuples = tuples.source


def _each(tuples: p.Tuples, use: p.Var) -> bool:
    """Whether there is a tuple for each item, and no other."""
    while isinstance(tuples, p.Let):
        tuples = tuples.source
    return (
        isinstance(tuples, p.ForEach)
        and isinstance(tuples.source, p.Unit)
        and tuples.items is use
        and not tuples.allowing_empty
    )


def _compared(
    test: p.Expression, kind: type[p.Position | p.Var], variable: p.Variable | None = None
) -> Iterator[int]:
    """The greatest position that passes a comparison with constants."""
    match test:
        case p.GeneralCompare(op, left, p.Const(atoms)) | p.ValueCompare(op, left, p.Const(atoms)):
            known = isinstance(left, kind) and (variable is None or left == p.Var(variable))
            if known and op in _BELOW and atoms:
                numbers = [n for atom in atoms for n in _number(atom)]
                yield from [max(numbers)] if len(numbers) == len(atoms) else ()
        case p.And(operands):
            for one in operands:
                yield from _compared(one, kind, variable)


def _number(atom: p.Atom) -> Iterator[int]:
    value = atom.value
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6:
        yield max(0, ceil(value))


def hoisted(body: p.Expression) -> p.Expression:
    """Positions below the one root element, as positions over all: /r/x[3] → (/r/x)[3]."""
    made: p.Expression = bottom_up(body, _hoisted)
    return made


def _hoisted(node: p.Plan) -> p.Plan:
    match node:
        case p.Path(left, p.Filter(source, predicate, False) as right) if (
            _is_root(left) and _is_chosen(source) and _settled(predicate)
        ):
            return replace(right, input=_begun(source, left))
        case p.Path(left, p.Call(function, (source, *others)) as right) if (
            function.uri == FN
            and function.local in ("subsequence", "head")
            and all(isinstance(one, p.Const) for one in others)
            and _is_root(left)
            and _from_focus(source)
        ):
            return replace(right, args=(_begun(source, left), *others))
        case _:
            return node


def _is_root(plan: p.Expression) -> bool:
    """Whether it is the root element of a document: there is no more than one."""
    match plan:
        case p.Step(p.StreamInput() | p.Root(p.Focus()), "child", test):
            return test.kind == "element"
        case _:
            return False


def _from_focus(plan: p.Expression) -> bool:
    match plan:
        case p.Step(p.Focus(), axis):
            return axis in ("child", "descendant")
        case _:
            return False


def _is_chosen(plan: p.Expression) -> bool:
    """Whether it is a step from the focus, perhaps with predicates that do not count."""
    if isinstance(plan, p.Filter) and not plan.reverse and position_free(plan.predicate):
        return _is_chosen(plan.input)
    return _from_focus(plan)


def _settled(predicate: p.Expression) -> bool:
    """Whether a predicate is a position, whatever the items are."""
    match predicate:
        case p.Const():
            return True
        case p.GeneralCompare(_, left, right) | p.ValueCompare(_, left, right):
            return {type(left), type(right)} == {p.Position, p.Const}
        case _:
            return False


def _begun(step: Any, left: p.Expression) -> p.Expression:
    if isinstance(step, p.Filter):
        return replace(step, input=_begun(step.input, left))
    return replace(step, input=left)  # type: ignore[no-any-return]
