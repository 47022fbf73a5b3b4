"""Maps, arrays and lookups."""

from __future__ import annotations

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.syntax import tree as t


def map_constructor(expr: t.MapConstructor, scope: Scope) -> p.Expression:
    keys = tuple(scope.lower(entry.key) for entry in expr.entries)
    values = tuple(scope.lower(entry.value) for entry in expr.entries)
    return p.MakeMap(keys, values, span=expr.span)


def square_array(expr: t.SquareArray, scope: Scope) -> p.Expression:
    return p.MakeArray(scope.lowered(expr.members), span=expr.span)


def curly_array(expr: t.CurlyArray, scope: Scope) -> p.Expression:
    return p.MakeArray((scope.lower(expr.body),), True, span=expr.span)


def lookup(expr: t.LookupExpr, scope: Scope) -> p.Expression:
    key = None if expr.key is None else scope.lower(expr.key)
    return p.Lookup(scope.lower(expr.base), key, span=expr.span)
