"""Attributes and namespace declarations of direct elements."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.syntax.grammar import direct
from xstreamcast.syntax.grammar.names import qname, resolved
from xstreamcast.syntax.lexing import SPACE, Cursor
from xstreamcast.syntax.tree import DirectAttribute, Expr, Name, NamespaceAttribute, Text

Parts = tuple[Text | Expr, ...]

_CHARACTERS: Final = {
    '"': re.compile(r'[^"<{}&\0]+'),
    "'": re.compile(r"[^'<{}&\0]+"),
}
_REFERENCE: Final = re.compile(r"&[^;<>{}&\"'\s]*;?")
_SPACES: Final = str.maketrans("\t\r\n", "   ")
XML_URI: Final = "http://www.w3.org/XML/1998/namespace"
XMLNS_URI: Final = "http://www.w3.org/2000/xmlns/"


def attributes(
    cur: Cursor,
) -> tuple[tuple[NamespaceAttribute, ...], tuple[DirectAttribute, ...]]:
    """All up to `>` or `/>`; names must differ, as written."""
    namespaces: list[NamespaceAttribute] = []
    found: list[DirectAttribute] = []
    while True:
        spaced = SPACE.match(cur.text, cur.pos).end()  # type: ignore[union-attr]
        separated, cur.pos = spaced > cur.pos, spaced
        if not separated or not cur.word():
            return tuple(namespaces), tuple(found)
        start = cur.pos
        name = qname(cur)
        parts = _value(cur)
        span = start, cur.pos
        if name.prefix == "xmlns" or (name.local == "xmlns" and not name.prefix):
            namespaces.append(_namespace(cur, name, parts, namespaces, span))
        else:
            _refuse_repeated(cur, name, found)
            found.append(DirectAttribute(name, parts, span))


def _refuse_repeated(cur: Cursor, name: Name, before: list[DirectAttribute]) -> None:
    if any(a.name == name for a in before):
        raise cur.error("XQST0040", f"the attribute {name} is given twice", name.span)


def _value(cur: Cursor) -> Parts:
    """`= "…"`, the cursor left directly behind it."""
    _pass_space(cur)
    if not cur.at("="):
        raise cur.expected("'='")
    cur.pos += 1
    _pass_space(cur)
    quote = cur.text[cur.pos]
    if quote not in _CHARACTERS:
        raise cur.expected("a value in quotes")
    start = cur.pos
    cur.pos += 1
    return _parts(cur, quote, start)


def _pass_space(cur: Cursor) -> None:
    cur.pos = SPACE.match(cur.text, cur.pos).end()  # type: ignore[union-attr]


def _parts(cur: Cursor, quote: str, start: int) -> Parts:
    parts: list[Text | Expr] = []
    pieces: list[str] = []
    begin = cur.pos

    def finish_text() -> None:
        if pieces:
            parts.append(Text("".join(pieces), (begin, cur.pos)))
            pieces.clear()

    while (piece := _piece(cur, quote)) is not None:
        if piece:
            pieces.append(piece)
            continue
        finish_text()
        if cur.at(quote):
            cur.pos += 1
            return tuple(parts)
        parts.append(direct.enclosed(cur))
        begin = cur.pos
    raise _unfinished(cur, start)


def _piece(cur: Cursor, quote: str) -> str | None:
    """Some characters; the empty string before an end or an expression; None if neither is here."""
    if found := _CHARACTERS[quote].match(cur.text, cur.pos):
        cur.pos = found.end()
        return found.group().translate(_SPACES)
    if reference := _REFERENCE.match(cur.text, cur.pos):
        piece = resolved(cur, reference.group(), cur.pos)
        cur.pos = reference.end()
        return piece
    if cur.text.startswith(("{{", "}}", quote + quote), cur.pos):
        cur.pos += 2
        return cur.text[cur.pos - 1]
    return "" if cur.text[cur.pos] in ("{", quote) else None


def _unfinished(cur: Cursor, start: int) -> Exception:
    if cur.text[cur.pos] in "<}":
        shown = cur.text[cur.pos]
        hint = "write '&lt;'" if shown == "<" else "write '}}'"
        message = f"'{shown}' cannot be used in an attribute"
        return cur.error("XPST0003", message, (cur.pos, cur.pos + 1), hint)
    return cur.error("XPST0003", "the attribute value never ends", (start, start + 1))


def _namespace(
    cur: Cursor,
    name: Name,
    parts: Parts,
    before: list[NamespaceAttribute],
    span: tuple[int, int],
) -> NamespaceAttribute:
    prefix = name.local if name.prefix else ""
    if any(not isinstance(p, Text) for p in parts):
        raise cur.error("XQST0022", "a namespace declaration cannot hold an expression", span)
    uri = " ".join("".join(p.value for p in parts if isinstance(p, Text)).split())
    refuse_reserved(cur, prefix, uri, span)
    if prefix and not uri:
        raise cur.error("XQST0085", f"the prefix {prefix} cannot be undeclared", span)
    if any(n.prefix == prefix for n in before):
        what = f"the prefix {prefix}" if prefix else "the default namespace"
        raise cur.error("XQST0071", f"{what} is declared twice", span)
    return NamespaceAttribute(prefix, uri, span)


def refuse_reserved(cur: Cursor, prefix: str, uri: str, span: tuple[int, int]) -> None:
    """`xml` is bound to its namespace and no other prefix is; `xmlns` is never declared."""
    if prefix == "xmlns" or uri == XMLNS_URI or (prefix == "xml") != (uri == XML_URI):
        message = f"the prefix '{prefix}' cannot be bound to '{uri}'"
        raise cur.error("XQST0070", message, span)
