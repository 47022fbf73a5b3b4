"""Primary expressions that do not start with a name."""

from __future__ import annotations

from xstreamcast.syntax.grammar import calls, direct, expressions, maps, prolog_parts, xcql
from xstreamcast.syntax.grammar.names import number, string, variable
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import ContextItemExpr, Expr, InlineFunction, Sequence, VarRef


def primary(cur: Cursor) -> Expr:
    """A variable, literal, parenthesis, context item, constructor or inline function."""
    start = cur.pos
    match cur.text[start]:
        case "$":
            return variable_reference(cur)
        case '"' | "'":
            return string(cur)
        case "(":
            return parenthesized(cur)
        case "<":
            return direct.constructor(cur)
        case "`":
            return direct.string_constructor(cur)
        case "%":
            return _annotated_function(cur)
        case "?":
            return maps.unary_lookup(cur)
        case "[":
            return maps.square_array(cur)
        case digit if digit in "0123456789":
            return xcql.bare_date(cur) or number(cur)
        case ".":
            return _dot(cur)
        case _:
            raise cur.expected("an expression")


def variable_reference(cur: Cursor) -> VarRef:
    start = cur.pos
    return VarRef(variable(cur), cur.span(start))


def parenthesized(cur: Cursor) -> Expr:
    """`(e)`; `()` is the empty sequence."""
    start = cur.pos
    cur.take("(")
    if cur.take(")"):
        return Sequence(span=cur.span(start))
    found = whole(cur)
    cur.expect(")")
    return found


def whole(cur: Cursor) -> Expr:
    """An expression with commas."""
    return expressions.expr(cur)


def _dot(cur: Cursor) -> Expr:
    start = cur.pos
    if cur.text[start + 1] in "0123456789":
        return number(cur)
    cur.take(".")
    return ContextItemExpr(cur.span(start))


def _annotated_function(cur: Cursor) -> InlineFunction:
    start = cur.pos
    annotations = prolog_parts.annotation_list(cur)
    prolog_parts.refuse_visibility(cur, annotations)
    return calls.inline_function(cur, annotations, start)
