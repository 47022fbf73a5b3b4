"""Annotations, parameters and enclosed expressions: what declarations and expressions share."""

from __future__ import annotations

from xstreamcast.syntax.grammar import expressions, types
from xstreamcast.syntax.grammar.names import eqname, number, string, variable
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    Annotation,
    Expr,
    NumericLiteral,
    Param,
    Sequence,
    StringLiteral,
)


def annotation_list(cur: Cursor) -> tuple[Annotation, ...]:
    """`%a %b("x", 1)`, none or more."""
    found = []
    while cur.at("%"):
        start = cur.pos
        cur.take("%")
        name = eqname(cur, "the name of an annotation")
        values = _values(cur) if cur.take("(") else ()
        found.append(Annotation(name, values, cur.span(start)))
    return tuple(found)


def _values(cur: Cursor) -> tuple[StringLiteral | NumericLiteral, ...]:
    values = [_literal(cur)]
    while cur.take(","):
        values.append(_literal(cur))
    cur.expect(")")
    return tuple(values)


def _literal(cur: Cursor) -> StringLiteral | NumericLiteral:
    return string(cur) if cur.text[cur.pos] in "\"'" else number(cur)


def parameters(cur: Cursor) -> tuple[Param, ...]:
    """`($a as T, $b)`, names all different."""
    cur.expect("(")
    found: list[Param] = []
    while not cur.at(")"):
        if found:
            cur.expect(",", "',' or ')'")
        start = cur.pos
        name = variable(cur)
        if any(p.name == name for p in found):
            message = f"two parameters are named ${name}"
            raise cur.error("XQST0039", message, name.span)
        found.append(Param(name, types.type_declaration(cur), cur.span(start)))
    cur.expect(")")
    return tuple(found)


def enclosed(cur: Cursor) -> Expr:
    """`{ e }`; `{}` is the empty sequence. Bare times end at a brace."""
    start = cur.pos
    cur.expect("{")
    if cur.take("}"):
        return Sequence(span=cur.span(start))
    time, cur.time = cur.time, False
    body = expressions.expr(cur)
    cur.time = time
    cur.expect("}")
    return body


def visibility(annotations: tuple[Annotation, ...]) -> list[Annotation]:
    """Those of `%public` and `%private` that are there."""
    reserved = (None, "http://www.w3.org/2012/xquery")
    return [
        a
        for a in annotations
        if a.name.local in ("public", "private") and not a.name.prefix and a.name.uri in reserved
    ]


def refuse_visibility(cur: Cursor, annotations: tuple[Annotation, ...]) -> None:
    """An inline function has no visibility."""
    for annotation in visibility(annotations):
        message = f"an inline function cannot be %{annotation.name.local}"
        raise cur.error("XQST0125", message, annotation.span)
