"""Names of nodes: name, local-name, namespace-uri, node-name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import column_of, maybe
from xstreamcast.model.atomic import ANY_URI, NODE, QNAME, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.qname import QName
from xstreamcast.tape.layout import NAMESPACE

Named = Callable[[str, str, str], Any]


def context_node(call: CallContext) -> Column:
    """The context item, which must be a node: XPDY0002, XPTY0004."""
    item = call.context_item()
    if len(item.items) and item.items.kinds() != {NODE}:
        raise error("XPTY0004", "the context item must be a node; got another item")
    return item


def of_names(call: CallContext, nodes: Column, made: Named, nothing: Any) -> list[Any]:
    """made(prefix, local, uri) of the name of each row's node; `nothing` where it has none."""
    handles = nodes.items.values.astype(np.int64)
    ids, kinds = call.store.name_ids(handles), call.store.kinds(handles)
    # A binding is kept as the name {uri}prefix; as a node its name is the prefix, in no namespace.
    keys, where = np.unique(np.where(kinds == NAMESPACE, -2 - ids, ids), return_inverse=True)
    values = [_of_key(call, int(key), made, nothing) for key in keys]
    found = iter([values[i] for i in where.tolist()])
    return [next(found) if length else nothing for length in nodes.lengths().tolist()]


def _of_key(call: CallContext, key: int, made: Named, nothing: Any) -> Any:
    if key == -1:
        return nothing
    if key >= 0:
        return made(*call.store.names.qname(key))
    _, prefix, _ = call.store.names.qname(-2 - key)
    return made("", prefix, "") if prefix else nothing


def _lexical(prefix: str, local: str, uri: str) -> str:
    return f"{prefix}:{local}" if prefix else local


@function("fn:name($arg as node()?) as xs:string")
def name(call: CallContext, arg: Column) -> Column:
    """The name of a node as it is written, "" if it has none."""
    return column_of(STRING, of_names(call, arg, _lexical, ""))


@function("fn:name() as xs:string", focus=True)
def name_of_context(call: CallContext) -> Column:
    """The name of the context node as it is written."""
    return name(call, context_node(call))


@function("fn:local-name($arg as node()?) as xs:string")
def local_name(call: CallContext, arg: Column) -> Column:
    """The local part of a node's name, "" if it has none."""
    return column_of(STRING, of_names(call, arg, lambda prefix, local, uri: local, ""))


@function("fn:local-name() as xs:string", focus=True)
def local_name_of_context(call: CallContext) -> Column:
    """The local part of the context node's name."""
    return local_name(call, context_node(call))


@function("fn:namespace-uri($arg as node()?) as xs:anyURI")
def namespace_uri(call: CallContext, arg: Column) -> Column:
    """The namespace of a node's name, "" if it is in none."""
    return column_of(ANY_URI, of_names(call, arg, lambda prefix, local, uri: uri, ""))


@function("fn:namespace-uri() as xs:anyURI", focus=True)
def namespace_uri_of_context(call: CallContext) -> Column:
    """The namespace of the context node's name."""
    return namespace_uri(call, context_node(call))


@function("fn:node-name($arg as node()?) as xs:QName?")
def node_name(call: CallContext, arg: Column) -> Column:
    """The name of a node as a QName, () if it has none."""
    return maybe(QNAME, of_names(call, arg, lambda p, local, uri: QName(uri, local, p), None))


@function("fn:node-name() as xs:QName?", focus=True)
def node_name_of_context(call: CallContext) -> Column:
    """The name of the context node as a QName."""
    return node_name(call, context_node(call))
