"""Names, literals and references."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from xstreamcast.model.xml_names import NAME_START, NCNAME, NOT_XML, QNAME
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    DecimalLiteral,
    DoubleLiteral,
    IntegerLiteral,
    Name,
    NumericLiteral,
    StringLiteral,
)

_BRACED: Final = re.compile(r"Q\{([^{}]*)\}")
_QUOTED: Final = {
    '"': re.compile(r'"((?:[^"]|"")*)"'),
    "'": re.compile(r"'((?:[^']|'')*)'"),
}
_NUMBER: Final = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_REFERENCE: Final = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#(\d+)|#x([0-9a-fA-F]+));|&", re.ASCII)
_ENTITIES: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_INTEGER_DIGITS: Final = 4000  # Python itself refuses to read integers of more than 4300 digits


def ncname(cur: Cursor, what: str = "a name") -> str:
    """A name without a prefix."""
    word = cur.word()
    if not word:
        raise cur.expected(what)
    cur.advance(len(word))
    return word


def eqname(cur: Cursor, what: str = "a name") -> Name:
    """`local`, `prefix:local` or `Q{uri}local`."""
    name = lexical_name(cur, what)
    cur.skip()
    return name


def lexical_name(cur: Cursor, what: str = "a name") -> Name:
    """A name, the cursor left directly behind it."""
    start = cur.pos
    if braced_uri_here(cur):
        uri = braced_uri(cur)
        found = NCNAME.match(cur.text, cur.pos)
        if not found:
            raise cur.expected("a name after the braced address")
        cur.pos = found.end()
        return Name(found.group(), uri=uri, span=(start, cur.pos))
    return qname(cur, what)


def qname(cur: Cursor, what: str = "a name") -> Name:
    """`local` or `prefix:local`, the cursor left directly behind it."""
    start = cur.pos
    found = QNAME.match(cur.text, start)
    if not found:
        raise cur.expected(what)
    cur.pos = found.end()
    prefix, local = found.groups()
    if local is None:
        return Name(prefix, span=(start, cur.pos))
    return Name(local, prefix, span=(start, cur.pos))


def braced_uri_here(cur: Cursor) -> bool:
    return cur.text.startswith("Q{", cur.pos)


def braced_uri(cur: Cursor) -> str:
    """`Q{uri}` with its spaces collapsed, the cursor left directly behind it."""
    found = _BRACED.match(cur.text, cur.pos)
    if not found:
        raise cur.error("XPST0003", "the braced address never ends", (cur.pos, cur.pos + 2))
    uri = " ".join(resolved(cur, found.group(1), found.start(1)).split())
    if uri == "http://www.w3.org/2000/xmlns/":
        raise cur.error("XQST0070", f"no name can be in {uri}", found.span())
    cur.pos = found.end()
    return uri


def variable(cur: Cursor) -> Name:
    """`$name`; spaces are allowed in between."""
    cur.expect("$")
    return eqname(cur, "the name of a variable")


def resolved(cur: Cursor, raw: str, offset: int) -> str:
    """Text with its references resolved: `&lt;`, `&#60;`, `&#x3c;`; `offset` is its position."""
    if "&" not in raw:
        return raw

    def replacement(found: re.Match[str]) -> str:
        span = offset + found.start(), offset + found.end()
        entity, decimal, hexadecimal = found.groups()
        if entity:
            return _ENTITIES[entity]
        if not decimal and not hexadecimal:
            hint = "write '&amp;' for the character itself"
            raise cur.error("XPST0003", "'&' must start a reference", span, hint)
        return _character(cur, int(decimal) if decimal else int(hexadecimal, 16), span)

    return _REFERENCE.sub(replacement, raw)


def _character(cur: Cursor, codepoint: int, span: tuple[int, int]) -> str:
    if codepoint > 0x10FFFF or NOT_XML.match(chr(codepoint)):
        raise cur.error("XQST0090", "the reference does not name an XML character", span)
    return chr(codepoint)


def string(cur: Cursor, what: str = "a string") -> StringLiteral:
    """`"…"` or `'…'`."""
    start = cur.pos
    quote = cur.text[start]
    if quote not in _QUOTED:
        raise cur.expected(what)
    found = _QUOTED[quote].match(cur.text, start)
    if not found:
        raise cur.error("XPST0003", "the string never ends", (start, start + 1))
    cur.pos = found.end()
    cur.skip()
    # the order matters: &quot;&quot; is two quotes, not a doubled one
    raw = found.group(1)
    if quote + quote in raw:
        value = quote.join(resolved(cur, part, found.start(1)) for part in raw.split(quote + quote))
    else:
        value = resolved(cur, raw, found.start(1))
    return StringLiteral(value, cur.span(start))


def uri_literal(cur: Cursor) -> str:
    """A string that is an address: its spaces are collapsed."""
    return " ".join(string(cur, "an address in quotes").value.split())


def number(cur: Cursor) -> NumericLiteral:
    """`1`, `1.5`, `1e3`; a letter must not follow at once."""
    start = cur.pos
    found = _NUMBER.match(cur.text, start)
    if not found:
        raise cur.expected("a number")
    cur.pos = found.end()
    if NAME_START.match(cur.text, cur.pos):
        message = "a number and a name must be separated by a space"
        raise cur.error("XPST0003", message, (start, cur.pos + 1))
    cur.skip()
    text, span = found.group(), cur.span(start)
    if found.group(3):
        return DoubleLiteral(float(text), span)
    if "." in text:
        return DecimalLiteral(Decimal(text), span)
    if len(text) > _INTEGER_DIGITS:
        raise cur.error("FOAR0002", f"an integer has at most {_INTEGER_DIGITS} digits", span)
    return IntegerLiteral(int(text), span)
