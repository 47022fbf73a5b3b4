"""Documents by address: doc, doc-available, collection.

A query reads only what its caller allows: every address goes through the resolver of the call.
"""

from __future__ import annotations

from typing import Final

from xstreamcast.errors import Error, InputError, error
from xstreamcast.functions.addresses import is_valid, resolved
from xstreamcast.functions.call import Call
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or, truths
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column

_COLLECTION: Final = "there is no default collection"


@function("fn:doc($uri as xs:string?) as document-node()?")
def doc(call: Call, uri: Column) -> Column:
    """The document at an address that this query may read."""
    return maybe(NODE, (None if at is None else _document(call, at) for at in one_or(uri)))


@function("fn:doc-available($uri as xs:string?) as xs:boolean")
def doc_available(call: Call, uri: Column) -> Column:
    """Whether fn:doc would give a document."""
    return truths(_available(call, at) for at in one_or(uri))


def _available(call: Call, uri: str | None) -> bool:
    try:
        return uri is not None and _document(call, uri) >= 0
    except Error as caught:
        if caught.code in ("FODC0002", "FODC0005"):
            return False
        raise


def _document(call: Call, uri: str) -> int:
    if not is_valid(uri):
        raise error("FODC0005", f"{uri!r} is not a valid URI")
    if call.documents is None:
        raise error("FODC0002", f"{uri} is not among the documents this query may read")
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
@function("fn:uri-collection() as xs:anyURI*")
def default_collection(call: Call) -> Column:
    """FODC0002: there is no default collection."""
    if call.n == 0:
        return Column.empty(0)
    raise error("FODC0002", _COLLECTION)


@function("fn:collection($arg as xs:string?) as item()*")
@function("fn:uri-collection($arg as xs:string?) as xs:anyURI*")
def collection(call: Call, arg: Column) -> Column:
    """FODC0002 or FODC0004: there are no collections."""
    for uri in one_or(arg):
        if uri is None:
            raise error("FODC0002", _COLLECTION)
        if not is_valid(uri):
            raise error("FODC0004", f"{uri!r} is not a valid URI")
        raise error("FODC0002", f"there is no collection at {uri}")
    return Column.empty(0)
