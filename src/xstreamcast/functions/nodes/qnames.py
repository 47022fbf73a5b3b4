"""QNames: making them and taking them apart."""

from __future__ import annotations

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast.convert import XML_NAMESPACE, split_qname
from xstreamcast.functions.cast.facets import collapse
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import column_of, lists, maybe, one_or
from xstreamcast.model.atomic import ANY_URI, ATOMIC, QNAME, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.qname import QName

_NCNAME = ATOMIC["NCName"].tag


@function("fn:QName($paramURI as xs:string?, $paramQName as xs:string) as xs:QName")
def qname(call: CallContext, uri: Column, name: Column) -> Column:
    """The QName with this namespace and this name as written."""
    return column_of(QNAME, map(_made, one_or(uri, ""), one_or(name)))


def _made(uri: str, text: str) -> QName:
    parts = split_qname(text)
    if parts is None:
        raise error("FOCA0002", f'"{text}" is not a valid xs:QName')
    if parts[0] and not uri:
        raise error("FOCA0002", f"the name {text} has a prefix but no namespace")
    return QName(uri, parts[1], parts[0])


@function("fn:prefix-from-QName($arg as xs:QName?) as xs:NCName?")
def prefix_from_qname(call: CallContext, arg: Column) -> Column:
    """The prefix of the name, () if it has none."""
    return maybe(_NCNAME, [(name.prefix or None) if name else None for name in one_or(arg)])


@function("fn:local-name-from-QName($arg as xs:QName?) as xs:NCName?")
def local_name_from_qname(call: CallContext, arg: Column) -> Column:
    """The local part of the name."""
    return maybe(_NCNAME, [name.local if name else None for name in one_or(arg)])


@function("fn:namespace-uri-from-QName($arg as xs:QName?) as xs:anyURI?")
def namespace_uri_from_qname(call: CallContext, arg: Column) -> Column:
    """The namespace of the name, empty if it is in none."""
    return maybe(ANY_URI, [name.uri if name else None for name in one_or(arg)])


@function("fn:resolve-QName($qname as xs:string?, $element as element()) as xs:QName?")
def resolve_qname(call: CallContext, name: Column, element: Column) -> Column:
    """The name as written, its prefix bound as it is at the element."""
    handles = element.items.values.tolist()
    pairs = zip(one_or(name), handles, strict=True)
    return maybe(QNAME, [None if text is None else _at(call, text, at) for text, at in pairs])


def _at(call: CallContext, text: str, element: int) -> QName:
    parts = split_qname(collapse(text))
    if parts is None:
        raise error("FOCA0002", f'"{text}" is not a valid xs:QName')
    uri = _bindings(call, element).get(parts[0], "")
    if parts[0] and not uri:
        raise error("FONS0004", f"no namespace is bound to the prefix {parts[0]} at the element")
    return QName(uri, parts[1], parts[0])


@function("fn:namespace-uri-for-prefix($prefix as xs:string?, $element as element()) as xs:anyURI?")
def namespace_uri_for_prefix(call: CallContext, prefix: Column, element: Column) -> Column:
    """The namespace that the prefix (or none) is bound to at the element."""
    pairs = zip(one_or(prefix, ""), element.items.values.tolist(), strict=True)
    return maybe(ANY_URI, [_bindings(call, at).get(name) or None for name, at in pairs])


@function("fn:in-scope-prefixes($element as element()) as xs:string*")
def in_scope_prefixes(call: CallContext, element: Column) -> Column:
    """The prefixes bound at the element, "" for a default namespace, xml always."""
    return lists(STRING, [_prefixes(call, at) for at in element.items.values.tolist()])


def _prefixes(call: CallContext, element: int) -> list[str]:
    return [prefix for prefix, uri in _bindings(call, element).items() if uri]


def _bindings(call: CallContext, element: int) -> dict[str, str]:
    return {**call.store.in_scope_namespaces(element), "xml": XML_NAMESPACE}
