"""Expressions that bind variables: FLWOR, quantifiers, typeswitch, inline functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from xstreamcast.algebra.translate.parts import rebuilt
from xstreamcast.algebra.translate.scope import ShapeScope
from xstreamcast.algebra.translate.shapes import LOOSE, ONE_LOOSE, PLAIN, Shape
from xstreamcast.syntax import tree as t

if TYPE_CHECKING:
    from xstreamcast.algebra.translate.expressions import Translated, Translator

Binding = t.Flwor | t.QuantifiedExpr | t.InlineFunction | t.TypeSwitchExpr


def binding(do: Translator, found: Binding, scope: ShapeScope) -> Translated:
    """The expression, its variables known in what follows them."""
    match found:
        case t.Flwor(clauses, result):
            made: list[t.Clause] = []
            for clause in clauses:
                one, scope = _clause(do, clause, scope)
                made.append(one)
            shape = do.expression(result, scope)[1]
            given = do.settled(result, scope)
            return replace(found, clauses=tuple(made), result=given), _given(shape)
        case t.QuantifiedExpr():
            return _quantified(do, found, scope), PLAIN
        case t.InlineFunction(_, parameters, _, body):
            inner = with_parameters(parameters, scope, do.structures is None).at(PLAIN)
            return replace(found, body=do.settled(body, inner)), LOOSE
        case t.TypeSwitchExpr():
            return _typeswitch(do, found, scope)
        case _:
            assert_never(found)


def with_parameters(
    parameters: tuple[t.Param, ...], scope: ShapeScope, plain: bool = False
) -> ShapeScope:
    """What a function is called with is not known; one item is, if its type says so."""
    for parameter in parameters:
        one = parameter.type is not None and parameter.type.occurrence in ("", "?")
        shape = PLAIN if plain else ONE_LOOSE if one else LOOSE
        scope = scope.bind(parameter.name, shape)
    return scope


def _given(shape: Shape) -> Shape:
    return PLAIN if shape == PLAIN else LOOSE


def _clause(do: Translator, clause: t.Clause, scope: ShapeScope) -> tuple[t.Clause, ShapeScope]:
    match clause:
        case t.ForClause(name, _, _, position, source):
            made, shape = do.expression(source, scope)
            inner = scope.bind(name, shape.single()).bind(position, PLAIN)
            return replace(clause, source=made), inner
        case t.LetClause(name, _, value):
            made, shape = do.expression(value, scope)
            return replace(clause, value=made), scope.bind(name, shape)
        case t.WindowClause():
            return _window(do, clause, scope)
        case t.GroupByClause(keys):
            return _group(do, clause, keys, scope)
        case t.CountClause(name):
            return clause, scope.bind(name, PLAIN)
        case t.WhereClause() | t.OrderByClause():
            return rebuilt(clause, lambda part: do.settled(part, scope)), scope
        case _:
            assert_never(clause)


def _group(
    do: Translator, clause: t.GroupByClause, keys: tuple[t.GroupingSpec, ...], scope: ShapeScope
) -> tuple[t.Clause, ShapeScope]:
    """Every other variable becomes what it was in all tuples of the group, in their order."""
    made = rebuilt(clause, lambda part: do.settled(part, scope))
    mixed = {
        name: shape if shape == PLAIN else replace(shape, one=False, nested=True)
        for name, shape in scope.variables.items()
    }
    inner = replace(scope, variables=mixed)
    for key in keys:
        inner = inner.bind(key.name, PLAIN)
    return made, inner


def _window(
    do: Translator, clause: t.WindowClause, scope: ShapeScope
) -> tuple[t.Clause, ShapeScope]:
    shape = do.expression(clause.source, scope)[1]
    source = do.settled(clause.source, scope)
    one, many = (PLAIN, PLAIN) if shape == PLAIN else (ONE_LOOSE, LOOSE)
    inner = scope
    for side in (clause.start, clause.end):
        for variable in (side.current, side.previous, side.next) if side else ():
            inner = inner.bind(variable.name if variable else None, one)
        if side and side.position:
            inner = inner.bind(side.position.name, PLAIN)
    made = replace(
        clause,
        source=source,
        start=clause.start and rebuilt(clause.start, lambda part: do.settled(part, inner)),
        end=clause.end and rebuilt(clause.end, lambda part: do.settled(part, inner)),
    )
    return made, inner.bind(clause.name, many)


def _quantified(do: Translator, found: t.QuantifiedExpr, scope: ShapeScope) -> t.Expr:
    made = []
    for one in found.bindings:
        source, shape = do.expression(one.source, scope)
        made.append(replace(one, source=source))
        scope = scope.bind(one.name, shape.single())
    return replace(found, bindings=tuple(made), test=do.expression(found.test, scope)[0])


def _typeswitch(do: Translator, found: t.TypeSwitchExpr, scope: ShapeScope) -> Translated:
    shape = _given(do.expression(found.operand, scope)[1])
    operand = do.settled(found.operand, scope)
    cases = tuple(
        replace(case, result=do.settled(case.result, scope.bind(case.name, shape)))
        for case in found.cases
    )
    default = do.settled(found.default, scope.bind(found.default_name, shape))
    return replace(found, operand=operand, cases=cases, default=default), LOOSE
