"""Calls, arguments, function items and the arrow."""

from __future__ import annotations

from typing import Final

from xstreamcast.syntax.grammar import expressions, primary, prolog_parts, types
from xstreamcast.syntax.grammar.names import eqname, number
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    Annotation,
    DynamicFunctionCall,
    Expr,
    FunctionCall,
    InlineFunction,
    IntegerLiteral,
    Name,
    NamedFunctionRef,
    Placeholder,
)

RESERVED: Final = frozenset(
    (
        *("array", "attribute", "comment", "document-node", "element", "empty-sequence"),
        *("function", "if", "item", "map", "namespace-node", "node", "processing-instruction"),
        *("schema-attribute", "schema-element", "switch", "text", "typeswitch"),
    )
)


def arguments(cur: Cursor) -> tuple[Expr | Placeholder, ...]:
    """`(a, ?, b)`."""
    cur.expect("(")
    found: list[Expr | Placeholder] = []
    while not cur.at(")"):
        if found:
            cur.expect(",", "',' or ')'")
        found.append(_argument(cur))
    cur.expect(")")
    return tuple(found)


def _argument(cur: Cursor) -> Expr | Placeholder:
    start = cur.pos
    if cur.at("?") and cur.text[cur.skip_from(start + 1)] in ",)":
        cur.take("?")
        return Placeholder(cur.span(start))
    return expressions.expr_single(cur)


def function_call(cur: Cursor, name: Name) -> FunctionCall:
    """`name(…)`, the cursor at the parenthesis."""
    refuse_reserved_function(cur, name)
    start = name.span[0]
    return FunctionCall(name, arguments(cur), cur.span(start))


def function_ref(cur: Cursor, name: Name) -> NamedFunctionRef:
    """`name#arity`, the cursor at the hash."""
    refuse_reserved_function(cur, name)
    cur.take("#")
    start = cur.pos
    arity = number(cur)
    if not isinstance(arity, IntegerLiteral):
        message = "the number of arguments must be an integer"
        raise cur.error("XPST0003", message, cur.span(start))
    return NamedFunctionRef(name, arity.value, cur.span(name.span[0]))


def refuse_reserved_function(cur: Cursor, name: Name) -> None:
    """Words that the grammar needs before a parenthesis cannot be called or declared."""
    if not name.prefix and name.uri is None and name.local in RESERVED:
        message = f"'{name.local}' is a word of the language; no function can have this name"
        raise cur.error("XPST0003", message, name.span)


def inline_function(cur: Cursor, annotations: tuple[Annotation, ...], start: int) -> InlineFunction:
    """`function($a) { body }`."""
    cur.expect_word("function")
    parameters = prolog_parts.parameters(cur)
    result = types.type_declaration(cur)
    body = prolog_parts.enclosed(cur)
    return InlineFunction(annotations, parameters, result, body, cur.span(start))


def arrow(cur: Cursor, operator: str, left: Expr, start: int) -> Expr:
    """`e => f(a)` → `f(e, a)`; `e => $f(a)` and `e => (g)(a)` → a dynamic call."""
    cur.advance(len(operator))
    if cur.at("$"):
        function: Expr = primary.variable_reference(cur)
    elif cur.at("("):
        function = primary.parenthesized(cur)
    else:
        name = eqname(cur, "a function")
        refuse_reserved_function(cur, name)
        return FunctionCall(name, (left, *arguments(cur)), cur.span(start))
    return DynamicFunctionCall(function, (left, *arguments(cur)), cur.span(start))


def dynamic_call(cur: Cursor, function: Expr, start: int) -> DynamicFunctionCall:
    """`e(…)`, the cursor at the parenthesis."""
    return DynamicFunctionCall(function, arguments(cur), cur.span(start))
