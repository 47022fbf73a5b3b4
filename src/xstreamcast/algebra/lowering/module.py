"""A module: its prolog, the bodies of what it declares, and what it asks."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.calls import bind_parameters, converted
from xstreamcast.algebra.lowering.dispatch import lower_expression
from xstreamcast.algebra.lowering.order import in_order
from xstreamcast.algebra.lowering.prolog import Prolog, read_prolog
from xstreamcast.algebra.lowering.scope import Compilation, Scope
from xstreamcast.algebra.lowering.types import check, sequence_type
from xstreamcast.algebra.program import ContextItem, GlobalVariable, Program, UserFunction
from xstreamcast.model.sequence_type import AnyItem, SequenceType
from xstreamcast.syntax import room_for_nesting
from xstreamcast.syntax import tree as t

_ONE_ITEM = SequenceType(AnyItem(), "one")


def lower(module: t.Module, *, base_uri: str | None = None) -> Program:
    """The program that a module means, or a static error with its place."""
    with room_for_nesting():
        return _program(module, base_uri)


def _program(module: t.Module, base_uri: str | None) -> Program:
    shared = Compilation(module.source, lower_expression, base_uri=base_uri)
    prolog = read_prolog(module.prolog, Scope(shared))
    functions = tuple(_function(one, prolog.scope) for one in prolog.functions)
    variables = [_variable(one, variable, prolog.scope) for one, variable in prolog.variables]
    ordered = in_order(variables, _context(prolog), functions, shared)
    context = next(
        (replace(one, after=i) for i, one in enumerate(ordered) if isinstance(one, ContextItem)),
        None,
    )
    return Program(
        module.source,
        prolog.static(),
        prolog.settings,
        context,
        tuple(one for one in ordered if isinstance(one, GlobalVariable)),
        functions,
        prolog.scope.lower(module.body),
    )


def _function(declared: t.FunctionDecl, scope: Scope) -> UserFunction:
    assert declared.body is not None
    uri, local = scope.expand_function(declared.name)
    parameters, inner = bind_parameters(declared.parameters, scope)
    result = sequence_type(declared.result, scope)
    body = converted(inner.lower(declared.body), result, f"the result of {declared.name}")
    name = str(declared.name)
    return UserFunction(uri, local, name, parameters, result, body, span=declared.span)


def _variable(declared: t.VariableDecl, variable: p.Variable, scope: Scope) -> GlobalVariable:
    uri, local = scope.expand_variable(declared.name)
    kind = scope.shared.types[variable]
    value = None
    if declared.value is not None:
        role = f"the value of ${declared.name}"
        value = check(scope.lower(declared.value), kind, role, declared.value.span)
    infinite = declared.type is not None and declared.type.occurrence == "**"
    return GlobalVariable(
        variable, uri, local, kind, value, declared.external, infinite, span=declared.span
    )


def _context(prolog: Prolog) -> ContextItem | None:
    declared = prolog.context
    if declared is None:
        return None
    kind = _ONE_ITEM if declared.type is None else sequence_type(declared.type, prolog.scope)
    value = None
    if declared.value is not None:
        value = check(
            prolog.scope.lower(declared.value), kind, "the context item", declared.value.span
        )
    return ContextItem(kind, value, declared.external, span=declared.span)
