"""Addresses of nodes: base-uri, document-uri, static-base-uri."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.nodes.names import context_node
from xstreamcast.functions.registry import function
from xstreamcast.functions.resources.addresses import is_absolute, resolved
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.model.atomic import ANY_URI
from xstreamcast.model.column import Column
from xstreamcast.tape.layout import DOCUMENT, ELEMENT
from xstreamcast.tape.names import XML_URI
from xstreamcast.tape.steps.axes import NodeTest

_BASE: Final = NodeTest.attribute("base", XML_URI)


@function("fn:static-base-uri() as xs:anyURI?")
def static_base_uri(call: CallContext) -> Column:
    """The address against which the query resolves others, () if it has none."""
    return maybe(ANY_URI, [call.static.base_uri] * call.n)


@function("fn:document-uri($arg as node()?) as xs:anyURI?")
def document_uri(call: CallContext, arg: Column) -> Column:
    """The address of a document that was read from one, () for every other node."""
    return maybe(ANY_URI, (None if h is None else _document_uri(call, h) for h in one_or(arg)))


@function("fn:document-uri() as xs:anyURI?", focus=True)
def document_uri_of_context(call: CallContext) -> Column:
    """The address of the context node, if it is a document."""
    return document_uri(call, context_node(call))


def _document_uri(call: CallContext, handle: int) -> str | None:
    return _source(call, handle) if _kind(call, handle) == DOCUMENT else None


def _source(call: CallContext, handle: int) -> str | None:
    """What the tape was read from, as an address; None for one that was built."""
    source = call.store.tape(handle >> 32).source
    if source is None or is_absolute(source):
        return source  # type: ignore[no-any-return]
    return Path(source).resolve().as_uri()


def _kind(call: CallContext, handle: int) -> int:
    return int(call.store.kinds(np.array([handle], np.int64))[0])


@function("fn:base-uri($arg as node()?) as xs:anyURI?")
def base_uri(call: CallContext, arg: Column) -> Column:
    """The address against which those in the node are resolved: xml:base, else the document's."""
    return maybe(ANY_URI, (None if h is None else _base_uri(call, h) for h in one_or(arg)))


@function("fn:base-uri() as xs:anyURI?", focus=True)
def base_uri_of_context(call: CallContext) -> Column:
    """The base address of the context node."""
    return base_uri(call, context_node(call))


def _base_uri(call: CallContext, handle: int) -> str | None:
    node = np.array([handle], np.int64)
    root = int(call.store.roots(node)[0])
    if root == handle and _kind(call, handle) not in (DOCUMENT, ELEMENT):
        return None
    _, above = call.store.step(node, "ancestor-or-self", NodeTest.element())
    _, bases = call.store.step(above, "attribute", _BASE)
    base = _source(call, root) or call.static.base_uri
    for written in call.store.strings(bases).tolist():
        base = resolved(written, base)
    return base
