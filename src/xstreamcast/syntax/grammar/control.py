"""Conditions, quantifiers, switches and try; each returns None where its keyword is only a name."""

from __future__ import annotations

from typing import Literal

from xstreamcast.syntax.grammar import expressions, paths, types
from xstreamcast.syntax.grammar.names import variable
from xstreamcast.syntax.grammar.prolog_parts import enclosed
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    CatchClause,
    Expr,
    IfExpr,
    NamesTest,
    QuantifiedBinding,
    QuantifiedExpr,
    SwitchCaseClause,
    SwitchExpr,
    TryCatch,
    TypeCaseClause,
    TypeExpr,
    TypeSwitchExpr,
)


def conditional(cur: Cursor) -> Expr | None:
    """`if (test) then a else b`."""
    if not cur.word_then("("):
        return None
    start = cur.pos
    test = _head(cur)
    cur.expect_word("then")
    then = expressions.expr_single(cur)
    cur.expect_word("else")
    return IfExpr(test, then, expressions.expr_single(cur), cur.span(start))


def _head(cur: Cursor) -> Expr:
    """`word (e)`."""
    cur.advance(len(cur.word()))
    cur.expect("(")
    found = expressions.expr(cur)
    cur.expect(")")
    return found


def quantified(cur: Cursor) -> Expr | None:
    """`some $a in b, $c in d satisfies test`."""
    if not cur.word_then("$"):
        return None
    start = cur.pos
    kind: Literal["some", "every"] = "some" if cur.word() == "some" else "every"
    cur.take_word(kind)
    bindings = [_binding(cur)]
    while cur.take(","):
        bindings.append(_binding(cur))
    cur.expect_word("satisfies")
    test = expressions.expr_single(cur)
    return QuantifiedExpr(kind, tuple(bindings), test, cur.span(start))


def _binding(cur: Cursor) -> QuantifiedBinding:
    start = cur.pos
    name = variable(cur)
    declared = types.type_declaration(cur)
    cur.expect_word("in")
    return QuantifiedBinding(name, declared, expressions.expr_single(cur), cur.span(start))


def switch(cur: Cursor) -> Expr | None:
    """`switch (e) case v return r … default return d`."""
    if not cur.word_then("("):
        return None
    start = cur.pos
    operand = _head(cur)
    cases = [_switch_case(cur)]
    while cur.word() == "case":
        cases.append(_switch_case(cur))
    cur.expect_word("default", "case")
    cur.expect_word("return")
    return SwitchExpr(operand, tuple(cases), expressions.expr_single(cur), cur.span(start))


def _switch_case(cur: Cursor) -> SwitchCaseClause:
    start = cur.pos
    cur.expect_word("case")
    values = [expressions.expr_single(cur)]
    while cur.take_word("case"):
        values.append(expressions.expr_single(cur))
    cur.expect_word("return", "case")
    return SwitchCaseClause(tuple(values), expressions.expr_single(cur), cur.span(start))


def typeswitch(cur: Cursor) -> Expr | None:
    """`typeswitch (e) case $x as T | U return r … default $y return d`."""
    if not cur.word_then("("):
        return None
    start = cur.pos
    operand = _head(cur)
    cases = [_type_case(cur)]
    while cur.word() == "case":
        cases.append(_type_case(cur))
    cur.expect_word("default", "case")
    name = variable(cur) if cur.at("$") else None
    cur.expect_word("return")
    default = expressions.expr_single(cur)
    return TypeSwitchExpr(operand, tuple(cases), name, default, cur.span(start))


def _type_case(cur: Cursor) -> TypeCaseClause:
    start = cur.pos
    cur.expect_word("case")
    name = None
    if cur.at("$"):
        name = variable(cur)
        cur.expect_word("as")
    choices: list[TypeExpr] = [types.sequence_type(cur)]
    while cur.take("|"):
        choices.append(types.sequence_type(cur))
    cur.expect_word("return")
    return TypeCaseClause(name, tuple(choices), expressions.expr_single(cur), cur.span(start))


def try_catch(cur: Cursor) -> Expr | None:
    """`try { e } catch a | * { f }`."""
    if not cur.word_then("{"):
        return None
    start = cur.pos
    cur.take_word("try")
    body = enclosed(cur)
    catches = [_catch(cur)]
    while cur.word() == "catch":
        catches.append(_catch(cur))
    return TryCatch(body, tuple(catches), cur.span(start))


def _catch(cur: Cursor) -> CatchClause:
    start = cur.pos
    cur.expect_word("catch")
    tests: list[NamesTest] = [paths.names_test(cur)]
    while cur.take("|"):
        tests.append(paths.names_test(cur))
    return CatchClause(tuple(tests), enclosed(cur), cur.span(start))
