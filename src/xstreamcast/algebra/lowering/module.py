"""A module: its prolog, the bodies of what it declares, and what it asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.annotations import is_private
from xstreamcast.algebra.lowering.calls import bind_parameters, converted
from xstreamcast.algebra.lowering.dispatch import lower_expression
from xstreamcast.algebra.lowering.linking import Linked, Linker, Modules, no_modules
from xstreamcast.algebra.lowering.order import in_order
from xstreamcast.algebra.lowering.prolog import SortedProlog
from xstreamcast.algebra.lowering.scope import Compilation, Numbers, Scope
from xstreamcast.algebra.lowering.types import check, sequence_type
from xstreamcast.algebra.program import ContextItem, GlobalVariable, Library, Program, UserFunction
from xstreamcast.model.sequence_type import AnyItem, SequenceType
from xstreamcast.syntax import room_for_nesting
from xstreamcast.syntax import tree as t

_ONE_ITEM = SequenceType(AnyItem(), "one")


def lower(
    module: t.Module, *, base_uri: str | None = None, modules: Modules = no_modules
) -> Program:
    """The program that a module means, or a static error with its place."""
    with room_for_nesting():
        numbers = Numbers()
        main = Linked(module, _shared(module, numbers, 0, base_uri))
        return _program(main, Linker(modules, numbers, lower_expression).linked(main), module.body)


def lower_library(
    uri: str, places: tuple[str, ...], *, base_uri: str | None = None, modules: Modules
) -> Program:
    """The program of a library module alone: its variables and functions, and no body."""
    imported = t.ModuleImport(None, uri, places)
    main = t.Module(None, (imported,), t.Sequence())
    return lower(main, base_uri=base_uri, modules=modules)


def _shared(module: t.Module, numbers: Numbers, number: int, base_uri: str | None) -> Compilation:
    return Compilation(module.source, lower_expression, numbers, number, base_uri=base_uri)


def _program(main: Linked, libraries: list[Linked], body: t.Expr) -> Program:
    functions: dict[int, UserFunction] = {}
    variables: list[GlobalVariable] = []
    for one in (main, *libraries):
        functions |= {number: made for number, made in _functions(one)}
        variables += [_variable(v, variable, one) for v, variable in one.prolog.variables]
    listed = tuple(functions[number] for number in sorted(functions))
    ordered = in_order(variables, _context(main.prolog), listed, main.shared)
    context = next(
        (replace(one, after=i) for i, one in enumerate(ordered) if isinstance(one, ContextItem)),
        None,
    )
    return Program(
        main.module.source,
        main.prolog.static(),
        main.prolog.settings,
        context,
        tuple(one for one in ordered if isinstance(one, GlobalVariable)),
        listed,
        main.prolog.scope.lower(body),
        tuple(_library(one) for one in libraries),
        _visible(main),
    )


def _library(one: Linked) -> Library:
    assert one.shared.target is not None
    context = _context(one.prolog)
    return Library(
        one.shared.target,
        one.module.source,
        one.prolog.static(),
        _visible(one),
        None if context is None else context.type,
    )


def _visible(one: Linked) -> dict[tuple[str, str, int], int]:
    return {key: declared.index for key, declared in one.shared.functions.items()}


def _functions(one: Linked) -> Iterator[tuple[int, UserFunction]]:
    scope = one.prolog.scope
    for declared in one.prolog.functions:
        uri, local = scope.expand_function(declared.name)
        head = scope.shared.functions[uri, local, len(declared.parameters)]
        made = _function(declared, scope)
        yield head.index, replace(made, module=one.shared.module, private=head.private)


def _function(declared: t.FunctionDecl, scope: Scope) -> UserFunction:
    assert declared.body is not None
    uri, local = scope.expand_function(declared.name)
    parameters, inner = bind_parameters(declared.parameters, scope)
    result = sequence_type(declared.result, scope)
    body = converted(inner.lower(declared.body), result, f"the result of {declared.name}")
    name = str(declared.name)
    return UserFunction(uri, local, name, parameters, result, body, span=declared.span)


def _variable(declared: t.VariableDecl, variable: p.Variable, one: Linked) -> GlobalVariable:
    scope = one.prolog.scope
    uri, local = scope.expand_variable(declared.name)
    kind = scope.shared.types[variable]
    value = None
    if declared.value is not None:
        role = f"the value of ${declared.name}"
        value = check(scope.lower(declared.value), kind, role, declared.value.span)
    infinite = declared.type is not None and declared.type.occurrence == "**"
    return GlobalVariable(
        variable,
        uri,
        local,
        kind,
        value,
        declared.external,
        infinite,
        scope.shared.module,
        is_private(declared.annotations, scope),
        span=declared.span,
    )


def _context(prolog: SortedProlog) -> ContextItem | None:
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
