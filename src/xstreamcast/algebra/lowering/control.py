"""Conditionals, quantifiers, try/catch, and what only wraps an expression."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.algebra.lowering.types import check, sequence_type
from xstreamcast.functions.signature import ERR
from xstreamcast.model.sequence_type import ANY, SequenceType
from xstreamcast.syntax import tree as t

_CATCH: Final = {f.name: f.name.replace("_", "-") for f in fields(p.CatchVariables)}


def conditional(expr: t.IfExpr, scope: Scope) -> p.Expression:
    test, then = scope.lower(expr.test), scope.lower(expr.then)
    return p.If(test, then, scope.lower(expr.otherwise), span=expr.span)


def switch(expr: t.SwitchExpr, scope: Scope) -> p.Expression:
    cases = tuple(
        p.SwitchCase(scope.lowered(case.values), scope.lower(case.result)) for case in expr.cases
    )
    return p.Switch(scope.lower(expr.operand), cases, scope.lower(expr.default), span=expr.span)


def typeswitch(expr: t.TypeSwitchExpr, scope: Scope) -> p.Expression:
    """One variable serves all branches; each sees it under its own name."""
    names = [case.name for case in expr.cases] + [expr.default_name]
    shown = next((str(name) for name in names if name is not None), "operand")
    variable = scope.shared.variable(shown)

    def branch(name: t.Name | None, result: t.Expr) -> p.Expression:
        if name is None:
            return scope.lower(result)
        return scope.with_variable(scope.expand_variable(name), variable).lower(result)

    cases = tuple(
        p.TypeCase(
            tuple(sequence_type(kind, scope) for kind in case.types),
            branch(case.name, case.result),
        )
        for case in expr.cases
    )
    default = branch(expr.default_name, expr.default)
    return p.TypeSwitch(variable, scope.lower(expr.operand), cases, default, span=expr.span)


def quantified(expr: t.QuantifiedExpr, scope: Scope) -> p.Expression:
    tuples: p.Tuples = p.Unit()
    for binding in expr.bindings:
        items = each_of(scope.lower(binding.source), binding.type, binding.name, scope)
        variable, scope = scope.bind(binding.name)
        tuples = p.ForEach(tuples, variable, items, span=binding.span)
    return p.Quantified(expr.kind, tuples, scope.lower(expr.test), span=expr.span)


def each_of(
    items: p.Expression,
    kind: t.TypeExpr | None,
    name: t.Name,
    scope: Scope,
    allowing_empty: bool = False,
) -> p.Expression:
    """Items of which each must have the declared type, as one check of all of them."""
    one = sequence_type(kind, scope)
    if kind is None:
        return items
    if one.occurs == "none":
        return check(items, one, f"the value of ${name}", kind.span)
    needed = allowing_empty and one.at_least == 1
    every = SequenceType(one.item, "some" if needed else "many")
    return check(items, every, f"each value of ${name}", kind.span)


def try_catch(expr: t.TryCatch, scope: Scope) -> p.Expression:
    body = scope.lower(expr.body)
    return p.Try(body, tuple(_catch(one, scope) for one in expr.catches), span=expr.span)


def _catch(catch: t.CatchClause, scope: Scope) -> p.Catch:
    bound = {name: scope.shared.variable(f"err:{local}") for name, local in _CATCH.items()}
    inner = scope
    for name, local in _CATCH.items():
        inner = inner.with_variable((ERR, local), bound[name])
    tests = tuple(_error_test(test, scope) for test in catch.tests)
    return p.Catch(tests, p.CatchVariables(**bound), inner.lower(catch.body))


def _error_test(test: t.NamesTest, scope: Scope) -> p.ErrorTest:
    match test:
        case t.AnyName():
            return p.ErrorTest(None, None)
        case t.AnyNamespace(local):
            return p.ErrorTest(None, local)
        case t.AnyLocal(prefix, uri):
            found = scope.uri_of_prefix(prefix, test.span) if uri is None else uri
            return p.ErrorTest(found, None)
        case t.NameTest(name):
            return p.ErrorTest(*scope.expand_element(name))


def ordering(expr: t.Ordering, scope: Scope) -> p.Expression:
    """ordered {} and unordered {}: we always give the order that `ordered` asks for."""
    return scope.lower(expr.body)


def extension(expr: t.Extension, scope: Scope) -> p.Expression:
    """Unknown pragmas are skipped, so there must be a body (XQST0079)."""
    for pragma in expr.pragmas:
        scope.expand_variable(pragma.name)
    if expr.body is None:
        raise scope.fail("XQST0079", "no pragma is known, so a body must follow", expr.span)
    return scope.lower(expr.body)


def interval_projection(expr: t.IntervalProjectionExpr, scope: Scope) -> p.Expression:
    last = None if expr.end is None else scope.lower(expr.end)
    base, first = scope.lower(expr.base), scope.lower(expr.begin)
    return p.IntervalProjection(base, first, last, span=expr.span)


def version_projection(expr: t.VersionProjectionExpr, scope: Scope) -> p.Expression:
    last = None if expr.last is None else scope.lower(expr.last)
    base, first = scope.lower(expr.base), scope.lower(expr.first)
    return p.VersionProjection(base, first, last, span=expr.span)


def interval_comparison(expr: t.IntervalComparison, scope: Scope) -> p.Expression:
    left, right = _interval(expr.left, scope), _interval(expr.right, scope)
    return p.AllenCompare(expr.operator, left, right, span=expr.span)


def _interval(operand: t.Expr | t.IntervalExpr, scope: Scope) -> p.Expression:
    if not isinstance(operand, t.IntervalExpr):
        return scope.lower(operand)
    last = None if operand.end is None else scope.lower(operand.end)
    return p.Interval(scope.lower(operand.begin), last, span=operand.span)


def block(expr: t.BlockExpr, scope: Scope) -> p.Expression:
    statements = tuple(_statement(one, scope) for one in expr.statements)
    return p.Block(statements, scope.lower(expr.result), span=expr.span)


def _statement(one: t.Assign | t.Expr, scope: Scope) -> p.Expression:
    if not isinstance(one, t.Assign):
        return scope.lower(one)
    variable = scope.variable(one.name, one.span)
    kind = scope.shared.types.get(variable, ANY)
    value = check(scope.lower(one.value), kind, f"the value of ${one.name}", one.span)
    return p.SetVariable(variable, value, span=one.span)
