"""How tightly a printed expression holds together; what is looser than its place is wrapped."""

from __future__ import annotations

from typing import Final

from xstreamcast.syntax.grammar import operators
from xstreamcast.syntax.tree import (
    AndExpr,
    ArithmeticExpr,
    AxisStep,
    BlockExpr,
    CastableAs,
    CastAs,
    ComparisonExpr,
    ConcatExpr,
    DynamicFunctionCall,
    Expr,
    Extension,
    FilterExpr,
    Flwor,
    IfExpr,
    InstanceOfExpr,
    IntervalComparison,
    IntervalProjectionExpr,
    LookupExpr,
    OrExpr,
    PathExpr,
    QuantifiedExpr,
    RangeExpr,
    SetExpr,
    SimpleMapExpr,
    SwitchExpr,
    TreatAs,
    TryCatch,
    TypeSwitchExpr,
    UnaryExpr,
    VersionProjectionExpr,
)

SINGLE: Final = 0
UNARY, EXTENSION, MAP, PATH, PROJECTED, STEP, POSTFIX, PRIMARY = range(15, 23)

# Types end in marks that look like operators, so an expression that ends in one is always wrapped.
_FIXED: Final[dict[type[Expr], int]] = {
    **dict.fromkeys(
        (Flwor, IfExpr, QuantifiedExpr, SwitchExpr, TypeSwitchExpr, TryCatch, BlockExpr), SINGLE
    ),
    **dict.fromkeys((InstanceOfExpr, TreatAs, CastableAs, CastAs), SINGLE),
    OrExpr: operators.OR,
    AndExpr: operators.AND,
    ComparisonExpr: operators.COMPARE,
    IntervalComparison: operators.COMPARE,
    ConcatExpr: operators.CONCAT,
    RangeExpr: operators.TO,
    UnaryExpr: UNARY,
    Extension: EXTENSION,
    SimpleMapExpr: MAP,
    PathExpr: PATH,
    IntervalProjectionExpr: PROJECTED,
    VersionProjectionExpr: PROJECTED,
    AxisStep: STEP,
}


def binding(found: Expr) -> int:
    """The place in the grammar where the printed expression fits without parentheses."""
    match found:
        case ArithmeticExpr("+" | "-"):
            return operators.ADD
        case ArithmeticExpr():
            return operators.MULTIPLY
        case SetExpr("union"):
            return operators.UNION
        case SetExpr():
            return operators.INTERSECT
        case FilterExpr() | DynamicFunctionCall() | LookupExpr():
            return PROJECTED if _projected(found) else POSTFIX
        case _:
            return _FIXED.get(type(found), PRIMARY)


def _projected(found: FilterExpr | DynamicFunctionCall | LookupExpr) -> bool:
    """Does it start with a projection, which would take the path before it?"""
    inner: Expr = found
    while isinstance(inner, FilterExpr | DynamicFunctionCall | LookupExpr):
        inner = inner.function if isinstance(inner, DynamicFunctionCall) else inner.base
    return isinstance(inner, IntervalProjectionExpr | VersionProjectionExpr)
