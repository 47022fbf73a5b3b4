"""Binary operators, by precedence climbing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xstreamcast.syntax.grammar import calls, expressions, types, xcql
from xstreamcast.syntax.lexing import ALLEN, Cursor
from xstreamcast.syntax.tree import (
    AndExpr,
    ArithmeticExpr,
    CastableAs,
    CastAs,
    ComparisonExpr,
    ConcatExpr,
    Expr,
    InstanceOfExpr,
    OrExpr,
    RangeExpr,
    SetExpr,
    TreatAs,
)

# How tightly each operator binds. A left-associative operator may follow itself; after any other
# one only looser operators may follow: `1 eq 2 eq 3` is no expression.
OR, AND, COMPARE, CONCAT, TO, ADD, MULTIPLY, UNION, INTERSECT = range(1, 10)
INSTANCE, TREAT, CASTABLE, CAST, ARROW = range(10, 15)

_WORDS: Final[dict[str, int]] = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "is"), COMPARE),
    **dict.fromkeys(ALLEN, COMPARE),
    "to": TO,
    **dict.fromkeys(("div", "idiv", "mod"), MULTIPLY),
    "union": UNION,
    **dict.fromkeys(("intersect", "except"), INTERSECT),
    "instance": INSTANCE,
    "treat": TREAT,
    "castable": CASTABLE,
    "cast": CAST,
}
_LETTERS: Final = frozenset(word[0] for word in _WORDS)
_PAIRS: Final[dict[str, int]] = {
    **dict.fromkeys(("!=", "<=", ">=", "<<", ">>"), COMPARE),
    "||": CONCAT,
    "=>": ARROW,
}
_SYMBOLS: Final[dict[str, int]] = {
    **dict.fromkeys("=<>", COMPARE),
    **dict.fromkeys("+-", ADD),
    "*": MULTIPLY,
    "|": UNION,
}
_ONCE: Final = frozenset((COMPARE, TO, INSTANCE, TREAT, CASTABLE, CAST))
_FLAT: Final[dict[int, type[OrExpr] | type[AndExpr] | type[ConcatExpr]]] = {
    OR: OrExpr,
    AND: AndExpr,
    CONCAT: ConcatExpr,
}


def binary(cur: Cursor, loosest: int) -> Expr:
    """An expression whose operators bind at least as tightly as `loosest`."""
    start = cur.pos
    bracket = cur.text[start] == "[" and loosest <= COMPARE
    interval = xcql.leading_interval(cur) if bracket else None
    left, ceiling = interval or expressions.operand(cur), AND if interval else ARROW
    links = 0
    while True:
        cur.chained(links := links + 1)
        operator, binding = _operator(cur)
        if not loosest <= binding <= ceiling or not binding:
            return left
        if binding in _FLAT:
            left = _flat(cur, binding, operator, left, start)
        else:
            left = _BUILD[binding](cur, operator, left, start)
        ceiling = binding - 1 if binding in _ONCE else binding


def _operator(cur: Cursor) -> tuple[str, int]:
    """The operator at the cursor and how tightly it binds; 0 if there is none."""
    pair = cur.text[cur.pos : cur.pos + 2]
    if pair in _PAIRS:
        return pair, _PAIRS[pair]
    symbol = pair[:1]
    if symbol in _SYMBOLS:
        return symbol, _SYMBOLS[symbol]
    if symbol not in _LETTERS:
        return symbol, 0
    word = cur.word()
    return word, _WORDS.get(word, 0)


def _flat(cur: Cursor, binding: int, operator: str, left: Expr, start: int) -> Expr:
    items = [left]
    while _operator(cur) == (operator, binding):
        cur.advance(len(operator))
        items.append(binary(cur, binding + 1))
    return _FLAT[binding](tuple(items), cur.span(start))


def _comparison(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    if operator in ALLEN:
        return xcql.interval_comparison(cur, operator, left, start)
    right = xcql.in_time(cur, xcql.temporal(left), CONCAT)
    left, right = xcql.compared_in_time(left, right)
    return ComparisonExpr(_any(operator), left, right, cur.span(start))


def _range(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    return RangeExpr(left, binary(cur, ADD), cur.span(start))


def _additive(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    last, known = cur.timed_sum  # a long sum is not walked again for each of its terms
    time = known if left is last else xcql.temporal(left)
    right = xcql.as_duration(xcql.in_time(cur, time, MULTIPLY))
    left, right = xcql.both_in_time(left, right)
    made = ArithmeticExpr(_any(operator), left, right, cur.span(start))
    cur.timed_sum = made, time or xcql.temporal(right)
    return made


def _multiplicative(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    return ArithmeticExpr(_any(operator), left, binary(cur, UNION), cur.span(start))


def _union(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    return SetExpr("union", left, binary(cur, INTERSECT), cur.span(start))


def _intersect(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    return SetExpr(_any(operator), left, binary(cur, INSTANCE), cur.span(start))


def _instance(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    cur.expect_word("of")
    return InstanceOfExpr(left, types.sequence_type(cur), cur.span(start))


def _treat(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    cur.expect_word("as")
    return TreatAs(left, types.sequence_type(cur), cur.span(start))


def _castable(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    cur.expect_word("as")
    return CastableAs(left, types.single_type(cur), cur.span(start))


def _cast(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    cur.advance(len(operator))
    cur.expect_word("as")
    return CastAs(left, types.single_type(cur), cur.span(start))


def _arrow(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    return calls.arrow(cur, operator, left, start)


def _any(operator: str) -> Any:
    """The tables above hold only operators that the node allows."""
    return operator


_BUILD: Final[dict[int, Callable[[Cursor, str, Expr, int], Expr]]] = {
    COMPARE: _comparison,
    TO: _range,
    ADD: _additive,
    MULTIPLY: _multiplicative,
    UNION: _union,
    INTERSECT: _intersect,
    INSTANCE: _instance,
    TREAT: _treat,
    CASTABLE: _castable,
    CAST: _cast,
    ARROW: _arrow,
}
