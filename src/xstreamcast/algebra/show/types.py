"""Sequence types, node tests and names as a query would write them."""

from __future__ import annotations

from typing import Final, assert_never

from xstreamcast.functions.signature import PREFIXES
from xstreamcast.model.atomic import BY_TAG
from xstreamcast.model.sequence_type import (
    AnyItem,
    ArrayType,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    ItemType,
    MapType,
    NodeItem,
    SequenceType,
)

# Kinds whose test has another name than the kind.
KIND_TESTS: Final = {
    "document": "document-node",
    "pi": "processing-instruction",
    "namespace": "namespace-node",
}
_MARKS: Final = {"one": "", "optional": "?", "many": "*", "some": "+", "none": ""}
_PREFIX_OF: Final = {uri: prefix for prefix, uri in PREFIXES.items()}


def name_of(uri: str | None, local: str | None) -> str:
    """A resolved name: `*` for a wildcard, a usual prefix where there is one."""
    if uri is None:
        return "*" if local is None else f"*:{local}"
    if uri == "":
        return local or "Q{}*"
    prefix = _PREFIX_OF.get(uri)
    return f"{prefix}:{local or '*'}" if prefix else f"Q{{{uri}}}{local or '*'}"


def node_test(test: NodeItem, axis: str) -> str:
    """A node test: a bare name where it asks for the principal kind of the axis."""
    principal = "attribute" if axis == "attribute" else "element"
    if test.kind == principal and test.type_tag is None and (test.local or test.uri is not None):
        return name_of(test.uri, test.local)
    if test.kind == principal and test.type_tag is None:
        return "*"
    return item_type(test)


def sequence_type(kind: SequenceType) -> str:
    """A sequence type."""
    if kind.occurs == "none":
        return "empty-sequence()"
    shown, mark = item_type(kind.item), _MARKS[kind.occurs]
    return f"({shown}){mark}" if mark and isinstance(kind.item, FunctionType) else shown + mark


def item_type(kind: ItemType) -> str:
    """An item type."""
    match kind:
        case AnyItem():
            return "item()"
        case AtomicItem(tag):
            return f"xs:{BY_TAG[tag].name}"
        case AtomicUnion(name):
            return f"xs:{name}"
        case NodeItem():
            return f"{KIND_TESTS.get(kind.kind, kind.kind)}({_inside(kind)})"
        case FunctionType(None):
            return "function(*)"
        case FunctionType(parameters, result):
            shown = ", ".join(map(sequence_type, parameters or ()))
            return f"function({shown}) as {sequence_type(result) if result else 'item()*'}"
        case MapType(None):
            return "map(*)"
        case MapType(key, value):
            assert key is not None
            return f"map({item_type(key)}, {sequence_type(value) if value else 'item()*'})"
        case ArrayType(None):
            return "array(*)"
        case ArrayType(member):
            assert member is not None
            return f"array({sequence_type(member)})"
        case _:
            assert_never(kind)


def _inside(kind: NodeItem) -> str:
    if kind.content is not None:
        return item_type(kind.content)
    if kind.kind == "pi":
        return kind.local or ""
    named = kind.local is not None or kind.uri is not None
    name = name_of(kind.uri, kind.local) if named or kind.type_tag is not None else ""
    return name if kind.type_tag is None else f"{name}, xs:{BY_TAG[kind.type_tag].name}"
