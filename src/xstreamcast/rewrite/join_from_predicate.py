"""Predicates that compare with an outer variable, as joins."""

from __future__ import annotations

from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.nodes.static_type import NODE
from xstreamcast.algebra.walk import map_children
from xstreamcast.rewrite.join_from_comparison import copies_of
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.safety import begins_at_root

_OPS: Final = frozenset({"eq", "lt", "le", "gt", "ge"})


def join_from_predicate(plan: p.Filter, known: Known) -> p.Expression:
    """A look-up among nodes that do not change is a loop with a condition, which becomes a join.

    e[a = b]  →  for $item in e where a($item) = b return $item
        if e is nodes, a reads the focus, and b reads a variable that e does not
    """
    match plan.predicate:
        case p.GeneralCompare(op, left, right) if op in _OPS and known.only_nodes(plan.input):
            key, other = (left, right) if facts(left).reads_focus else (right, left)
            if not _fits(plan.input, key, other):
                return plan
            variable = known.fresh("item", NODE)
            test = _replaced(plan.predicate, p.Var(variable))
            loop = p.ForEach(p.Unit(), variable, plan.input, span=plan.span)
            return p.Return(p.Where(loop, test, span=plan.span), p.Var(variable), span=plan.span)
        case _:
            return plan


def _fits(items: p.Expression, key: p.Expression, other: p.Expression) -> bool:
    made, one, two = facts(items), facts(key), facts(other)
    if two.reads_focus or not one.focus or one.position or one.last:
        return False
    if made.reads_focus and not begins_at_root(items):
        return False  # it changes with the focus: a path around it may still take it in
    shared = not made.makes_nodes or copies_of(items) is not None
    pure = made.pure and one.pure and two.pure
    return shared and pure and bool(two.free - made.free) and _plain(key)


def _plain(plan: p.Expression) -> bool:
    """Whether the focus is used only where a variable could be: at the root of paths."""
    match plan:
        case p.Focus():
            return True
        case p.Step(source):
            return _plain(source)
        case p.Path(left) | p.Filter(left):
            return _plain(left)
        case _:
            return not facts(plan).reads_focus


def _replaced(plan: Any, by: p.Var) -> Any:
    """The plan with a variable in the place of its own focus."""
    match plan:
        case p.Focus():
            return by
        case p.Path(_, right) | p.Filter(_, right):
            return map_children(
                plan, lambda child: child if child is right else _replaced(child, by)
            )
        case _ if facts(plan).reads_focus:
            return map_children(plan, lambda child: _replaced(child, by))
        case _:
            return plan
