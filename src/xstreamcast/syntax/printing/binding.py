"""How tightly a printed expression holds together; what is looser than its place is wrapped."""

from __future__ import annotations

from typing import Final

from xstreamcast.syntax.grammar import operators
from xstreamcast.syntax.tree import (
    And,
    Arithmetic,
    Block,
    CastableAs,
    CastAs,
    Comparison,
    Concat,
    DynamicCall,
    Expr,
    Extension,
    Filter,
    Flwor,
    If,
    InstanceOf,
    IntervalComparison,
    IntervalProjection,
    Lookup,
    Or,
    Path,
    Quantified,
    Range,
    SetOperation,
    SimpleMap,
    Step,
    Switch,
    TreatAs,
    TryCatch,
    TypeSwitch,
    Unary,
    VersionProjection,
)

SINGLE: Final = 0
UNARY, EXTENSION, MAP, PATH, PROJECTED, STEP, POSTFIX, PRIMARY = range(15, 23)

# Types end in marks that look like operators, so an expression that ends in one is always wrapped.
_FIXED: Final[dict[type[Expr], int]] = {
    **dict.fromkeys((Flwor, If, Quantified, Switch, TypeSwitch, TryCatch, Block), SINGLE),
    **dict.fromkeys((InstanceOf, TreatAs, CastableAs, CastAs), SINGLE),
    Or: operators.OR,
    And: operators.AND,
    Comparison: operators.COMPARE,
    IntervalComparison: operators.COMPARE,
    Concat: operators.CONCAT,
    Range: operators.TO,
    Unary: UNARY,
    Extension: EXTENSION,
    SimpleMap: MAP,
    Path: PATH,
    IntervalProjection: PROJECTED,
    VersionProjection: PROJECTED,
    Step: STEP,
}


def binding(found: Expr) -> int:
    """The place in the grammar where the printed expression fits without parentheses."""
    match found:
        case Arithmetic("+" | "-"):
            return operators.ADD
        case Arithmetic():
            return operators.MULTIPLY
        case SetOperation("union"):
            return operators.UNION
        case SetOperation():
            return operators.INTERSECT
        case Filter() | DynamicCall() | Lookup():
            return PROJECTED if _projected(found) else POSTFIX
        case _:
            return _FIXED.get(type(found), PRIMARY)


def _projected(found: Filter | DynamicCall | Lookup) -> bool:
    """Does it start with a projection, which would take the path before it?"""
    inner: Expr = found
    while isinstance(inner, Filter | DynamicCall | Lookup):
        inner = inner.function if isinstance(inner, DynamicCall) else inner.base
    return isinstance(inner, IntervalProjection | VersionProjection)
