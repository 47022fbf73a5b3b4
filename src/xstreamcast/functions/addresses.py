"""URIs: resolving a relative one."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin

from xstreamcast.errors import error
from xstreamcast.functions.call import Call
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.model.atomic import ANY_URI
from xstreamcast.model.column import Column

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def is_absolute(uri: str) -> bool:
    """Whether the URI has a scheme."""
    return _SCHEME.match(uri) is not None


def is_valid(uri: str) -> bool:
    """Whether the string can be a URI reference at all; what is lenient elsewhere is so here."""
    return not (uri.startswith((":", "##")) or _ESCAPE.search(uri) or uri.count("#") > 1)


def resolved(uri: str, base: str | None) -> str:
    """The URI made absolute with the base, or as it stands where there is none."""
    return uri if base is None or is_absolute(uri) else urljoin(base, uri)


@function(
    "fn:resolve-uri($relative as xs:string?) as xs:anyURI?",
    doc="A URI made absolute with the static base URI.",
)
def resolve_uri(call: Call, relative: Column) -> Column:
    base = call.static.base_uri
    if base is None and len(relative.items):
        raise error("FONS0005")
    return maybe(ANY_URI, (_resolve(uri, base or "") for uri in one_or(relative)))


@function(
    "fn:resolve-uri($relative as xs:string?, $base as xs:string) as xs:anyURI?",
    doc="A URI made absolute with a base.",
)
def resolve_uri_with(call: Call, relative: Column, base: Column) -> Column:
    both = zip(one_or(relative), one_or(base), strict=True)
    return maybe(ANY_URI, (_resolve(uri, base) for uri, base in both))


def _resolve(uri: str | None, base: str) -> str | None:
    if uri is None:
        return None
    if not is_valid(uri):
        raise error("FORG0002", f"{uri!r} is not a valid URI")
    if is_absolute(uri):
        return uri
    if not is_valid(base) or not is_absolute(base) or "#" in base:
        raise error("FORG0002", f"the base must be an absolute URI; got {base!r}")
    return urljoin(base, uri)
