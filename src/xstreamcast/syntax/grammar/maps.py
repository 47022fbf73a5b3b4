"""Maps, arrays and lookups: read to their end, so that mistakes are told first, then refused."""

from __future__ import annotations

from xstreamcast.syntax.grammar import expressions, primary
from xstreamcast.syntax.grammar.names import ncname, number
from xstreamcast.syntax.grammar.prolog_parts import enclosed
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import Expr, IntegerLiteral, Sequence


def map_constructor(cur: Cursor) -> Expr | None:
    """`map { k : v, … }`."""
    if not cur.word_then("{"):
        return None
    start = cur.pos
    cur.take_word("map")
    cur.take("{")
    while not cur.at("}"):
        expressions.expr_single(cur)
        cur.expect(":")
        expressions.expr_single(cur)
        if not cur.at("}"):
            cur.expect(",", "',' or '}'")
    cur.expect("}")
    return _refused(cur, "a map is", start)


def curly_array(cur: Cursor) -> Expr | None:
    """`array { e }`."""
    if not cur.word_then("{"):
        return None
    start = cur.pos
    cur.take_word("array")
    enclosed(cur)
    return _refused(cur, "an array is", start)


def square_array(cur: Cursor) -> Expr:
    """`[a, b, …]`."""
    start = cur.pos
    cur.take("[")
    while not cur.at("]"):
        expressions.expr_single(cur)
        if not cur.at("]"):
            cur.expect(",", "',' or ']'")
    cur.expect("]")
    return _refused(cur, "an array is", start)


def lookup(cur: Cursor) -> Expr:
    """`?key`, `?1`, `?(e)` or `?*`."""
    start = cur.pos
    cur.take("?")
    if cur.word():
        ncname(cur)
    elif cur.at("("):
        primary.parenthesized(cur)
    elif not cur.take("*") and not isinstance(number(cur), IntegerLiteral):
        raise cur.error("XPST0003", "a position must be an integer", cur.span(start))
    return _refused(cur, "lookup in maps and arrays is", start)


def _refused(cur: Cursor, what: str, start: int) -> Expr:
    if cur.refusal is None:
        cur.refusal = cur.error("XSCS0001", f"{what} not supported", cur.span(start))
    return Sequence(span=cur.span(start))
