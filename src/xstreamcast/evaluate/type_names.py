"""Types and items in the words of the language, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import numpy as np

from xstreamcast.model.atomic import BY_TAG, FUNCTION, NODE
from xstreamcast.model.sequence_type import (
    AnyItem,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    ItemType,
    NodeItem,
    SequenceType,
)
from xstreamcast.tape.layout import KIND_NAMES

if TYPE_CHECKING:
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store

_MARKS = {"one": "", "optional": "?", "many": "*", "some": "+"}
_TESTS = {
    "document": "document-node",
    "pi": "processing-instruction",
    "namespace": "namespace-node",
}


def type_name(wanted: SequenceType) -> str:
    """The sequence type as a query would write it."""
    if wanted.occurs == "none":
        return "empty-sequence()"
    name = item_type_name(wanted.item)
    mark = _MARKS[wanted.occurs]
    return f"({name}){mark}" if mark and " as " in name else name + mark


def item_type_name(item: ItemType) -> str:
    """The item type as a query would write it."""
    match item:
        case AnyItem():
            return "item()"
        case AtomicItem(tag):
            return f"xs:{BY_TAG[tag].name}"
        case AtomicUnion(name):
            return f"xs:{name}"
        case NodeItem():
            return f"{_TESTS.get(item.kind, item.kind)}({_inside(item)})"
        case FunctionType(None):
            return "function(*)"
        case FunctionType(parameters, result):
            inside = ", ".join(map(type_name, parameters or ()))
            return f"function({inside}) as {type_name(result) if result else 'item()*'}"
        case _:
            assert_never(item)


def _inside(item: NodeItem) -> str:
    if item.content is not None:
        return item_type_name(item.content)
    if item.local is None and item.uri is None:
        return ""
    return f"Q{{{item.uri}}}{item.local or '*'}" if item.uri else item.local or "*"


def item_name(store: Store, item: Items) -> str:
    """What a single item is."""
    tag = int(item.all_tags()[0])
    if tag == NODE:
        kind = KIND_NAMES[int(store.kinds(item.values.astype(np.int64))[0])]
        return f"{_TESTS.get(kind, kind)}()"
    return "a function" if tag == FUNCTION else f"xs:{BY_TAG[tag].name}"
