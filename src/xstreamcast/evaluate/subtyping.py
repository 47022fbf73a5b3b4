"""When one sequence type lies inside another: what function types need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.model.atomic import derives
from xstreamcast.model.sequence_type import (
    ANY,
    AnyItem,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    ItemType,
    NodeItem,
    SequenceType,
)

if TYPE_CHECKING:
    from xstreamcast.model.function_item import FunctionItem


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
        case _:
            return False


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
