"""Windows: the W3C clause and `forseq`, one node for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from xstreamcast.syntax.grammar import expressions, types
from xstreamcast.syntax.grammar.names import variable
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    Clause,
    Expr,
    Name,
    NewStart,
    WindowClause,
    WindowEnd,
    WindowStart,
    WindowVariable,
)

_ROLES: Final = {
    "curItem": "current",
    "currItem": "current",
    "position": "position",
    "prevItem": "previous",
    "nextItem": "next",
}
Variables = dict[str, WindowVariable]
_ReadVariables = Callable[[Cursor], Variables]


def follows_for(cur: Cursor) -> bool:
    """Is `for` followed by `tumbling window` or `sliding window`?"""
    if cur.next_word() not in ("tumbling", "sliding"):
        return False
    after = cur.skip_from(cur.after_word() + len(cur.next_word()))
    return cur.text.startswith("window", after)


def window(cur: Cursor, start: int) -> WindowClause:
    """`tumbling window $w in e start … when … end … when …`, the cursor behind `for`."""
    tumbling = cur.expect_word("tumbling", "sliding") == "tumbling"
    cur.expect_word("window")
    name = variable(cur)
    declared = types.type_declaration(cur)
    cur.expect_word("in")
    source = expressions.expr_single(cur)
    opening = _start(cur, _w3c_variables)
    closing = None
    if not tumbling or cur.word() in ("only", "end"):
        closing = _end(cur, "only", _w3c_variables)
    _refuse_repeated(cur, name, opening, closing)
    kind: Literal["tumbling", "sliding"] = "tumbling" if tumbling else "sliding"
    return WindowClause(kind, "first", name, declared, source, opening, closing, cur.span(start))


def forseq(cur: Cursor) -> list[Clause]:
    """`forseq $w in e sliding window start … end …, $v in …`."""
    start = cur.pos
    cur.take_word("forseq")
    found: list[Clause] = [_forseq_binding(cur, start)]
    while cur.take(","):
        found.append(_forseq_binding(cur, cur.pos))
    return found


def _forseq_binding(cur: Cursor, start: int) -> WindowClause:
    name = variable(cur)
    declared = types.type_declaration(cur)
    cur.expect_word("in")
    source = expressions.expr_single(cur)
    kind = _kind(cur)
    if kind == "general":
        return WindowClause(kind, "last", name, declared, source, None, None, cur.span(start))
    opening = _start(cur, _forseq_variables)
    closing = _end(cur, "force", _forseq_variables)
    _refuse_repeated(cur, name, opening, closing)
    return WindowClause(kind, "last", name, declared, source, opening, closing, cur.span(start))


def _kind(cur: Cursor) -> Literal["tumbling", "sliding", "landmark", "general"]:
    kinds: tuple[Literal["tumbling", "sliding", "landmark"], ...]
    kinds = ("tumbling", "sliding", "landmark")
    for kind in kinds:
        if cur.take_word(kind):
            cur.expect_word("window")
            return kind
    return "general"


def _start(cur: Cursor, variables: _ReadVariables) -> WindowStart:
    start = cur.pos
    cur.expect_word("start")
    found = variables(cur)
    cur.expect_word("when")
    when = expressions.expr_single(cur)
    return WindowStart(*_slots(found), when, cur.span(start))


def _end(cur: Cursor, strict: str, variables: _ReadVariables) -> WindowEnd:
    """`end … when …`; after the word `strict` only an end that is met counts."""
    start = cur.pos
    only = cur.take_word(strict)
    if not only and cur.word() != "end":
        raise cur.expected(f"'end' or '{strict} end'", ("end", strict))
    cur.expect_word("end")
    found = variables(cur)
    cur.expect_word("when")
    when = _end_condition(cur, strict)
    return WindowEnd(only, *_slots(found), when, cur.span(start))


def _end_condition(cur: Cursor, strict: str) -> Expr | NewStart:
    start = cur.pos
    is_name = cur.word_then("(", "/", ":", "[", "?", "#")
    if strict == "force" and cur.word() == "newstart" and not is_name:
        cur.take_word("newstart")
        return NewStart(cur.span(start))
    return expressions.expr_single(cur)


def _slots(
    found: Variables,
) -> tuple[
    WindowVariable | None, WindowVariable | None, WindowVariable | None, WindowVariable | None
]:
    return found.get("current"), found.get("position"), found.get("previous"), found.get("next")


def _w3c_variables(cur: Cursor) -> Variables:
    """`$current at $position previous $p next $n`, each optional, in this order."""
    found: Variables = {}
    if cur.at("$"):
        found["current"] = _w3c_variable(cur)
    for word, role in (("at", "position"), ("previous", "previous"), ("next", "next")):
        if cur.take_word(word):
            found[role] = _w3c_variable(cur)
    return found


def _w3c_variable(cur: Cursor) -> WindowVariable:
    start = cur.pos
    return WindowVariable(variable(cur), None, cur.span(start))


def _forseq_variables(cur: Cursor) -> Variables:
    """`position $i, curItem $c, …`, in any order, each at most once."""
    found: Variables = {}
    while cur.word() != "when":
        if found:
            cur.expect(",")
        start = cur.pos
        word = cur.word()
        role = _ROLES.get(word)
        if role is None or role in found:
            raise cur.expected("'when' or another window variable", (*_ROLES, "when"))
        cur.take_word(word)
        name = variable(cur)
        found[role] = WindowVariable(name, types.type_declaration(cur), cur.span(start))
    return found


def _refuse_repeated(
    cur: Cursor, name: Name, opening: WindowStart, closing: WindowEnd | None
) -> None:
    seen = [name]
    for boundary in (opening, closing):
        if boundary is None:
            continue
        for found in (boundary.current, boundary.position, boundary.previous, boundary.next):
            if found is None:
                continue
            if found.name in seen:
                message = f"two variables of the window are named ${found.name}"
                raise cur.error("XQST0103", message, found.name.span)
            seen.append(found.name)
