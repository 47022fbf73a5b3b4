"""Which of several conditions a join is made by."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, facts
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
