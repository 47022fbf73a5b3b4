"""Paths, steps, predicates: each step over the nodes of the one before."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.algebra.lowering.types import node_test
from xstreamcast.syntax import tree as t


def path(expr: t.PathExpr, scope: Scope) -> p.Expression:
    """a/b/c → (a/b)/c; an axis step without predicates needs no focus, so it takes its input."""
    steps = expr.steps
    if expr.absolute:
        made: p.Expression = p.TreeRoot(p.Focus(span=expr.span), span=expr.span)
    else:
        made, steps = scope.lower(steps[0]), steps[1:]
    for one in steps:
        made = _joined(made, one, scope)
    return made


def _joined(left: p.Expression, right: t.Expr, scope: Scope) -> p.Expression:
    span = (left.span[0], right.span[1])
    if isinstance(left, p.Path):
        left = replace(left, inner=True)
    if isinstance(right, t.AxisStep) and not right.predicates:
        return _axis(left, right, scope)
    return p.Path(left, scope.lower(right), span=span)


def step(expr: t.AxisStep, scope: Scope) -> p.Expression:
    """A step from the context item; its predicates count along the axis."""
    made = _axis(p.Focus(span=expr.span), expr, scope)
    for predicate in expr.predicates:
        reverse = expr.axis in p.REVERSE_AXES
        made = p.Filter(made, scope.lower(predicate), reverse, span=expr.span)
    return made


def _axis(source: p.Expression, expr: t.AxisStep, scope: Scope) -> p.Expression:
    if expr.axis == "namespace":
        hint = "fn:in-scope-prefixes and fn:namespace-uri-for-prefix return the same information"
        raise scope.fail("XQST0134", "XQuery has no namespace axis", expr.span, hint)
    test = node_test(expr.test, expr.axis, scope)
    return p.Step(source, expr.axis, test, span=expr.span)


def filter_(expr: t.FilterExpr, scope: Scope) -> p.Expression:
    made = scope.lower(expr.base)
    for predicate in expr.predicates:
        made = p.Filter(made, scope.lower(predicate), span=expr.span)
    return made


def simple_map(expr: t.SimpleMapExpr, scope: Scope) -> p.Expression:
    return p.SimpleMap(scope.lower(expr.left), scope.lower(expr.right), span=expr.span)
