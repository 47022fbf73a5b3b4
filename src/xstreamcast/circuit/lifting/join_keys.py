"""Which of several conditions a join is made by."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, facts
from xstreamcast.circuit.lifting.compared import join_key
from xstreamcast.circuit.lifting.relation import Relation


def with_equality(plan: p.Where, outer: Relation) -> p.Tuples | None:
    """join on a < b where c = d  →  join on c = d and a < b: equality finds fewer pairs"""
    tests: list[p.Expression] = []
    node: p.Tuples = plan
    while isinstance(node, p.Where):
        tests.append(node.test)
        node = node.source
    if not isinstance(node, p.TupleJoin) or any(key.op == "eq" for key in node.keys):
        return None
    right = set(bound_variables(node.right))
    others = set(bound_variables(node.left)) | set(outer.variables)
    for test in reversed(tests):
        key = _equality(test, others, right)
        if key is not None:
            made: p.Tuples = replace(node, keys=(key, *node.keys))
            for one in reversed(tests):
                made = made if one is test else p.Where(made, one, span=plan.span)
            return made
    return None


def with_band(plan: p.Where, outer: Relation) -> p.Tuples | None:
    """join on a < b where c >= b  →  join on a < b and c >= b: a band finds fewer pairs"""
    tests: list[p.Where] = []
    node: p.Tuples = plan
    while isinstance(node, p.Where):
        tests.append(node)
        node = node.source
    if not isinstance(node, p.TupleJoin) or len(node.keys) != 1:
        return None
    row = frozenset(bound_variables(node.left)) | set(outer.variables)
    for one in reversed(tests):
        key = join_key(one.test, row)
        if key is not None and is_band(node.keys[0], key):
            made: p.Tuples = replace(node, keys=(*node.keys, key))
            for other in reversed(tests):
                made = made if other is one else replace(other, source=made)
            return made
    return None


def is_band(one: p.JoinKey, other: p.JoinKey) -> bool:
    """Whether what two comparisons find is between two values."""
    ops = {one.op, other.op}
    return one.right == other.right and bool(ops & {"lt", "le"}) and bool(ops & {"gt", "ge"})


def _equality(
    test: p.Expression, left: set[p.Variable], right: set[p.Variable]
) -> p.JoinKey | None:
    match test:
        case p.GeneralCompare("eq", one, other) | p.ValueCompare("eq", one, other):
            pass
        case _:
            return None
    general = isinstance(test, p.GeneralCompare)
    for mine, theirs in ((one, other), (other, one)):
        sides = facts(mine).free, facts(theirs).free
        apart = sides[0] & left and sides[1] & right
        if apart and not (sides[0] & right or sides[1] & left):
            return p.JoinKey(mine, theirs, general, test, "eq")
    return None
