"""Expressions that evaluate some of their operands only: what may be evaluated all the same."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.walk import children, descendants
from xstreamcast.functions.signature import FN

_FAILING: Final = (
    p.Arithmetic, p.Unary, p.Range, p.GeneralCompare, p.ValueCompare, p.Cast, p.Convert, p.Treat,
    p.DynamicCall,
)  # fmt: skip
_UNFAILING: Final = {
    (FN, name) for name in ("count", "exists", "empty", "distinct-values", "data", "not", "string")
}


def is_conditional(plan: p.Expression) -> bool:
    """Whether some operands are evaluated only where a test says so."""
    return isinstance(plan, p.If | p.Switch | p.TypeSwitch)


def is_guard(plan: p.Plan) -> bool:
    """Whether some operands may not be evaluated, or their errors are caught."""
    return isinstance(plan, p.If | p.Switch | p.TypeSwitch | p.And | p.Or | p.Try)


def branches(plan: p.Expression) -> list[p.Expression]:
    """The operands that are evaluated only where a test says so."""
    _, *others = children(plan)
    return others  # type: ignore[return-value]


def may_fail(plan: p.Expression) -> bool:
    """Whether it may raise an error, so that it must not be evaluated where it is not taken."""
    return facts(plan).calls or any(
        isinstance(one, _FAILING)
        or (isinstance(one, p.Call) and (one.function.uri, one.function.local) not in _UNFAILING)
        for one in descendants(plan)
    )
