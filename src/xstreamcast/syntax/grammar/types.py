"""Sequence types, item types and kind tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from xstreamcast.syntax.grammar import prolog_parts
from xstreamcast.syntax.grammar.names import eqname, ncname, string
from xstreamcast.syntax.lexing import Cursor
from xstreamcast.syntax.tree import (
    Annotation,
    AnyItemTest,
    AnyKindTest,
    ArrayTest,
    AttributeTest,
    CommentTest,
    DocumentTest,
    ElementTest,
    FunctionTest,
    ItemType,
    KindTest,
    MapTest,
    Name,
    NamedType,
    NamespaceNodeTest,
    Occurrence,
    PITest,
    SchemaAttributeTest,
    SchemaElementTest,
    SingleType,
    TextTest,
    TypeExpr,
)


def type_declaration(cur: Cursor) -> TypeExpr | None:
    """`as T`, if it is here; only in a declaration can `**` not be an occurrence and a product."""
    return sequence_type(cur, endless=True) if cur.take_word("as") else None


def sequence_type(cur: Cursor, endless: bool = False) -> TypeExpr:
    """`empty-sequence()` or an item type with `?`, `*`, `+` or `**`."""
    start = cur.pos
    if cur.word() == "empty-sequence" and cur.word_then("("):
        cur.take_word("empty-sequence")
        cur.expect("(")
        cur.expect(")")
        return TypeExpr(None, "", cur.span(start))
    item = item_type(cur)
    occurrence: Occurrence = "**" if endless and cur.take("**") else _occurrence(cur)
    return TypeExpr(item, occurrence, cur.span(start))


def _occurrence(cur: Cursor) -> Literal["", "?", "*", "+"]:
    marks: tuple[Literal["?", "*", "+"], ...] = ("?", "*", "+")
    for mark in marks:
        if cur.take(mark):
            return mark
    return ""


def single_type(cur: Cursor) -> SingleType:
    """The target of a cast."""
    start = cur.pos
    name = eqname(cur, "the name of a type")
    return SingleType(name, cur.take("?"), cur.span(start))


def item_type(cur: Cursor) -> ItemType:
    """One item type; parentheses around it leave no trace."""
    cur.deeper()
    found = _item_type(cur)
    cur.depth -= 1
    return found


def _item_type(cur: Cursor) -> ItemType:
    start = cur.pos
    if cur.take("("):
        inner = item_type(cur)
        cur.expect(")")
        return inner
    if cur.at("%"):
        return _function_test(cur, prolog_parts.annotation_list(cur), start)
    word = cur.word()
    if word in _ITEM_TYPES and cur.word_then("("):
        return _ITEM_TYPES[word](cur)
    if word in KIND_TESTS and cur.word_then("("):
        return kind_test(cur)
    name = eqname(cur, "a type")
    return NamedType(name, cur.span(start))


def kind_test(cur: Cursor) -> KindTest:
    """`node()`, `element(a)`, …: the caller saw the word and its parenthesis."""
    start = cur.pos
    word = ncname(cur)
    cur.expect("(")
    return KIND_TESTS[word](cur, start)


def _empty(
    make: Callable[[tuple[int, int]], KindTest],
) -> Callable[[Cursor, int], KindTest]:
    def parse(cur: Cursor, start: int) -> KindTest:
        cur.expect(")")
        return make(cur.span(start))

    return parse


def _name_or_star(cur: Cursor) -> Name | None:
    return None if cur.take("*") else eqname(cur, "a name or '*'")


def _element(cur: Cursor, start: int) -> ElementTest:
    if cur.take(")"):
        return ElementTest(span=cur.span(start))
    name = _name_or_star(cur)
    type_name = eqname(cur, "the name of a type") if cur.take(",") else None
    nillable = type_name is not None and cur.take("?")
    cur.expect(")")
    return ElementTest(name, type_name, nillable, cur.span(start))


def _attribute(cur: Cursor, start: int) -> AttributeTest:
    if cur.take(")"):
        return AttributeTest(span=cur.span(start))
    name = _name_or_star(cur)
    type_name = eqname(cur, "the name of a type") if cur.take(",") else None
    cur.expect(")")
    return AttributeTest(name, type_name, cur.span(start))


def _document(cur: Cursor, start: int) -> DocumentTest:
    if cur.take(")"):
        return DocumentTest(span=cur.span(start))
    if cur.word() not in ("element", "schema-element"):
        raise cur.expected("'element(' or 'schema-element('", ("element", "schema-element"))
    inner = kind_test(cur)
    assert isinstance(inner, ElementTest | SchemaElementTest)
    cur.expect(")")
    return DocumentTest(inner, cur.span(start))


def _pi(cur: Cursor, start: int) -> PITest:
    target = None
    if cur.word():
        target = ncname(cur)
    elif not cur.at(")"):
        target = " ".join(string(cur, "a name or a string").value.split())
    cur.expect(")")
    return PITest(target, cur.span(start))


def _schema_element(cur: Cursor, start: int) -> SchemaElementTest:
    name = eqname(cur)
    cur.expect(")")
    return SchemaElementTest(name, cur.span(start))


def _schema_attribute(cur: Cursor, start: int) -> SchemaAttributeTest:
    name = eqname(cur)
    cur.expect(")")
    return SchemaAttributeTest(name, cur.span(start))


KIND_TESTS: Final[dict[str, Callable[[Cursor, int], KindTest]]] = {
    "node": _empty(AnyKindTest),
    "text": _empty(TextTest),
    "comment": _empty(CommentTest),
    "namespace-node": _empty(NamespaceNodeTest),
    "processing-instruction": _pi,
    "document-node": _document,
    "element": _element,
    "attribute": _attribute,
    "schema-element": _schema_element,
    "schema-attribute": _schema_attribute,
}


def _item(cur: Cursor) -> AnyItemTest:
    start = cur.pos
    cur.take_word("item")
    cur.expect("(")
    cur.expect(")")
    return AnyItemTest(cur.span(start))


def _function(cur: Cursor) -> FunctionTest:
    return _function_test(cur, (), cur.pos)


def _function_test(cur: Cursor, annotations: tuple[Annotation, ...], start: int) -> FunctionTest:
    cur.expect_word("function")
    cur.expect("(")
    if cur.take("*"):
        cur.expect(")")
        return FunctionTest(annotations, span=cur.span(start))
    parameters = [] if cur.at(")") else [sequence_type(cur)]
    while cur.take(","):
        parameters.append(sequence_type(cur))
    cur.expect(")")
    cur.expect_word("as")
    return FunctionTest(annotations, tuple(parameters), sequence_type(cur), cur.span(start))


def _map(cur: Cursor) -> MapTest:
    start = cur.pos
    cur.take_word("map")
    cur.expect("(")
    if cur.take("*"):
        cur.expect(")")
        return MapTest(span=cur.span(start))
    begin = cur.pos
    key = NamedType(eqname(cur, "the name of a type"), cur.span(begin))
    cur.expect(",")
    value = sequence_type(cur)
    cur.expect(")")
    return MapTest(key, value, cur.span(start))


def _array(cur: Cursor) -> ArrayTest:
    start = cur.pos
    cur.take_word("array")
    cur.expect("(")
    member = None if cur.take("*") else sequence_type(cur)
    cur.expect(")")
    return ArrayTest(member, cur.span(start))


_ITEM_TYPES: Final[dict[str, Callable[[Cursor], ItemType]]] = {
    "item": _item,
    "function": _function,
    "map": _map,
    "array": _array,
}
