"""FLWOR expressions, clause by clause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from xstreamcast.syntax.grammar import expressions, types, windows
from xstreamcast.syntax.grammar.names import uri_literal, variable
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    Clause,
    CountClause,
    Expr,
    Flwor,
    ForClause,
    GroupByClause,
    GroupingSpec,
    LetClause,
    OrderByClause,
    OrderSpec,
    WhereClause,
)

_CLAUSES: Final = ("for", "let", "forseq", "where", "group", "order", "stable", "count", "return")


def flwor(cur: Cursor) -> Expr | None:
    """`for …`, `let …` or `forseq …` up to the `return` expression; None if the word is a name."""
    if not _initial(cur):
        return None
    start = cur.pos
    clauses: list[Clause] = []
    while cur.word() != "return":
        build = _BUILD.get(cur.word())
        if build is None:
            raise cur.expected("a clause or 'return'", _CLAUSES)
        clauses += build(cur)
    cur.take_word("return")
    return Flwor(tuple(clauses), expressions.expr_single(cur), cur.span(start))


def _initial(cur: Cursor) -> bool:
    return cur.word_then("$") or (cur.word() == "for" and windows.follows_for(cur))


def _for(cur: Cursor) -> list[Clause]:
    start = cur.pos
    cur.take_word("for")
    if cur.word() in ("tumbling", "sliding"):
        return [windows.window(cur, start)]
    found: list[Clause] = [_for_binding(cur, start)]
    while cur.take(","):
        found.append(_for_binding(cur, cur.pos))
    return found


def _for_binding(cur: Cursor, start: int) -> ForClause:
    name = variable(cur)
    declared = types.type_declaration(cur)
    allowing_empty = cur.take_word("allowing")
    if allowing_empty:
        cur.expect_word("empty")
    position = variable(cur) if cur.take_word("at") else None
    if position == name:
        message = f"${name} cannot be both the item and its position"
        raise cur.error("XQST0089", message, position.span)
    cur.expect_word("in")
    source = expressions.expr_single(cur)
    return ForClause(name, declared, allowing_empty, position, source, cur.span(start))


def _let(cur: Cursor) -> list[Clause]:
    start = cur.pos
    cur.take_word("let")
    found: list[Clause] = [_let_binding(cur, start)]
    while cur.take(","):
        found.append(_let_binding(cur, cur.pos))
    return found


def _let_binding(cur: Cursor, start: int) -> LetClause:
    name = variable(cur)
    declared = types.type_declaration(cur)
    cur.expect(":=")
    return LetClause(name, declared, expressions.expr_single(cur), cur.span(start))


def _where(cur: Cursor) -> list[Clause]:
    start = cur.pos
    cur.take_word("where")
    return [WhereClause(expressions.expr_single(cur), cur.span(start))]


def _count(cur: Cursor) -> list[Clause]:
    start = cur.pos
    cur.take_word("count")
    return [CountClause(variable(cur), cur.span(start))]


def _group_by(cur: Cursor) -> list[Clause]:
    start = cur.pos
    cur.take_word("group")
    cur.expect_word("by")
    keys = [_group_key(cur)]
    while cur.take(","):
        keys.append(_group_key(cur))
    return [GroupByClause(tuple(keys), cur.span(start))]


def _group_key(cur: Cursor) -> GroupingSpec:
    start = cur.pos
    name = variable(cur)
    declared = types.type_declaration(cur)
    value = None
    if declared is not None or cur.at(":="):
        cur.expect(":=")
        value = expressions.expr_single(cur)
    return GroupingSpec(name, declared, value, _collation(cur), cur.span(start))


def _collation(cur: Cursor) -> str | None:
    return uri_literal(cur) if cur.take_word("collation") else None


def _order_by(cur: Cursor) -> list[Clause]:
    start = cur.pos
    stable = cur.take_word("stable")
    cur.expect_word("order")
    cur.expect_word("by")
    keys = [_order_key(cur)]
    while cur.take(","):
        keys.append(_order_key(cur))
    return [OrderByClause(stable, tuple(keys), cur.span(start))]


def _order_key(cur: Cursor) -> OrderSpec:
    start = cur.pos
    value = expressions.expr_single(cur)
    descending = cur.take_word("descending")
    if not descending:
        cur.take_word("ascending")
    empty: Literal["greatest", "least"] | None = None
    if cur.take_word("empty"):
        empty = "greatest" if cur.expect_word("greatest", "least") == "greatest" else "least"
    return OrderSpec(value, descending, empty, _collation(cur), cur.span(start))


_BUILD: Final[dict[str, Callable[[Cursor], list[Clause]]]] = {
    "for": _for,
    "let": _let,
    "forseq": windows.forseq,
    "where": _where,
    "group": _group_by,
    "order": _order_by,
    "stable": _order_by,
    "count": _count,
}
