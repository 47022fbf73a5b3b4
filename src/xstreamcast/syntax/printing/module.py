"""A query as text: parse(print_module(m)) → m."""

from __future__ import annotations

from typing import assert_never

from xstreamcast.syntax.grammar.module import room_for_nesting
from xstreamcast.syntax.printing import expressions
from xstreamcast.syntax.printing.literals import name, quoted
from xstreamcast.syntax.printing.types import annotation_marks, declared
from xstreamcast.syntax.tree import (
    BaseUriDecl,
    BoundarySpaceDecl,
    ConstructionDecl,
    ContextItemDecl,
    CopyNamespacesDecl,
    DecimalFormatDecl,
    Declaration,
    DefaultCollationDecl,
    DefaultNamespaceDecl,
    EmptyOrderDecl,
    ExecutionDecl,
    Expr,
    FunctionDecl,
    Module,
    ModuleImport,
    Name,
    NamespaceDecl,
    OptionDecl,
    OrderingModeDecl,
    StreamDecl,
    VariableDecl,
    VersionDecl,
)


def print_module(module: Module) -> str:
    """The query text of a tree."""
    with room_for_nesting():
        version = [_version(module.version)] if module.version else []
        declarations = [_declared(d) for d in module.prolog]
        return "\n".join([*version, *declarations, expressions.expression(module.body)])


def print_expression(found: Expr) -> str:
    """The text of one expression."""
    with room_for_nesting():
        return expressions.expression(found)


def _version(found: VersionDecl) -> str:
    version = f" version {quoted(found.version)}" if found.version is not None else ""
    encoding = f" encoding {quoted(found.encoding)}" if found.encoding is not None else ""
    return f"xquery{version}{encoding};"


def _declared(found: Declaration) -> str:
    return (
        f"{_import(found)};"
        if isinstance(found, ModuleImport)
        else (f"declare {_declaration(found)};")
    )


def _import(found: ModuleImport) -> str:
    bound = f"namespace {found.prefix} = " if found.prefix is not None else ""
    places = f" at {', '.join(map(quoted, found.places))}" if found.places else ""
    return f"import module {bound}{quoted(found.uri)}{places}"


def _declaration(found: Declaration) -> str:
    match found:
        case VariableDecl(marks, bound, type_, value, external):
            head = f"{annotation_marks(marks)}variable ${name(bound)}{declared(type_)}"
            return head + _value(value, external)
        case FunctionDecl(marks, called, parameters, result, body):
            shown = "external" if body is None else expressions.enclosed(body)
            head = f"{annotation_marks(marks)}function {name(called)}"
            return f"{head}{expressions.parameters(parameters)}{declared(result)} {shown}"
        case ContextItemDecl(type_, value, external):
            return f"context item{declared(type_)}{_value(value, external)}"
        case OptionDecl(option, text):
            return f"option {name(option)} {quoted(text)}"
        case StreamDecl(stream, value):
            return f"stream {stream} := {expressions.expression(value)}"
        case NamespaceDecl(prefix, uri):
            return f"namespace {prefix} = {quoted(uri)}"
        case DefaultNamespaceDecl(kind, uri):
            return f"default {kind} namespace {quoted(uri)}"
        case DecimalFormatDecl(format_name, properties):
            return _format(format_name, properties)
        case ModuleImport():
            return _import(found)
        case _:
            return _setting(found)


def _value(value: Expr | None, external: bool) -> str:
    shown = f" := {expressions.expression(value)}" if value is not None else ""
    return (" external" if external else "") + shown


def _format(format_name: Name | None, properties: tuple[tuple[str, str], ...]) -> str:
    head = f"decimal-format {name(format_name)}" if format_name else "default decimal-format"
    return head + "".join(f" {word} = {quoted(value)}" for word, value in properties)


def _setting(
    found: BoundarySpaceDecl
    | DefaultCollationDecl
    | BaseUriDecl
    | ConstructionDecl
    | OrderingModeDecl
    | EmptyOrderDecl
    | CopyNamespacesDecl
    | ExecutionDecl,
) -> str:
    match found:
        case BoundarySpaceDecl(preserve):
            return f"boundary-space {'preserve' if preserve else 'strip'}"
        case ConstructionDecl(preserve):
            return f"construction {'preserve' if preserve else 'strip'}"
        case DefaultCollationDecl(uri):
            return f"default collation {quoted(uri)}"
        case BaseUriDecl(uri):
            return f"base-uri {quoted(uri)}"
        case OrderingModeDecl(ordered):
            return f"ordering {'ordered' if ordered else 'unordered'}"
        case EmptyOrderDecl(greatest):
            return f"default order empty {'greatest' if greatest else 'least'}"
        case CopyNamespacesDecl(preserve, inherit):
            kept, passed = "" if preserve else "no-", "" if inherit else "no-"
            return f"copy-namespaces {kept}preserve, {passed}inherit"
        case ExecutionDecl():
            return "execution sequential"
        case _:
            assert_never(found)
