"""Whether there is any item, instead of how many."""

from __future__ import annotations

from typing import Final, cast

from xstreamcast.algebra import plan as p
from xstreamcast.functions import registry
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import INTEGER
from xstreamcast.rewrite.known import Known

SWAPPED: Final[dict[str, p.CompareOp]] = {
    "eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le",
}  # fmt: skip
_TESTS: Final = {
    ("eq", 0): "empty",
    ("le", 0): "empty",
    ("lt", 1): "empty",
    ("ne", 0): "exists",
    ("gt", 0): "exists",
    ("ge", 1): "exists",
}
_OPPOSITE: Final = {"empty": "exists", "exists": "empty"}


def ask_existence_for_counts(
    plan: p.GeneralCompare | p.ValueCompare | p.Call, known: Known
) -> p.Expression:
    """A count compared with nothing or one is a question of existence.

    count(e) = 0  →  empty(e)        count(e) > 0  →  exists(e)        not(empty(e))  →  exists(e)
    """
    match plan:
        case p.GeneralCompare(op, left, right) | p.ValueCompare(op, left, right):
            if isinstance(left, p.Const):
                left, right, op = right, left, SWAPPED[op]
            return _tested(plan, op, left, right)
        case p.Call(negation, (p.Call(function, args),)):
            if _is(negation, "not") and function.uri == FN and function.local in _OPPOSITE:
                return called(_OPPOSITE[function.local], args, plan.span)
    return plan


def _tested(
    plan: p.GeneralCompare | p.ValueCompare, op: str, left: p.Expression, right: p.Expression
) -> p.Expression:
    match left, right:
        case p.Call(function, args), p.Const((p.Atom(tag, value),)):
            if tag == INTEGER and (op, value) in _TESTS and _is(function, "count"):
                return called(_TESTS[op, value], args, plan.span)
    return plan


def _is(function: registry.Function, local: str) -> bool:
    return function.uri == FN and function.local == local


def called(local: str, args: tuple[p.Expression, ...], span: tuple[int, int]) -> p.Call:
    """A call of a function of the library."""
    function = registry.lookup(FN, local, len(args))
    return p.Call(cast("registry.Function", function), args, span=span)
