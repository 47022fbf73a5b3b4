"""Maps, arrays and lookups."""

from __future__ import annotations

from xstreamcast.syntax.grammar import expressions, primary
from xstreamcast.syntax.grammar.names import ncname, number
from xstreamcast.syntax.grammar.prolog_parts import enclosed
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    ContextItemExpr,
    CurlyArray,
    Expr,
    IntegerLiteral,
    LookupExpr,
    MapConstructor,
    MapEntry,
    SquareArray,
    StringLiteral,
)


def map_constructor(cur: Cursor) -> Expr | None:
    """`map { k : v, … }`."""
    if not cur.word_then("{"):
        return None
    start = cur.pos
    cur.take_word("map")
    cur.take("{")
    time, cur.time = cur.time, False
    entries: list[MapEntry] = []
    while not cur.at("}") or entries:
        entries.append(_entry(cur))
        if not cur.take(","):
            break
    cur.time = time
    cur.expect("}", "',' or '}'")
    return MapConstructor(tuple(entries), cur.span(start))


def _entry(cur: Cursor) -> MapEntry:
    start = cur.pos
    key = expressions.expr_single(cur)
    cur.expect(":")
    return MapEntry(key, expressions.expr_single(cur), cur.span(start))


def curly_array(cur: Cursor) -> Expr | None:
    """`array { e }`."""
    if not cur.word_then("{"):
        return None
    start = cur.pos
    cur.take_word("array")
    return CurlyArray(enclosed(cur), cur.span(start))


def square_array(cur: Cursor) -> Expr:
    """`[a, b, …]`."""
    start = cur.pos
    cur.take("[")
    time, cur.time = cur.time, False
    members: list[Expr] = []
    while not cur.at("]") or members:
        members.append(expressions.expr_single(cur))
        if not cur.take(","):
            break
    cur.time = time
    cur.expect("]", "',' or ']'")
    return SquareArray(tuple(members), cur.span(start))


def unary_lookup(cur: Cursor) -> Expr:
    """`?key`: a lookup in the context item."""
    return lookup(cur, ContextItemExpr((cur.pos, cur.pos)), cur.pos)


def lookup(cur: Cursor, base: Expr, start: int) -> Expr:
    """`?key`, `?1`, `?(e)` or `?*` after an expression."""
    cur.take("?")
    return LookupExpr(base, _key(cur), cur.span(start))


def _key(cur: Cursor) -> Expr | None:
    start = cur.pos
    if cur.word():
        return StringLiteral(ncname(cur), cur.span(start))
    if cur.at("("):
        return primary.parenthesized(cur)
    if cur.take("*"):
        return None
    found = number(cur)
    if not isinstance(found, IntegerLiteral):
        raise cur.error("XPST0003", "a position must be an integer", cur.span(start))
    return found
