"""Direct constructors and string constructors: here every character counts."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.model.xml_names import NCNAME
from xstreamcast.syntax.grammar import attributes, expressions
from xstreamcast.syntax.grammar.names import qname, resolved
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    DirectComment,
    DirectElement,
    DirectPI,
    Expr,
    Name,
    Sequence,
    StringConstructor,
    Text,
)

_CHARACTERS: Final = re.compile(r"[^<>{}&\0]+|>")
_REFERENCE: Final = re.compile(r"&[^;<>{}&\"'\s]*;?")
_END_TAG: Final = re.compile(r"[ \t\r\n]*>")


def constructor(cur: Cursor) -> Expr:
    """`<a/>`, `<!--c-->` or `<?p i?>` where an expression is allowed."""
    time, cur.time = cur.time, False
    found = _markup(cur)
    cur.time = time
    cur.skip()
    return found


def _markup(cur: Cursor) -> Expr:
    """A constructor, the cursor left directly behind it."""
    if cur.at("<!--"):
        return _comment(cur)
    if cur.at("<?"):
        return _pi(cur)
    if not NCNAME.match(cur.text, cur.pos + 1):
        span = cur.pos, cur.pos + 1
        raise cur.error("XPST0003", "expected an expression; got '<'", span)
    cur.deeper()
    found = _element(cur)
    cur.depth -= 1
    return found


def _comment(cur: Cursor) -> DirectComment:
    start = cur.pos
    end = cur.text.find("--", start + 4)
    if end < 0:
        raise cur.error("XPST0003", "the comment never ends", (start, start + 4))
    if cur.text[end + 2] != ">":
        raise cur.error("XPST0003", "a comment must not contain '--'", (end, end + 2))
    cur.pos = end + 3
    return DirectComment(cur.text[start + 4 : end], (start, cur.pos))


def _pi(cur: Cursor) -> DirectPI:
    start = cur.pos
    target = NCNAME.match(cur.text, start + 2)
    end = cur.text.find("?>", start + 2)
    if not target or end < 0:
        raise cur.error("XPST0003", "expected '<?name …?>'", (start, start + 2))
    if target.group().lower() == "xml":
        message = "a processing instruction cannot be named xml"
        raise cur.error("XPST0003", message, target.span())
    value = cur.text[target.end() : end]
    if value and not value[0].isspace():
        span = target.end(), target.end() + 1
        raise cur.error("XPST0003", "expected a space after the name", span)
    cur.pos = end + 2
    return DirectPI(target.group(), value.lstrip(" \t\r\n"), (start, cur.pos))


def _element(cur: Cursor) -> DirectElement:
    start = cur.pos
    cur.pos += 1
    name = qname(cur)
    namespaces, found = attributes.attributes(cur)
    content: tuple[Text | Expr, ...] = ()
    if cur.at("/>"):
        cur.pos += 2
    elif cur.at(">"):
        cur.pos += 1
        content = _content(cur, name)
        _end_tag(cur, name)
    else:
        raise cur.expected("an attribute, '>' or '/>'")
    return DirectElement(name, namespaces, found, content, (start, cur.pos))


def _end_tag(cur: Cursor, name: Name) -> None:
    start = cur.pos
    cur.pos += 2
    closing = qname(cur)
    found = _END_TAG.match(cur.text, cur.pos)
    if not found:
        raise cur.expected("'>'")
    cur.pos = found.end()
    if closing != name:
        message = f"the end tag must be </{name}>; got </{closing}>"
        raise cur.error("XQST0118", message, (start, cur.pos), f"<{name}> is still open")


class _Run:
    """A run of characters; pure literal space is boundary space, which the prolog may strip."""

    __slots__ = ("literal", "pieces", "start")

    def __init__(self, start: int) -> None:
        self.start, self.pieces, self.literal = start, list[str](), True

    def add(self, piece: str, literal: bool) -> None:
        self.pieces.append(piece)
        self.literal = self.literal and literal

    def text(self, end: int, preserve: bool) -> list[Text]:
        value = "".join(self.pieces)
        boundary = self.literal and not preserve and not value.strip(" \t\r\n")
        return [] if boundary or not value else [Text(value, (self.start, end))]


def _content(cur: Cursor, name: Name) -> tuple[Text | Expr, ...]:
    """Everything up to the end tag."""
    content: list[Text | Expr] = []
    run = _Run(cur.pos)
    while not cur.at("</"):
        if _characters(cur, run):
            continue
        content += run.text(cur.pos, cur.preserve)
        if cur.at("<"):
            content.append(_markup(cur))
        elif cur.at("{"):
            content.append(_copied(enclosed(cur)))
        else:
            raise _unfinished(cur, name)
        run = _Run(cur.pos)
    content += run.text(cur.pos, cur.preserve)
    return tuple(content)


def _copied(found: Expr) -> Expr:
    """Marks a constructor in braces: its result is copied, unlike that of one outside."""
    if isinstance(found, DirectElement | DirectComment | DirectPI):
        return Sequence((found,), found.span)
    return found


def _characters(cur: Cursor, run: _Run) -> bool:
    """Take characters, a reference, a doubled brace or a CDATA section, if one is here."""
    if found := _CHARACTERS.match(cur.text, cur.pos):
        run.add(found.group(), literal=True)
        cur.pos = found.end()
    elif reference := _REFERENCE.match(cur.text, cur.pos):
        run.add(resolved(cur, reference.group(), cur.pos), literal=False)
        cur.pos = reference.end()
    elif cur.text.startswith(("{{", "}}"), cur.pos):
        run.add(cur.text[cur.pos], literal=False)
        cur.pos += 2
    elif cur.at("<![CDATA["):
        run.add(_cdata(cur), literal=False)
    else:
        return False
    return True


def _cdata(cur: Cursor) -> str:
    start = cur.pos + len("<![CDATA[")
    end = cur.text.find("]]>", start)
    if end < 0:
        raise cur.error("XPST0003", "the CDATA section never ends", (cur.pos, start))
    cur.pos = end + 3
    return cur.text[start:end]


def _unfinished(cur: Cursor, name: Name) -> Exception:
    if cur.at("}"):
        hint = "write '}}' for the character itself"
        return cur.error("XPST0003", "'}' closes nothing here", (cur.pos, cur.pos + 1), hint)
    return cur.error("XPST0003", f"<{name}> is never closed", name.span)


def enclosed(cur: Cursor) -> Expr:
    """`{ e }` inside markup, the cursor left directly behind it."""
    start = cur.pos
    cur.pos += 1
    cur.skip()
    found: Expr = Sequence(span=(start, cur.pos + 1))
    if not cur.at("}"):
        found = expressions.expr(cur)
    if not cur.at("}"):
        raise cur.expected("'}'")
    cur.pos += 1
    return found


_RAW: Final = re.compile(r"[^`\]\0]+|`(?!\{)|\](?!``)")


def string_constructor(cur: Cursor) -> StringConstructor:
    """A string in double backquotes and brackets, with expressions between `{ and }`."""
    start = cur.pos
    if not cur.at("``["):
        raise cur.expected("an expression")
    cur.pos += 3
    time, cur.time = cur.time, False
    parts: list[Text | Expr] = []
    while not cur.at("]``"):
        parts.append(_interpolation(cur) if cur.at("`{") else _raw(cur, start))
    cur.time = time
    cur.pos += 3
    cur.skip()
    return StringConstructor(tuple(parts), cur.span(start))


def _raw(cur: Cursor, start: int) -> Text:
    begin = cur.pos
    while found := _RAW.match(cur.text, cur.pos):
        cur.pos = found.end()
    if cur.pos == begin:
        message = "the string constructor never ends"
        raise cur.error("XPST0003", message, (start, start + 3))
    return Text(cur.text[begin : cur.pos], (begin, cur.pos))


def _interpolation(cur: Cursor) -> Expr:
    cur.pos += 1
    found = enclosed(cur)
    if not cur.at("`"):
        raise cur.expected("'`' after '}'")
    cur.pos += 1
    return found
