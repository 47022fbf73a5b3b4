"""Expressions from the comma down to the unary sign: keywords first, then operators by binding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xstreamcast.syntax.grammar import control, flwor, operators, paths, updating, xcql
from xstreamcast.syntax.grammar.names import lexical_name
from xstreamcast.syntax.lexing import SPACE, Cursor
from xstreamcast.syntax.tree import Expr, Extension, Pragma, Sequence, SimpleMapExpr, UnaryExpr


def expr(cur: Cursor) -> Expr:
    """`a, b, …`; one expression alone is itself."""
    start = cur.pos
    first = expr_single(cur)
    if cur.text[cur.pos] != ",":
        return first
    items = [first]
    while cur.take(","):
        items.append(expr_single(cur))
    return Sequence(tuple(items), cur.span(start))


def expr_single(cur: Cursor) -> Expr:
    """An expression without a comma at its top."""
    cur.deeper()
    word = cur.word()
    handler = _KEYWORDS.get(word) if word else None
    found = handler(cur) if handler else None
    if found is None:
        found = operators.binary(cur, 0)
    cur.depth -= 1
    return found


_KEYWORDS: Final[dict[str, Callable[[Cursor], Expr | None]]] = {
    "for": flwor.flwor,
    "let": flwor.flwor,
    "forseq": flwor.flwor,
    "some": control.quantified,
    "every": control.quantified,
    "if": control.conditional,
    "switch": control.switch,
    "typeswitch": control.typeswitch,
    "try": control.try_catch,
    **dict.fromkeys(updating.WORDS, updating.updating),
}


def unary(cur: Cursor) -> Expr:
    """`-e`, `+e`, any number of signs."""
    start = cur.pos
    sign = cur.text[start]
    if sign != "-" and sign != "+":
        return value(cur)
    signs: list[tuple[str, int]] = []
    while cur.text[cur.pos] in "+-":
        cur.chained(len(signs))
        signs.append((cur.text[cur.pos], cur.pos))
        cur.advance(1)
    found = value(cur)
    for sign, start in reversed(signs):
        found = UnaryExpr("-" if sign == "-" else "+", found, cur.span(start))
    return found


def value(cur: Cursor) -> Expr:
    """`a ! b ! …`, an extension expression or (never) `validate`."""
    start = cur.pos
    text = cur.text
    if text.startswith("(#", start):
        return _extension(cur)
    if text[start] == "v" and cur.word() == "validate":
        _refuse_validate(cur)
    left = paths.path(cur)
    links = 0
    while text[cur.pos] == "!" and text[cur.pos + 1] != "=":
        cur.chained(links := links + 1)
        cur.take("!")
        left = SimpleMapExpr(left, paths.path(cur), cur.span(start))
    return left


def _refuse_validate(cur: Cursor) -> None:
    follows = cur.next_word() in ("lax", "strict", "type")
    if follows or cur.word_then("{"):
        raise cur.unsupported("validate is", (cur.pos, cur.pos + 8), "XQST0075")


def _extension(cur: Cursor) -> Extension:
    start = cur.pos
    pragmas = []
    while cur.at("(#"):
        pragmas.append(_pragma(cur))
    cur.expect("{")
    if cur.take("}"):
        return Extension(tuple(pragmas), None, cur.span(start))
    body = expr(cur)
    cur.expect("}")
    return Extension(tuple(pragmas), body, cur.span(start))


def _pragma(cur: Cursor) -> Pragma:
    start = cur.pos
    cur.pos = SPACE.match(cur.text, start + 2).end()  # type: ignore[union-attr]
    name = lexical_name(cur, "the name of a pragma")  # what follows is text, comments included
    end = cur.text.find("#)", cur.pos)
    if end < 0:
        raise cur.error("XPST0003", "the pragma never ends", (start, start + 2))
    content = cur.text[cur.pos : end]
    if content and not content[0].isspace():
        raise cur.expected("a space after the name of the pragma")
    cur.pos = end + 2
    cur.skip()
    return Pragma(name, content.lstrip(), cur.span(start))


def operand(cur: Cursor) -> Expr:
    """What an operator takes, and what starts a block."""
    return xcql.block(cur) if cur.text[cur.pos] == "{" else unary(cur)
