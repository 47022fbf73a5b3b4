"""Whether one sequence type is a subtype of another, for function types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.model.atomic import ATOMIC, INTEGER, derives
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

if TYPE_CHECKING:
    from xstreamcast.model.function_item import FunctionItem


_ATOMIC = AtomicItem(ATOMIC["anyAtomicType"].tag)


def function_subtype(function: FunctionItem, wanted: FunctionType) -> bool:
    """Whether a function is an instance of the function type."""
    return item_subtype(FunctionType(function.parameters, function.result), wanted)


def subtype(inner: SequenceType, outer: SequenceType) -> bool:
    """Whether every sequence of the inner type has the outer type."""
    if inner.occurs == "none":
        return outer.at_least == 0
    if outer.occurs == "none" or inner.at_least < outer.at_least:
        return False
    fits = outer.at_most is None or (inner.at_most is not None and inner.at_most <= outer.at_most)
    return fits and item_subtype(inner.item, outer.item)


def item_subtype(inner: ItemType, outer: ItemType) -> bool:
    """Whether every item of the inner type has the outer type."""
    match inner, outer:
        case _, AnyItem():
            return True
        case AtomicItem(tag), AtomicItem(ancestor):
            return derives(tag, ancestor)
        case AtomicItem(tag), AtomicUnion(_, tags):
            return any(derives(tag, ancestor) for ancestor in tags)
        case AtomicUnion(_, tags), AtomicItem() | AtomicUnion():
            return all(item_subtype(AtomicItem(tag), outer) for tag in tags)
        case NodeItem(), NodeItem():
            return _node_subtype(inner, outer)
        case FunctionType(), FunctionType():
            return _function_subtype(inner, outer)
        case MapType(), MapType():
            return _map_subtype(inner, outer)
        case ArrayType(member), ArrayType(wanted):
            return wanted is None or subtype(member or ANY, wanted)
        case MapType() | ArrayType(), FunctionType():
            return _function_subtype(as_function(inner), outer)
        case _:
            return False


def _map_subtype(inner: MapType, outer: MapType) -> bool:
    if outer.key is None:
        return True
    keys = item_subtype(inner.key or _ATOMIC, outer.key)
    return keys and subtype(inner.value or ANY, outer.value or ANY)


def as_function(kind: MapType | ArrayType) -> FunctionType:
    """The function type of a map or an array type."""
    if isinstance(kind, ArrayType):
        return FunctionType((SequenceType(AtomicItem(INTEGER)),), kind.member or ANY)
    value = kind.value or ANY
    occurs: Occurs = {"one": "optional", "some": "many"}.get(value.occurs, value.occurs)  # type: ignore[assignment]
    return FunctionType((SequenceType(_ATOMIC),), SequenceType(value.item, occurs))


def _node_subtype(inner: NodeItem, outer: NodeItem) -> bool:
    if outer.kind == "node":
        return True
    names = outer.local in (None, inner.local) and outer.uri in (None, inner.uri)
    content = outer.content is None or (
        inner.content is not None and _node_subtype(inner.content, outer.content)
    )
    return (
        inner.kind == outer.kind and names and content and outer.type_tag in (None, inner.type_tag)
    )


def _function_subtype(inner: FunctionType, outer: FunctionType) -> bool:
    """Parameters may be wider, the result narrower."""
    if outer.parameters is None:
        return True
    if inner.parameters is None or len(inner.parameters) != len(outer.parameters):
        return False
    wider = all(map(subtype, outer.parameters, inner.parameters))
    return wider and subtype(inner.result or ANY, outer.result or ANY)
