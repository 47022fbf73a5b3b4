"""Constructors of nodes, direct and computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.literals import string
from xstreamcast.algebra.lowering.namespaces import XML, XMLNS, collapsed
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.functions import registry
from xstreamcast.functions.signature import FN
from xstreamcast.syntax import tree as t


def direct_element(expr: t.DirectElement, scope: Scope) -> p.MakeElement:
    """An element as written; namespaces it declares hold for its own names and all inside it."""
    declared = dict(_declared(expr.namespaces, scope))
    inner = scope.with_namespaces(declared) if declared else scope
    name = _element_name(expr.name, inner)
    attributes = tuple(_attribute(one, inner) for one in expr.attributes)
    _all_different(expr.attributes, attributes, scope)
    content = tuple(_content(part, inner) for part in expr.content)
    return p.MakeElement(name, _kept(inner), attributes, content, scope.shared.copy, span=expr.span)


def _declared(
    attributes: tuple[t.NamespaceAttribute, ...], scope: Scope
) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for one in attributes:
        uri = collapsed(one.uri)
        if one.prefix in seen:
            named = f"the prefix {one.prefix}" if one.prefix else "the default namespace"
            raise scope.fail("XQST0071", f"{named} is declared twice", one.span)
        seen.add(one.prefix)
        _allowed(one, uri, scope)
        yield one.prefix, uri


def _allowed(one: t.NamespaceAttribute, uri: str, scope: Scope) -> None:
    check_binding(one.prefix, uri, one.span, scope)
    if one.prefix and not uri:
        raise scope.fail("XQST0085", f"the prefix {one.prefix} cannot be undeclared", one.span)


def check_binding(prefix: str, uri: str, span: tuple[int, int], scope: Scope) -> None:
    """xml belongs to its namespace and the other way round; xmlns to none (XQST0070)."""
    if prefix == "xmlns" or uri == XMLNS:
        raise scope.fail("XQST0070", "the prefix xmlns and its namespace cannot be bound", span)
    if (prefix == "xml") != (uri == XML):
        sentence = "the prefix xml and its namespace belong to each other"
        raise scope.fail("XQST0070", sentence, span)


def _kept(scope: Scope) -> p.Namespaces:
    """The bindings that enclosing direct constructors give an element."""
    pairs = (scope.constructed or {}).items()
    return tuple(sorted((prefix, uri) for prefix, uri in pairs if uri and prefix != "xml"))


def _element_name(name: t.Name, scope: Scope) -> p.StaticName:
    uri, local = scope.expand_element(name)
    return p.StaticName(name.prefix, local, uri)


def _attribute_name(name: t.Name, scope: Scope) -> p.StaticName:
    uri, local = scope.expand_variable(name)
    return p.StaticName(name.prefix, local, uri)


def _attribute(one: t.DirectAttribute, scope: Scope) -> p.MakeAttribute:
    name = _attribute_name(one.name, scope)
    return p.MakeAttribute(name, tuple(_part(x, scope) for x in one.parts), span=one.span)


def _all_different(
    written: tuple[t.DirectAttribute, ...], attributes: tuple[p.MakeAttribute, ...], scope: Scope
) -> None:
    seen: set[tuple[str, str]] = set()
    for source, made in zip(written, attributes, strict=True):
        assert isinstance(made.name, p.StaticName)
        expanded = (made.name.uri, made.name.local)
        if expanded in seen:
            sentence = f"two attributes are named {source.name}"
            raise scope.fail("XQST0040", sentence, source.span)
        seen.add(expanded)


def _content(part: t.Text | t.Expr, scope: Scope) -> p.Expression:
    """A part of a direct constructor's content: an element in it is its own, in braces a copy."""
    match part:
        case t.Sequence((single,)):
            return scope.lower(single)
        case t.DirectElement():
            made = direct_element(part, scope)
            return replace(made, nested=True)
        case _:
            return _part(part, scope)


def _part(part: t.Text | t.Expr, scope: Scope) -> p.Expression:
    return string(part.value, part.span) if isinstance(part, t.Text) else scope.lower(part)


def direct_comment(expr: t.DirectComment, scope: Scope) -> p.Expression:
    return p.MakeComment(string(expr.value, expr.span), span=expr.span)


def direct_pi(expr: t.DirectPI, scope: Scope) -> p.Expression:
    return p.MakePi(expr.target, string(expr.value, expr.span), span=expr.span)


def computed_element(expr: t.ComputedElement, scope: Scope) -> p.Expression:
    name: p.NodeName
    if isinstance(expr.name, t.Name):
        name = _element_name(expr.name, scope)
    else:
        name = p.ComputedName(scope.lower(expr.name), scope.namespaces())
    content = (scope.lower(expr.content),)
    return p.MakeElement(name, _kept(scope), (), content, scope.shared.copy, span=expr.span)


def computed_attribute(expr: t.ComputedAttribute, scope: Scope) -> p.Expression:
    name: p.NodeName
    if isinstance(expr.name, t.Name):
        name = _attribute_name(expr.name, scope)
    else:
        name = p.ComputedName(scope.lower(expr.name), scope.namespaces(with_default=False))
    return p.MakeAttribute(name, (scope.lower(expr.content),), span=expr.span)


def computed_document(expr: t.ComputedDocument, scope: Scope) -> p.Expression:
    return p.MakeDocument(scope.lower(expr.content), scope.shared.copy, span=expr.span)


def computed_text(expr: t.ComputedText, scope: Scope) -> p.Expression:
    return p.MakeText(scope.lower(expr.content), span=expr.span)


def computed_comment(expr: t.ComputedComment, scope: Scope) -> p.Expression:
    return p.MakeComment(scope.lower(expr.content), span=expr.span)


def computed_pi(expr: t.ComputedPI, scope: Scope) -> p.Expression:
    target = expr.target if isinstance(expr.target, str) else scope.lower(expr.target)
    return p.MakePi(target, scope.lower(expr.content), span=expr.span)


def computed_namespace(expr: t.ComputedNamespace, scope: Scope) -> p.Expression:
    prefix = expr.prefix if isinstance(expr.prefix, str) else scope.lower(expr.prefix)
    return p.MakeNamespace(prefix, scope.lower(expr.uri), span=expr.span)


def string_constructor(expr: t.StringConstructor, scope: Scope) -> p.Expression:
    """Texts and interpolations end to end, each interpolation joined by single spaces."""
    join = registry.lookup(FN, "string-join", 2)
    assert join is not None
    parts = tuple(
        string(part.value, part.span)
        if isinstance(part, t.Text)
        else p.Call(join, (scope.lower(part), string(" ", part.span)), span=part.span)
        for part in expr.parts
    )
    return p.StringConcat((string("", expr.span), *parts), span=expr.span)
