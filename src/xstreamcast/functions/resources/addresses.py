"""URIs: resolving a relative one."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
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


_PARTS: Final = re.compile(
    r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.S
)


def joined(base: str, uri: str) -> str:
    """A reference resolved against a base as in RFC 3986; nothing else is changed."""
    scheme, authority, path, query, fragment = _split(uri)
    if scheme is not None:
        return uri
    base_scheme, base_authority, base_path, base_query, _ = _split(base)
    if authority is None:
        authority = base_authority
        if path == "":
            path, query = base_path, base_query if query is None else query
        elif not path.startswith("/"):
            path = _merged(base_authority, base_path, path)
        if path:
            path = _without_dots(path)
    head = f"{base_scheme}:" if base_scheme is not None else ""
    head += f"//{authority}" if authority is not None else ""
    tail = "" if query is None else f"?{query}"
    return head + path + tail + ("" if fragment is None else f"#{fragment}")


def _split(uri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    found = _PARTS.fullmatch(uri)
    assert found is not None, "the pattern matches every string"
    return found[1], found[2], found[3], found[4], found[5]


def _merged(authority: str | None, base: str, path: str) -> str:
    if authority is not None and base == "":
        return "/" + path
    return base[: base.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    """The path with . and .. worked out."""
    made: list[str] = []
    parts = path.split("/")
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if part == "..":
            if len(made) > 1 or (made and made[0] != ""):
                made.pop()
            made += [""] if last else []
        elif part == ".":
            made += [""] if last else []
        else:
            made.append(part)
    return "/".join(made)


def resolved(uri: str, base: str | None) -> str:
    """The URI made absolute with the base, or unchanged if there is none."""
    return uri if base is None or is_absolute(uri) else joined(base, uri)


@function(
    "fn:resolve-uri($relative as xs:string?) as xs:anyURI?",
    doc="A URI made absolute with the static base URI.",
)
def resolve_uri(call: CallContext, relative: Column) -> Column:
    base = call.static.base_uri
    if base is None and len(relative.items):
        raise error("FONS0005")
    return maybe(ANY_URI, (_resolve(uri, base or "") for uri in one_or(relative)))


@function(
    "fn:resolve-uri($relative as xs:string?, $base as xs:string) as xs:anyURI?",
    doc="A URI made absolute with a base.",
)
def resolve_uri_with(call: CallContext, relative: Column, base: Column) -> Column:
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
    return joined(base, uri)
