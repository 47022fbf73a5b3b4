"""Loops whose items compare with a row: by equality, and by order from one side or from both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import counts_positions, facts
from xstreamcast.algebra.analysis.item_kinds import TypeContext, predicate_class
from xstreamcast.circuit.analysis.over_group import ORDERS
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED


class Comparisons(NamedTuple):
    """`items`: the loop with the conditions on its items alone. The rest as in `RangeFold`."""

    items: p.Tuples
    key: p.JoinKey
    upper: p.JoinKey | None
    equal: tuple[p.JoinKey, ...]

    @property
    def keys(self) -> tuple[p.JoinKey, ...]:
        """All comparisons with the row."""
        return (self.key, *([] if self.upper is None else [self.upper]), *self.equal)


def comparisons(plan: p.Tuples, row: frozenset[p.Variable]) -> Comparisons | None:
    """How the items of a loop compare with a row; None if some condition does not, or none does by
    order.
    """
    tests: list[p.Expression] = []
    while isinstance(plan, p.Where):
        tests.append(plan.test)
        plan = plan.source
    match plan:
        case p.TupleJoin(p.Unit(), items, keys, residual):
            tests += [] if residual is None else [residual]
            tests += [key.test for key in reversed(keys)]
        case _:
            return None
    found: list[p.JoinKey] = []
    for test in _conditions(reversed(tests)):
        if not facts(test).free & row:
            items = p.Where(items, test, span=test.span)
            continue
        key = join_key(test, row)
        if key is None:
            return None
        found.append(key)
    equal = tuple(key for key in found if key.op == "eq")
    match [key for key in found if key.op != "eq"]:
        case [key]:
            return Comparisons(items, key, None, equal)
        case [one, other] if one.right == other.right and _is_low(one) != _is_low(other):
            ends = (one, other) if _is_low(one) else (other, one)
            return Comparisons(items, *ends, equal)
        case _:
            return None


def merged(plan: p.Filter, row: frozenset[p.Variable], types: TypeContext) -> p.Filter:
    """e[a][b]  →  e[a and b], if a compares with the row: one of them may make a join"""
    inner = plan.input
    if (
        not isinstance(inner, p.Filter)
        or not facts(inner.predicate).free & row
        or not (_is_truth(plan, types) and _is_truth(inner, types))
    ):
        return plan
    both = p.And((inner.predicate, plan.predicate), span=plan.span)
    return merged(p.Filter(inner.input, both, span=plan.span), row, types)


def _is_truth(plan: p.Filter, types: TypeContext) -> bool:
    """Whether a predicate chooses items by what they are, wherever they are."""
    test = plan.predicate
    truth = predicate_class(test, types) == "truth" and not counts_positions(test)
    return truth and not plan.reverse


def _is_low(key: p.JoinKey) -> bool:
    """Whether items are behind the value of the row."""
    return key.op in ("lt", "le")


def _conditions(tests: Iterable[p.Expression]) -> list[p.Expression]:
    found: list[p.Expression] = []
    for test in tests:
        found += _conditions(test.operands) if isinstance(test, p.And) else [test]
    return found


def join_key(test: p.Expression, row: frozenset[p.Variable]) -> p.JoinKey | None:
    """How a condition compares a row with something that does not read it; None if it does not."""
    match test:
        case p.GeneralCompare(op, one, other) | p.ValueCompare(op, one, other):
            general = isinstance(test, p.GeneralCompare)
        case _:
            return None
    if op not in ORDERS | {"eq"}:
        return None
    if facts(one).free & row:
        left, right = one, other
    else:
        left, right, op = other, one, SWAPPED[op]
    if facts(right).free & row:
        return None
    return p.JoinKey(left, right, general, test, op)
