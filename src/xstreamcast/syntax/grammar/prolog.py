"""The prolog: declarations up to the query body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from xstreamcast.syntax.grammar import expressions, prolog_parts, settings, types
from xstreamcast.syntax.grammar.attributes import refuse_reserved
from xstreamcast.syntax.grammar.calls import refuse_reserved_function
from xstreamcast.syntax.grammar.names import eqname, ncname, string, uri_literal, variable
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    Annotation,
    BoundarySpaceDecl,
    ContextItemDecl,
    Declaration,
    DefaultNamespaceDecl,
    ExecutionDecl,
    Expr,
    FunctionDecl,
    ModuleImport,
    NamespaceDecl,
    OptionDecl,
    StreamDecl,
    TypeExpr,
    VariableDecl,
)

_LATER: Final = (ContextItemDecl, VariableDecl, FunctionDecl, OptionDecl, StreamDecl)


def prolog(cur: Cursor) -> tuple[Declaration, ...]:
    """All declarations; settings come before variables, functions, options and streams."""
    found: list[Declaration] = []
    while True:
        start = cur.pos
        if cur.word() == "import" and cur.next_word() == "schema":
            raise _refused_import(cur)
        if cur.word() == "import" and cur.next_word() == "module":
            made: Declaration = _import(cur, start)
        elif _declares(cur):
            cur.take_word("declare")
            made = _declaration(cur, start)
        else:
            return tuple(found)
        _refuse_late(cur, made, found)
        settings.refuse_repeated(cur, made, found)
        found.append(made)
        if not cur.take(";"):
            raise cur.expected("';' after the declaration")
        if isinstance(made, BoundarySpaceDecl):
            cur.preserve = made.preserve
        cur.sequential = cur.sequential or isinstance(made, ExecutionDecl)


def _declares(cur: Cursor) -> bool:
    if cur.word() != "declare":
        return False
    return cur.word_then("%") or cur.next_word() in _DECLARE


def _refused_import(cur: Cursor) -> Exception:
    return cur.unsupported("schema import is", (cur.pos, cur.pos + len("import")), "XQST0009")


def _import(cur: Cursor, start: int) -> ModuleImport:
    """`import module namespace p = "uri" at "place", …`."""
    cur.take_words("import", "module")
    prefix = None
    if cur.take_word("namespace"):
        prefix = ncname(cur, "a prefix")
        cur.expect("=")
    uri = uri_literal(cur)
    places: list[str] = []
    if cur.take_word("at"):
        places.append(uri_literal(cur))
        while cur.take(","):
            places.append(uri_literal(cur))
    if prefix in ("xml", "xmlns"):
        raise cur.error("XQST0070", f"the prefix '{prefix}' cannot be bound", cur.span(start))
    if not uri.strip():
        raise cur.error("XQST0088", "an imported module must have a namespace", cur.span(start))
    return ModuleImport(prefix, uri, tuple(places), cur.span(start))


def _declaration(cur: Cursor, start: int) -> Declaration:
    annotations = prolog_parts.annotation_list(cur)
    if annotations:
        return _annotated(cur, annotations, start)
    return _DECLARE[cur.expect_word(*_DECLARE)](cur, start)


def _annotated(cur: Cursor, annotations: tuple[Annotation, ...], start: int) -> Declaration:
    if cur.expect_word("variable", "function") == "variable":
        _refuse_contradiction(cur, annotations, "XQST0116")
        return _variable(cur, start, annotations)
    _refuse_contradiction(cur, annotations, "XQST0106")
    return _function(cur, start, annotations)


def _refuse_contradiction(cur: Cursor, annotations: tuple[Annotation, ...], code: str) -> None:
    found = prolog_parts.visibility(annotations)
    if len(found) > 1:
        raise cur.error(code, "%public and %private may be given once", found[1].span)


def _refuse_late(cur: Cursor, made: Declaration, before: list[Declaration]) -> None:
    if isinstance(made, _LATER) or not before or not isinstance(before[-1], _LATER):
        return
    message = "settings and namespaces must come before variables, functions and options"
    raise cur.error("XPST0003", message, made.span)


def _variable(cur: Cursor, start: int, annotations: tuple[Annotation, ...] = ()) -> VariableDecl:
    name = variable(cur)
    declared = types.type_declaration(cur)
    value, external = _value(cur)
    return VariableDecl(annotations, name, declared, value, external, cur.span(start))


def _value(cur: Cursor) -> tuple[Expr | None, bool]:
    """`:= e`, `external` or `external := e`."""
    external = cur.take_word("external")
    if cur.take(":="):
        return expressions.expr_single(cur), external
    if not external:
        raise cur.expected("':=' or 'external'", ("external", "as"))
    return None, True


def _function(cur: Cursor, start: int, annotations: tuple[Annotation, ...] = ()) -> FunctionDecl:
    name = eqname(cur, "the name of a function")
    refuse_reserved_function(cur, name)
    parameters = prolog_parts.parameters(cur)
    result = types.type_declaration(cur)
    body = None if cur.take_word("external") else prolog_parts.enclosed(cur)
    return FunctionDecl(annotations, name, parameters, result, body, cur.span(start))


def _context(cur: Cursor, start: int) -> ContextItemDecl:
    cur.expect_word("item")
    declared = None
    if cur.take_word("as"):
        begin = cur.pos
        declared = TypeExpr(types.item_type(cur), "", cur.span(begin))
    value, external = _value(cur)
    return ContextItemDecl(declared, value, external, cur.span(start))


def _option(cur: Cursor, start: int) -> OptionDecl:
    name = eqname(cur, "the name of an option")
    return OptionDecl(name, string(cur).value, cur.span(start))


def _stream(cur: Cursor, start: int) -> StreamDecl:
    name = ncname(cur, "the name of a stream")
    cur.expect(":=")
    return StreamDecl(name, expressions.expr_single(cur), cur.span(start))


def _namespace(cur: Cursor, start: int) -> NamespaceDecl:
    prefix = ncname(cur, "a prefix")
    cur.expect("=")
    uri = uri_literal(cur)
    if prefix == "xml":  # even its own namespace: the prolog may not say it again
        raise cur.error("XQST0070", "the prefix 'xml' cannot be declared", cur.span(start))
    refuse_reserved(cur, prefix, uri, cur.span(start))
    return NamespaceDecl(prefix, uri, cur.span(start))


def _default(cur: Cursor, start: int) -> Declaration:
    word = cur.expect_word("element", "function", "collation", "order", "decimal-format")
    if word not in ("element", "function"):
        return settings.DEFAULTS[word](cur, start)
    cur.expect_word("namespace")
    uri = uri_literal(cur)
    refuse_reserved(cur, "", uri, cur.span(start))
    kind: Literal["element", "function"] = "element" if word == "element" else "function"
    return DefaultNamespaceDecl(kind, uri, cur.span(start))


_DECLARE: Final[dict[str, Callable[[Cursor, int], Declaration]]] = {
    **settings.SETTINGS,
    "default": _default,
    "namespace": _namespace,
    "variable": _variable,
    "function": _function,
    "context": _context,
    "option": _option,
    "stream": _stream,
}
