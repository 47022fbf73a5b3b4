"""Sequence types, node tests and cast targets with their names resolved."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final, assert_never

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.annotations import check_test
from xstreamcast.algebra.lowering.scope import Scope
from xstreamcast.errors import Span
from xstreamcast.functions.signature import NUMERIC, XS
from xstreamcast.model.atomic import ATOMIC, UNTYPED
from xstreamcast.model.sequence_type import (
    ANY,
    AnyItem,
    ArrayType,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    ItemType,
    MapType,
    NodeItem,
    Occurs,
    SequenceType,
)
from xstreamcast.model.xml_names import NCNAME
from xstreamcast.syntax import tree as t

_OCCURS: Final[dict[str, Occurs]] = {
    "": "one",
    "?": "optional",
    "*": "many",
    "+": "some",
    "**": "many",
}
_UNIONS: Final = {"numeric": NUMERIC, "error": AtomicUnion("error", ())}
LISTS: Final = {"NMTOKENS": "NMTOKEN", "IDREFS": "IDREF", "ENTITIES": "ENTITY"}
_ABSTRACT: Final = frozenset({"NOTATION", "anyAtomicType", "anySimpleType"})
# Types of the schema language that are no atomic types; nodes may be tested for them.
_COMPLEX: Final = frozenset({"anyType", "anySimpleType", "untyped", *LISTS})


def sequence_type(kind: t.TypeExpr | None, scope: Scope) -> SequenceType:
    """A sequence type; none written means any."""
    if kind is None:
        return ANY
    if kind.item is None:
        return SequenceType(AnyItem(), "none")
    element = _element_in_stream(kind, scope)
    item = item_type(kind.item, scope) if element is None else element
    return SequenceType(item, _OCCURS[kind.occurrence])


def _element_in_stream(kind: t.TypeExpr, scope: Scope) -> NodeItem | None:
    """(temp)** is how FORSEQ writes a stream of temp elements: no type has such a name."""
    if kind.occurrence != "**" or not isinstance(kind.item, t.NamedType):
        return None
    uri, local = scope.expand_element(kind.item.name)
    return None if uri == XS else NodeItem("element", uri, local)


def item_type(kind: t.ItemType, scope: Scope) -> ItemType:
    """An item type."""
    match kind:
        case t.AnyItemTest():
            return AnyItem()
        case t.NamedType(name):
            return _atomic(name, scope)
        case t.FunctionTest(annotations, None):
            check_test(annotations, scope)
            return FunctionType()
        case t.FunctionTest(annotations, parameters, result):
            check_test(annotations, scope)
            given = tuple(sequence_type(one, scope) for one in parameters or ())
            return FunctionType(given, sequence_type(result, scope))
        case t.MapTest(None):
            return MapType()
        case t.MapTest(key, value):
            assert key is not None
            return MapType(_map_key(key, scope), sequence_type(value, scope))
        case t.ArrayTest(None):
            return ArrayType()
        case t.ArrayTest(member):
            return ArrayType(sequence_type(member, scope))
        case _:
            return node_item(kind, scope)


def _map_key(key: t.NamedType, scope: Scope) -> AtomicItem | AtomicUnion:
    found = _atomic(key.name, scope)
    assert isinstance(found, AtomicItem | AtomicUnion)
    return found


def node_test(test: t.NodeTest, axis: str, scope: Scope) -> NodeItem:
    """The test of a step; a name asks for the principal kind of the axis."""
    principal = "attribute" if axis == "attribute" else "element"
    match test:
        case t.AnyName():
            return NodeItem(principal)  # type: ignore[arg-type]
        case t.NameTest(name):
            expand = scope.expand_element if principal == "element" else scope.expand_variable
            return NodeItem(principal, *expand(name))  # type: ignore[arg-type]
        case t.AnyLocal(prefix, uri):
            found = scope.uri_of_prefix(prefix, test.span) if uri is None else uri
            return NodeItem(principal, found)  # type: ignore[arg-type]
        case t.AnyNamespace(local):
            return NodeItem(principal, None, local)  # type: ignore[arg-type]
        case _:
            return node_item(test, scope)


def node_item(test: t.KindTest, scope: Scope) -> NodeItem:
    """A kind test."""
    match test:
        case t.AnyKindTest():
            return NodeItem("node")
        case t.TextTest():
            return NodeItem("text")
        case t.CommentTest():
            return NodeItem("comment")
        case t.NamespaceNodeTest():
            return NodeItem("namespace")
        case t.PITest(target):
            return NodeItem("pi", None, _pi_target(target, test.span, scope))
        case t.DocumentTest(None):
            return NodeItem("document")
        case t.DocumentTest(element):
            assert element is not None
            return NodeItem("document", content=node_item(element, scope))
        case t.ElementTest(name, kind):
            uri, local = (None, None) if name is None else scope.expand_element(name)
            return NodeItem("element", uri, local, _annotation(kind, "element", scope))
        case t.AttributeTest(name, kind):
            uri, local = (None, None) if name is None else scope.expand_variable(name)
            return NodeItem("attribute", uri, local, _annotation(kind, "attribute", scope))
        case t.SchemaElementTest(name) | t.SchemaAttributeTest(name):
            scope.expand_element(name)
            sentence = f"no schema declares {name}: schema import is not supported"
            raise scope.fail("XPST0008", sentence, test.span)
        case _:
            assert_never(test)


def _pi_target(target: str | None, span: Span, scope: Scope) -> str | None:
    """The name of a processing instruction, written as such or as a string (else XPTY0004)."""
    if target is None:
        return None
    name = target.strip(" \t\r\n")
    if not NCNAME.fullmatch(name):
        raise scope.fail("XPTY0004", f"{target!r} cannot name a processing instruction", span)
    return name


def _annotation(kind: t.Name | None, node: str, scope: Scope) -> int | None:
    """The type a node must have, None if every untyped node has it.

    Without schemas elements are xs:untyped and attributes xs:untypedAtomic, so any tag that is
    left matches no node.
    """
    if kind is None:
        return None
    uri, local = scope.expand_element(kind)
    if uri != XS or not (local in ATOMIC or local in _COMPLEX):
        raise scope.fail("XPST0008", f"the type {kind} is not known", kind.span, _near(local))
    if local in ("anyType", "untyped") and node == "element":
        return None
    if (
        local in ("anyType", "anySimpleType", "anyAtomicType", "untypedAtomic")
        and node != "element"
    ):
        return None
    return ATOMIC[local].tag if local in ATOMIC else UNTYPED


def cast_target(kind: t.SingleType, scope: Scope) -> p.CastTarget:
    """The type after `cast as`: XPST0080 for abstract ones, XQST0052 for what is no simple type."""
    uri, local = scope.expand_element(kind.name)
    if uri == XS and local in _ABSTRACT:
        raise scope.fail("XPST0080", f"nothing can be cast to xs:{local}", kind.span)
    found = constructible(local) if uri == XS else None
    if found is None:
        raise scope.fail("XQST0052", f"{kind.name} is no simple type", kind.span, _near(local))
    return found


def constructible(local: str) -> p.CastTarget | None:
    """The type that a constructor function xs:local makes."""
    if local in LISTS:
        return p.ListTarget(local, ATOMIC[LISTS[local]].tag)
    if local in _UNIONS:
        return _UNIONS[local]
    return AtomicItem(ATOMIC[local].tag) if local in ATOMIC and local not in _ABSTRACT else None


def _atomic(name: t.Name, scope: Scope) -> ItemType:
    uri, local = scope.expand_element(name)
    if uri == XS and local in _UNIONS:
        return _UNIONS[local]
    if uri != XS or local not in ATOMIC:
        raise scope.fail("XPST0051", f"{name} is no atomic type", name.span, _near(local))
    return AtomicItem(ATOMIC[local].tag)


def _near(local: str) -> str | None:
    found = get_close_matches(local, list(ATOMIC), 1)
    return f"did you mean xs:{found[0]}?" if found else f"an element is element({local})"


def check(value: p.Expression, kind: SequenceType, role: str, span: Span) -> p.Expression:
    """The value of a variable whose type is declared: matched, never converted."""
    return value if kind == ANY else p.Treat(value, kind, "XPTY0004", role, span=span)
