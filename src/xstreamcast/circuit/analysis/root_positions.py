"""Positions below the one root element of an input, as positions over all units in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import position_free
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.functions.signature import FN


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
        case p.Step(p.StreamInput() | p.TreeRoot(p.Focus() | p.StreamInput()), "child", test):
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
        case p.GeneralCompare(_, p.Position(), other) | p.GeneralCompare(_, other, p.Position()):
            return _is_place(other)
        case p.ValueCompare(_, p.Position(), other) | p.ValueCompare(_, other, p.Position()):
            return _is_place(other)
        case p.And(operands):
            return all(map(_settled, operands))
        case _:
            compares = isinstance(predicate, p.GeneralCompare | p.Var)
            return not compares and _is_place(predicate)


def _is_place(plan: p.Expression) -> bool:
    """Whether it is a number that is the same for all items: a constant, last() - 1, $i + 1."""
    match plan:
        case p.Const() | p.Last() | p.Var():
            return True
        case p.Arithmetic(_, left, right) | p.Range(left, right):
            return _is_place(left) and _is_place(right)
        case _:
            return False


def _begun(step: Any, left: p.Expression) -> p.Expression:
    if isinstance(step, p.Filter):
        return replace(step, input=_begun(step.input, left))
    return replace(step, input=left)  # type: ignore[no-any-return]
