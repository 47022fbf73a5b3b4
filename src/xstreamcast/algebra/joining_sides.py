"""What a join is made of: sides of equalities, conditions, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.free import bound_variables, facts
from xstreamcast.algebra.walk import STREAMS, bottom_up, descendants, map_children
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass

Around = tuple["p.Tuples | p.Expression", ...]  # tuples and contexts that an expression stands in


@dataclass(frozen=True, slots=True)
class After:
    """What comes after a clause: conditions, and variables that it cannot see."""

    tests: tuple[p.Expression, ...] = ()
    variables: frozenset[p.Variable] = frozenset()

    def tested(self, test: p.Expression) -> After:
        """With a condition, which is met before the others."""
        return replace(self, tests=(test, *self.tests))

    def bound(self, clause: p.Tuples) -> After:
        """With the variables that a clause binds, those before it aside."""
        before = bound_variables(clause.source) if isinstance(clause, p.ForEach | p.Let) else ()
        own = frozenset(bound_variables(clause)) - frozenset(before)
        return replace(self, variables=self.variables | own)


NOTHING_AFTER: Final = After()


def inputs(plan: p.Plan) -> int:
    """How many times inputs are named."""
    return sum(isinstance(node, p.StreamInput) for node in descendants(plan))


def put_in(plan: Any, name: str, variable: p.Variable) -> Any:
    """The plan with a variable in the place of an input."""

    def put(node: p.Plan) -> p.Plan:
        found = isinstance(node, p.StreamInput) and node.name == name
        return p.Var(variable, span=node.span) if found else node  # type: ignore[union-attr]

    return bottom_up(plan, put)


def within(around: Around, value: p.Expression) -> p.Expression:
    """The values of an expression for all tuples and contexts that it stands in."""
    for outer in reversed(around):
        made: Any = p.Return if isinstance(outer, STREAMS) else p.SimpleMap
        value = made(outer, value)
    return value


def single(value: p.Expression, general: bool) -> p.Expression:
    """An operand of eq, which fails where eq would for its number of items."""
    function = lookup(FN, "zero-or-one", 1)
    assert function is not None
    return value if general else p.Call(function, (value,))


def conjuncts(plan: p.Expression) -> Sequence[p.Expression]:
    return plan.operands if isinstance(plan, p.And) else (plan,)


def conditioned(source: p.Tuples, test: p.Expression) -> p.Tuples:
    for one in conjuncts(test):
        source = p.Where(source, one, span=test.span)
    return source


def _equality(test: p.Expression) -> tuple[p.Expression, p.Expression] | None:
    match test:
        case p.GeneralCompare("eq", left, right) | p.ValueCompare("eq", left, right):
            return left, right
        case _:
            return None


def focused_sides(test: p.Expression) -> tuple[p.Expression, p.Expression] | None:
    """(the side of a general equality that reads the context item, the other)."""
    sides = _equality(test) if isinstance(test, p.GeneralCompare) else None
    for one, other in (sides, sides[::-1]) if sides else ():
        known = facts(one)
        if known.focus and not known.position and not known.last:
            return one, other
    return None


def with_side(test: p.Expression, old: p.Expression, new: p.Expression) -> p.Expression:
    return map_children(test, lambda child: new if child is old else child)


def sides_on(test: p.Expression, variable: p.Variable) -> tuple[p.Expression, p.Expression] | None:
    """(the side of an equality that reads a variable, the other, which does not)."""
    sides = _equality(test)
    for one, other in (sides, sides[::-1]) if sides else ():
        if variable in facts(one).free and variable not in facts(other).free:
            return one, other
    return None
