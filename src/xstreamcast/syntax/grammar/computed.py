"""Computed constructors, inline functions and other expressions that start with `word {`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xstreamcast.model.xml_names import NCNAME, QNAME
from xstreamcast.syntax.grammar import calls, expressions, maps
from xstreamcast.syntax.grammar.names import eqname, ncname
from xstreamcast.syntax.grammar.prolog_parts import enclosed
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    ComputedAttribute,
    ComputedComment,
    ComputedDocument,
    ComputedElement,
    ComputedNamespace,
    ComputedPI,
    ComputedText,
    Expr,
    Name,
    Ordering,
)


def constructor(cur: Cursor) -> Expr | None:
    """The expression that the word at the cursor introduces, if it does."""
    build = _WORDS.get(cur.word())
    return build(cur) if build else None


def _named_or_braced(cur: Cursor, prefixed: bool) -> bool:
    """Does `{`, or a name and `{`, follow the word?"""
    after = cur.after_word()
    if prefixed and cur.text.startswith("Q{", after):
        after = cur.text.find("}", after) + 1
    name = (QNAME if prefixed else NCNAME).match(cur.text, after)
    return cur.text[cur.skip_from(name.end()) if name else after] == "{"


def _name(cur: Cursor) -> Name | Expr:
    return _braced(cur) if cur.at("{") else eqname(cur)


def _braced(cur: Cursor) -> Expr:
    """`{ e }`, not empty."""
    cur.expect("{")
    found = expressions.expr(cur)
    cur.expect("}")
    return found


def _element(cur: Cursor) -> Expr | None:
    if not _named_or_braced(cur, prefixed=True):
        return None
    start = cur.pos
    cur.take_word("element")
    name = _name(cur)
    return ComputedElement(name, enclosed(cur), cur.span(start))


def _attribute(cur: Cursor) -> Expr | None:
    if not _named_or_braced(cur, prefixed=True):
        return None
    start = cur.pos
    cur.take_word("attribute")
    name = _name(cur)
    return ComputedAttribute(name, enclosed(cur), cur.span(start))


def _pi(cur: Cursor) -> Expr | None:
    if not _named_or_braced(cur, prefixed=False):
        return None
    start = cur.pos
    cur.take_word("processing-instruction")
    target = _braced(cur) if cur.at("{") else ncname(cur)
    return ComputedPI(target, enclosed(cur), cur.span(start))


def _namespace(cur: Cursor) -> Expr | None:
    if not _named_or_braced(cur, prefixed=False):
        return None
    start = cur.pos
    cur.take_word("namespace")
    prefix = _braced(cur) if cur.at("{") else ncname(cur)
    return ComputedNamespace(prefix, enclosed(cur), cur.span(start))


def _nameless(
    make: Callable[[Expr, tuple[int, int]], Expr],
) -> Callable[[Cursor], Expr | None]:
    def build(cur: Cursor) -> Expr | None:
        if not cur.word_then("{"):
            return None
        start = cur.pos
        cur.advance(len(cur.word()))
        return make(enclosed(cur), cur.span(start))

    return build


def _ordering(cur: Cursor) -> Expr | None:
    if not cur.word_then("{"):
        return None
    start, ordered = cur.pos, cur.word() == "ordered"
    cur.advance(len(cur.word()))
    return Ordering(ordered, enclosed(cur), cur.span(start))


def _function(cur: Cursor) -> Expr | None:
    if not cur.word_then("("):
        return None
    return calls.inline_function(cur, (), cur.pos)


_WORDS: Final[dict[str, Callable[[Cursor], Expr | None]]] = {
    "element": _element,
    "attribute": _attribute,
    "processing-instruction": _pi,
    "namespace": _namespace,
    "document": _nameless(ComputedDocument),
    "text": _nameless(ComputedText),
    "comment": _nameless(ComputedComment),
    "ordered": _ordering,
    "unordered": _ordering,
    "function": _function,
    "map": maps.map_constructor,
    "array": maps.curly_array,
}
