"""Loops over pairs that a comparison thins out, as joins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, facts
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED
from xstreamcast.rewrite.fold_constants import TRUE
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.safety import Safety

_OPS: Final = frozenset({"eq", "lt", "le", "gt", "ge"})


def join_from_comparison(plan: p.Where | p.Quantified, known: Known) -> p.Plan:
    """A loop that does not depend on the ones before it, kept where a value of it compares.

    where a op b (for $v in e (S))  →  join(S, for $v in e) on a op b
        if a does not read $v, b and e read no variable of S, and a reads one that e does not

    S is often a single tuple inside another loop: a nested FLWOR that compares with an outer
    variable becomes a look-up for all outer tuples at once. A quantifier is such a loop, too.
    Where e is a projection, $v is a copy of its own for each tuple of S. If the program could see
    that tuples share it:

    for $v in e?[i]  →  join(S, for $once in e?[i]), let $v := $once?[i]
    """
    match plan:
        case p.Where():
            return _joined(plan, known) or plan
        case p.Quantified("some", source, test):
            made = _joined(p.Where(source, test, span=plan.span), known)
            return plan if made is None else replace(plan, source=made, test=TRUE)
        case _:
            return plan


def _joined(plan: p.Where, known: Known) -> p.Tuples | None:
    earlier, loop = _conditions(plan.source)
    if not isinstance(loop, p.ForEach):
        return None
    copies = None if loop.position or loop.allowing_empty else copies_of(loop.items)
    key = _key(plan.test, loop, copies is not None)
    if key is None:
        return None
    outer = frozenset(bound_variables(loop.source))
    # Conditions on the loop alone stay inside the right side; others must not mind waiting.
    inside = [one for one in earlier if not facts(one.test).free & outer]
    after = [one for one in earlier if facts(one.test).free & outer]
    if not all(Safety(known).truth(one.test) for one in after):
        return None
    right: p.Tuples = replace(loop, source=p.Unit())
    for one in inside:
        right = replace(one, source=right)
    join = p.TupleJoin(loop.source, right, (key,), span=plan.span)
    made: p.Tuples = join
    if copies is not None and known.observes_identity:
        made = _copied(join, loop.variable, copies, known)
    for one in after:
        made = replace(one, source=made)
    return made


def copies_of(items: p.Expression) -> p.IntervalProjection | None:
    """The projection that makes items, if what it projects is there already."""
    while isinstance(items, p.Filter) and not facts(items.predicate).makes_nodes:
        items = items.input
    match items:
        case p.IntervalProjection(operand, first, last):
            parts = (operand, first) if last is None else (operand, first, last)
            return None if any(facts(one).makes_nodes for one in parts) else items
        case _:
            return None


def _copied(
    join: p.TupleJoin, variable: p.Variable, copies: p.IntervalProjection, known: Known
) -> p.Tuples:
    """The join with an item that all tuples share, and for each tuple a copy of it."""
    once = known.fresh(variable.name, known.type_of(p.Var(variable)))

    def put(node: Any) -> Any:
        match node:
            case p.Var(one) if one == variable:
                return replace(node, variable=once)
            case p.ForEach(_, one) if one == variable:
                return replace(node, variable=once)
            case _:
                return node

    (key,) = join.keys
    shared = replace(key, right=bottom_up(key.right, put), test=bottom_up(key.test, put))
    made = replace(join, right=bottom_up(join.right, put), keys=(shared,))
    again = replace(copies, operand=p.Var(once, span=copies.operand.span))
    return p.Let(made, variable, again, span=join.span)


def _conditions(plan: p.Tuples) -> tuple[list[p.Where], p.Tuples]:
    """The conditions above a clause, the first one first."""
    found: list[p.Where] = []
    while isinstance(plan, p.Where):
        found.append(plan)
        plan = plan.source
    return found[::-1], plan


def _key(test: p.Expression, loop: p.ForEach, copies: bool) -> p.JoinKey | None:
    match test:
        case p.GeneralCompare(op, left, right) | p.ValueCompare(op, left, right):
            general = isinstance(test, p.GeneralCompare)
        case _:
            return None
    if op not in _OPS or not _apart(loop, left, right, copies):
        return None
    if _reads(left, loop):
        left, right, op = right, left, SWAPPED[op]
    if _reads(left, loop) or not _reads(right, loop) or not _fits(loop, left, right):
        return None
    return p.JoinKey(left, right, general, test, op)


def _reads(plan: p.Expression, loop: p.ForEach) -> bool:
    free = facts(plan).free
    return loop.variable in free or loop.position in free


def _apart(loop: p.ForEach, left: p.Expression, right: p.Expression, copies: bool) -> bool:
    """Whether the items can be made once, and both sides compared in any order."""
    items = facts(loop.items)
    pure = items.pure and facts(left).pure and facts(right).pure
    once = copies or not items.makes_nodes
    return pure and once and not items.free & set(bound_variables(loop.source))


def _fits(loop: p.ForEach, left: p.Expression, right: p.Expression) -> bool:
    """Whether the right side ignores the loops before, and the left reads more than the items."""
    items, one, other = facts(loop.items), facts(left), facts(right)
    outer = frozenset(bound_variables(loop.source))
    if other.free & outer:
        return False
    more = one.free - items.free
    return bool(more) or (one.reads_focus and not items.reads_focus)
