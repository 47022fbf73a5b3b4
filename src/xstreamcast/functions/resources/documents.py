"""Documents by address: doc, doc-available, collection, uri-collection.

A query reads only what its caller allows: every address goes through the resolver of the call.
"""

from __future__ import annotations

from typing import Final

from xstreamcast.errors import Error, InputError, error, not_given
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.resources.addresses import is_valid, resolved
from xstreamcast.functions.rows import lists, maybe, one_or, truths
from xstreamcast.model.atomic import ANY_URI, NODE
from xstreamcast.model.column import Column, stack
from xstreamcast.model.items import Items

_COLLECTION: Final = "there is no such collection for this query"
_NONE: Final = Column.empty(0)


@function("fn:doc($uri as xs:string?) as document-node()?")
def doc(call: CallContext, uri: Column) -> Column:
    """The document at an address that this query may read."""
    return maybe(NODE, (None if at is None else _document(call, at) for at in one_or(uri)))


@function("fn:doc-available($uri as xs:string?) as xs:boolean")
def doc_available(call: CallContext, uri: Column) -> Column:
    """Whether fn:doc would return a document."""
    return truths(_available(call, at) for at in one_or(uri))


def _available(call: CallContext, uri: str | None) -> bool:
    try:
        return uri is not None and _document(call, uri) >= 0
    except Error as caught:
        if caught.code in ("FODC0002", "FODC0005"):
            return False
        raise


def _document(call: CallContext, uri: str) -> int:
    if not is_valid(uri):
        raise error("FODC0005", f"{uri!r} is not a valid URI")
    if call.documents is None:
        raise not_given("FODC0002", f"{uri} is not among the documents this query may read")
    try:
        return call.documents(uri)
    except InputError as caught:
        raise error("FODC0002", f"{uri} cannot be read: {caught.message}") from caught
    except Error as caught:
        # The caller may know a document by the address as written or by the absolute one.
        absolute = resolved(uri, call.static.base_uri)
        if caught.code != "FODC0002" or absolute == uri:
            raise
    return call.documents(absolute)


# -- collections -----------------------------------------------------------------------------


@function("fn:collection() as item()*")
def default_collection(call: CallContext) -> Column:
    """The items of the default collection."""
    if call.n == 0:
        return Column.empty(0)
    return Column.constant(_collection(call, None), call.n)


@function("fn:collection($arg as xs:string?) as item()*")
def collection(call: CallContext, arg: Column) -> Column:
    """The items of a collection that this query may read."""
    return stack([Column.constant(_collection(call, uri), 1) for uri in one_or(arg)] or [_NONE])


def _collection(call: CallContext, uri: str | None) -> Items:
    address = _address(call, uri)
    if call.collections is None:
        raise error("FODC0002", _COLLECTION)
    return call.collections(address)


def _address(call: CallContext, uri: str | None) -> str | None:
    if uri is None:
        return None
    if not is_valid(uri):
        raise error("FODC0004", f"{uri!r} is not a valid URI")
    return resolved(uri, call.static.base_uri)


@function("fn:uri-collection() as xs:anyURI*")
def default_uri_collection(call: CallContext) -> Column:
    """The addresses of the default collection."""
    return lists(ANY_URI, [_addresses(call, None)] * call.n)


@function("fn:uri-collection($arg as xs:string?) as xs:anyURI*")
def uri_collection(call: CallContext, arg: Column) -> Column:
    """The addresses of a collection."""
    return lists(ANY_URI, [_addresses(call, uri) for uri in one_or(arg)])


def _addresses(call: CallContext, uri: str | None) -> list[str]:
    address = _address(call, uri)
    if call.addresses is None:
        raise error("FODC0002", _COLLECTION)
    return list(call.addresses(address))
