"""Sequence types and node tests, as text."""

from __future__ import annotations

from typing import assert_never

from xstreamcast.syntax.printing.literals import braced, literal, name, quoted
from xstreamcast.syntax.tree import (
    Annotation,
    AnyItemTest,
    AnyKindTest,
    AnyLocal,
    AnyName,
    AnyNamespace,
    ArrayTest,
    AttributeTest,
    CommentTest,
    DocumentTest,
    ElementTest,
    FunctionTest,
    ItemType,
    MapTest,
    Name,
    NamedType,
    NamespaceNodeTest,
    NameTest,
    NodeTest,
    PITest,
    SchemaAttributeTest,
    SchemaElementTest,
    SingleType,
    TextTest,
    TypeExpr,
)


def declared(found: TypeExpr | None) -> str:
    """` as T`, or nothing."""
    return f" as {sequence_type(found)}" if found else ""


def sequence_type(found: TypeExpr) -> str:
    """`T*`; a function type keeps its occurrence to itself by parentheses."""
    if found.item is None:
        return "empty-sequence()"
    item = item_type(found.item)
    if isinstance(found.item, FunctionTest) and found.occurrence:
        item = f"({item})"
    return item + found.occurrence


def single_type(found: SingleType) -> str:
    """The target of a cast."""
    return name(found.name) + ("?" if found.optional else "")


def annotation_marks(found: tuple[Annotation, ...]) -> str:
    """`%a %b(1) `, with a space behind each."""
    return "".join(_annotation(a) + " " for a in found)


def _annotation(found: Annotation) -> str:
    values = ", ".join(literal(v) for v in found.values)
    return f"%{name(found.name)}({values})" if values else f"%{name(found.name)}"


def item_type(found: ItemType) -> str:
    """One item type."""
    match found:
        case AnyItemTest():
            return "item()"
        case NamedType(type_name):
            return name(type_name)
        case FunctionTest():
            return _function(found)
        case MapTest(None) | MapTest(_, None):
            return "map(*)"
        case MapTest(key, value):
            assert key is not None
            assert value is not None
            return f"map({item_type(key)}, {sequence_type(value)})"
        case ArrayTest(member):
            return f"array({sequence_type(member) if member else '*'})"
        case _:
            return node_test(found)


def _function(found: FunctionTest) -> str:
    marks = annotation_marks(found.annotations)
    if found.parameters is None or found.result is None:
        return f"{marks}function(*)"
    parameters = ", ".join(sequence_type(p) for p in found.parameters)
    return f"{marks}function({parameters}) as {sequence_type(found.result)}"


def node_test(found: NodeTest) -> str:
    """A kind test or a name test."""
    match found:
        case NameTest(test_name):
            return name(test_name)
        case AnyName():
            return "*"
        case AnyLocal(prefix, None):
            return f"{prefix}:*"
        case AnyLocal(_, uri):
            return braced(uri or "") + "*"
        case AnyNamespace(local):
            return f"*:{local}"
        case AnyKindTest():
            return "node()"
        case TextTest():
            return "text()"
        case CommentTest():
            return "comment()"
        case NamespaceNodeTest():
            return "namespace-node()"
        case PITest(target):
            return f"processing-instruction({quoted(target) if target is not None else ''})"
        case DocumentTest(element):
            return f"document-node({node_test(element) if element else ''})"
        case ElementTest(test_name, type_name, nillable):
            return f"element({_named(test_name, type_name)}{'?' if nillable else ''})"
        case AttributeTest(test_name, type_name):
            return f"attribute({_named(test_name, type_name)})"
        case SchemaElementTest(test_name):
            return f"schema-element({name(test_name)})"
        case SchemaAttributeTest(test_name):
            return f"schema-attribute({name(test_name)})"
        case _:
            assert_never(found)


def _named(found: Name | None, type_name: Name | None) -> str:
    """`a, T`, `*, T`, `a` or nothing."""
    if type_name is not None:
        return f"{name(found) if found else '*'}, {name(type_name)}"
    return name(found) if found else ""
