"""Constants, variables, sequences and the operators that lower to themselves."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.algebra.lowering.types import cast_target, sequence_type
from xstreamcast.errors import Span
from xstreamcast.model.atomic import ATOMIC, DECIMAL, DOUBLE, INTEGER, QNAME, STRING
from xstreamcast.model.sequence_type import AtomicItem
from xstreamcast.syntax import times
from xstreamcast.syntax import tree as t

_GENERAL: Final[dict[str, p.CompareOp]] = {
    "=": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}
_NODES: Final[dict[str, p.NodeOp]] = {"is": "is", "<<": "<<", ">>": ">>"}
_VALUES: Final[dict[str, p.CompareOp]] = {op: op for op in _GENERAL.values()}


def string(value: str, span: Span) -> p.Const:
    """A string constant."""
    return p.Const((p.Atom(STRING, value),), span=span)


def string_literal(expr: t.StringLiteral, scope: Scope) -> p.Expression:
    return string(expr.value, expr.span)


def integer_literal(expr: t.IntegerLiteral, scope: Scope) -> p.Expression:
    return p.Const((p.Atom(INTEGER, expr.value),), span=expr.span)


def decimal_literal(expr: t.DecimalLiteral, scope: Scope) -> p.Expression:
    return p.Const((p.Atom(DECIMAL, expr.value),), span=expr.span)


def double_literal(expr: t.DoubleLiteral, scope: Scope) -> p.Expression:
    return p.Const((p.Atom(DOUBLE, expr.value),), span=expr.span)


def time_literal(expr: t.TimeLiteral, scope: Scope) -> p.Expression:
    """A bare date or duration is the cast of its text; the papers leave out seconds."""
    target = AtomicItem(ATOMIC[expr.kind].tag)
    text = with_seconds(expr.text) if expr.kind == "dateTime" else expr.text
    return p.Cast(string(text, expr.span), target, optional=False, span=expr.span)


def with_seconds(text: str) -> str:
    """XQuery wants the seconds written: `T10:00` -> `T10:00:00`."""
    date, _, clock = text.partition("T")
    return f"{date}T{clock[:5]}:00{clock[5:]}" if clock[5:6] != ":" else text


def time_constant(expr: t.TimeConstant, scope: Scope) -> p.Expression:
    if expr.word == "last":
        return p.LastVersion(span=expr.span)
    return p.Instant(expr.word, span=expr.span)


def var_ref(expr: t.VarRef, scope: Scope) -> p.Expression:
    return p.Var(scope.variable(expr.name, expr.span), span=expr.span)


def context_item(expr: t.ContextItemExpr, scope: Scope) -> p.Expression:
    return p.Focus(span=expr.span)


def sequence(expr: t.Sequence, scope: Scope) -> p.Expression:
    """A comma; () is the constant of no items."""
    if not expr.items:
        return p.Const((), span=expr.span)
    return p.Comma(scope.lowered(expr.items), span=expr.span)


def comparison(expr: t.ComparisonExpr, scope: Scope) -> p.Expression:
    expr = times.compared(expr)
    left, right = scope.lower(expr.left), scope.lower(expr.right)
    if expr.operator in _GENERAL:
        return p.GeneralCompare(_GENERAL[expr.operator], left, right, span=expr.span)
    if expr.operator in _NODES:
        return p.NodeCompare(_NODES[expr.operator], left, right, span=expr.span)
    return p.ValueCompare(_VALUES[expr.operator], left, right, span=expr.span)


def arithmetic(expr: t.ArithmeticExpr, scope: Scope) -> p.Expression:
    expr = times.added(expr)
    left, right = scope.lower(expr.left), scope.lower(expr.right)
    return p.Arithmetic(expr.operator, left, right, span=expr.span)


def unary(expr: t.UnaryExpr, scope: Scope) -> p.Expression:
    return p.Unary(expr.operator, scope.lower(expr.operand), span=expr.span)


def range_(expr: t.RangeExpr, scope: Scope) -> p.Expression:
    return p.Range(scope.lower(expr.low), scope.lower(expr.high), span=expr.span)


def concat(expr: t.ConcatExpr, scope: Scope) -> p.Expression:
    return p.StringConcat(scope.lowered(expr.items), span=expr.span)


def conjunction(expr: t.AndExpr, scope: Scope) -> p.Expression:
    return p.And(scope.lowered(expr.items), span=expr.span)


def disjunction(expr: t.OrExpr, scope: Scope) -> p.Expression:
    return p.Or(scope.lowered(expr.items), span=expr.span)


def set_operation(expr: t.SetExpr, scope: Scope) -> p.Expression:
    left, right = scope.lower(expr.left), scope.lower(expr.right)
    return p.SetOperation(expr.operator, left, right, span=expr.span)


def instance_of(expr: t.InstanceOfExpr, scope: Scope) -> p.Expression:
    kind = sequence_type(expr.type, scope)
    return p.InstanceOf(scope.lower(expr.operand), kind, span=expr.span)


def treat_as(expr: t.TreatAs, scope: Scope) -> p.Expression:
    return p.Treat(scope.lower(expr.operand), sequence_type(expr.type, scope), span=expr.span)


def cast_as(expr: t.CastAs, scope: Scope) -> p.Expression:
    target = cast_target(expr.type, scope)
    operand = scope.lower(expr.operand)
    return p.Cast(operand, target, expr.type.optional, names_for(target, scope), span=expr.span)


def castable_as(expr: t.CastableAs, scope: Scope) -> p.Expression:
    target = cast_target(expr.type, scope)
    operand = scope.lower(expr.operand)
    return p.Castable(operand, target, expr.type.optional, names_for(target, scope), span=expr.span)


def names_for(target: p.CastTarget, scope: Scope) -> p.Namespaces:
    """The namespaces that a string needs to become a value of the type: for names only."""
    return scope.namespaces() if target == AtomicItem(QNAME) else ()
