"""Paths, steps, node tests, predicates and what may follow a primary expression."""

from __future__ import annotations

from typing import Final, cast, get_args

from xstreamcast.model.xml_names import NCNAME
from xstreamcast.syntax.grammar import calls, computed, maps, primary, types, xcql
from xstreamcast.syntax.grammar.names import braced_uri, braced_uri_here, lexical_name
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    AnyKindTest,
    AnyLocal,
    AnyName,
    AnyNamespace,
    AttributeTest,
    Axis,
    AxisStep,
    Expr,
    FilterExpr,
    NamespaceNodeTest,
    NamesTest,
    NameTest,
    NodeTest,
    PathExpr,
    SchemaAttributeTest,
)

_AXES: Final[frozenset[str]] = frozenset(get_args(Axis)) - {"namespace"}
_ENDS_A_ROOT: Final = (*"\0)]},;=!|+->#:", "?[", "<<", "<=")  # no step starts so


def path(cur: Cursor) -> Expr:
    """A path, or the one step it consists of; a projection takes all of the path before it."""
    start = cur.pos
    absolute = cur.text[start] == "/"
    steps = _from_root(cur) if absolute else [step(cur)]
    links = 0
    while True:
        following = cur.text[cur.pos]
        if following == "/" and (steps or not absolute):
            steps += _next_steps(cur)
        elif following in "?#" and cur.text[cur.pos + 1] == "[":
            cur.chained(links := links + 1)
            projected = xcql.projection(cur, _path(cur, absolute, steps, start), start)
            absolute, steps = False, [after_primary(cur, projected, start)]
        else:
            return _path(cur, absolute, steps, start)


def _path(cur: Cursor, absolute: bool, steps: list[Expr], start: int) -> Expr:
    if not absolute and len(steps) == 1:
        return steps[0]
    return PathExpr(absolute, tuple(steps), cur.span(start))


def _from_root(cur: Cursor) -> list[Expr]:
    if cur.at("//"):
        return _next_steps(cur)
    cur.take("/")
    return [] if cur.text.startswith(_ENDS_A_ROOT, cur.pos) else [_later_step(cur)]


def _next_steps(cur: Cursor) -> list[Expr]:
    """`/s` or `//s`, the latter spelled out."""
    start = cur.pos
    if not cur.take("//"):
        cur.take("/")
        return [_later_step(cur)]
    between = AxisStep(
        "descendant-or-self", AnyKindTest((start, start + 2)), (), (start, start + 2)
    )
    return [between, _later_step(cur)]


def _later_step(cur: Cursor) -> Expr:
    """After a slash `now` is a child."""
    time, cur.time = cur.time, False
    found = step(cur)
    cur.time = time
    return found


def step(cur: Cursor) -> Expr:
    """An axis step, or a primary expression with what follows it."""
    start = cur.pos
    first = cur.text[start]
    if first == "@":
        cur.take("@")
        return _axis_step(cur, "attribute", start)
    if first == "*":
        return _with_predicates(cur, "child", names_test(cur), start)
    if first == "." and cur.at(".."):
        cur.take("..")
        return _with_predicates(cur, "parent", AnyKindTest(cur.span(start)), start)
    if cur.word():
        return _word(cur)
    return after_primary(cur, primary.primary(cur), start)


def _word(cur: Cursor) -> Expr:
    """What starts with a name: a time, a constructor, an axis, a kind test, a call or a child."""
    start, word = cur.pos, cur.word()
    if word == "Q" and braced_uri_here(cur):
        return _named(cur)
    found = xcql.bare_time(cur) or computed.constructor(cur)
    if found is not None:
        return after_primary(cur, found, start)
    after = cur.after_word()
    if cur.text.startswith("::", after):
        return _axis_step(cur, _axis(cur), start)
    if cur.text[after] == "(" and word in types.KIND_TESTS:
        return _axis_step(cur, "child", start)
    return _named(cur)


def _named(cur: Cursor) -> Expr:
    """A call, a function by name, or a child."""
    start = cur.pos
    test = names_test(cur)
    following = cur.text[cur.pos]
    if isinstance(test, NameTest):
        if following == "(" and cur.text[cur.pos + 1] != "#":
            return after_primary(cur, calls.function_call(cur, test.name), start)
        if following == "#" and cur.text[cur.pos + 1] != "[":
            return after_primary(cur, calls.function_ref(cur, test.name), start)
    return _with_predicates(cur, "child", test, start)


def _axis(cur: Cursor) -> Axis:
    word = cur.word()
    if word == "namespace":
        raise cur.error("XQST0134", "XQuery has no namespace axis", (cur.pos, cur.pos + 9))
    if word not in _AXES:
        raise cur.expected("an axis", _AXES)
    cur.take_word(word)
    cur.take("::")
    return cast(Axis, word)


def _axis_step(cur: Cursor, axis: Axis, start: int) -> AxisStep:
    word = cur.word()
    if word not in types.KIND_TESTS or not cur.word_then("("):
        return _with_predicates(cur, axis, names_test(cur), start)
    test = types.kind_test(cur)
    if start == test.span[0]:  # no axis was written: the test chooses
        if isinstance(test, NamespaceNodeTest):
            raise cur.error("XQST0134", "XQuery has no namespace axis", test.span)
        axis = "attribute" if isinstance(test, AttributeTest | SchemaAttributeTest) else "child"
    return _with_predicates(cur, axis, test, start)


def names_test(cur: Cursor) -> NamesTest:
    """`a`, `p:a`, `Q{u}a`, `*`, `p:*`, `Q{u}*`, `*:a`: no spaces inside."""
    start = cur.pos
    if cur.text[start] == "*":
        return _starred(cur, start)
    if braced_uri_here(cur):
        uri = braced_uri(cur)
        if cur.take("*"):
            return AnyLocal(uri=uri, span=cur.span(start))
        cur.pos = start
    name = lexical_name(cur, "a name or '*'")
    if not name.prefix and cur.at(":*"):
        cur.advance(2)
        return AnyLocal(name.local, span=cur.span(start))
    cur.skip()
    return NameTest(name, cur.span(start))


def _starred(cur: Cursor, start: int) -> AnyName | AnyNamespace:
    local = NCNAME.match(cur.text, start + 2) if cur.text[start + 1] == ":" else None
    if local is None:
        cur.take("*")
        return AnyName(cur.span(start))
    cur.pos = local.end()
    cur.skip()
    return AnyNamespace(local.group(), cur.span(start))


def _with_predicates(cur: Cursor, axis: Axis, test: NodeTest, start: int) -> AxisStep:
    found = predicates(cur) if cur.text[cur.pos] == "[" else ()
    return AxisStep(axis, test, found, cur.span(start))


def predicates(cur: Cursor) -> tuple[Expr, ...]:
    """`[p][q]`; inside, `now` is a child again."""
    time, cur.time = cur.time, False
    found = []
    while cur.take("["):
        found.append(primary.whole(cur))
        cur.expect("]")
    cur.time = time
    return tuple(found)


def after_primary(cur: Cursor, found: Expr, start: int) -> Expr:
    """Predicates, calls and lookups after a primary expression."""
    links = 0
    while True:
        following = cur.text[cur.pos]
        if following == "[":
            found = FilterExpr(found, predicates(cur), cur.span(start))
        elif following == "(" and cur.text[cur.pos + 1] != "#":
            cur.chained(links := links + 1)
            found = calls.dynamic_call(cur, found, start)
        elif following == "?" and cur.text[cur.pos + 1] != "[":
            cur.chained(links := links + 1)
            found = maps.lookup(cur, found, start)
        else:
            return found
