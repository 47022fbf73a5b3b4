"""Which items belong to an item type: used by `instance of`, typeswitch and conversions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final, assert_never

import numpy as np

from xstreamcast.evaluate.typing.subtyping import function_subtype, subtype
from xstreamcast.model.atomic import (
    ARRAY,
    ATOMIC,
    BY_TAG,
    FUNCTIONS,
    MAP,
    MIXED,
    NODE,
    derives,
)
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
    SequenceType,
)
from xstreamcast.tape.layout import ELEMENT, KIND_NAMES, TEXT

if TYPE_CHECKING:
    from xstreamcast.model.array_item import ArrayItem
    from xstreamcast.model.column import Bools, Column, Ints
    from xstreamcast.model.items import Items
    from xstreamcast.model.map_item import MapItem
    from xstreamcast.tape.store import Store


def instance_of(store: Store, column: Column, wanted: SequenceType) -> Bools:
    """For each row, whether its sequence has the type."""
    fits = cardinality(column, wanted)
    matched = matches(store, column.items, wanted.item)
    if not matched.all():
        fits = fits.copy()
        fits[column.rows()[~matched]] = False
    return fits


_YES: Final = np.ones(1, np.bool_)
_NO: Final = np.zeros(1, np.bool_)


def cardinality(column: Column, wanted: SequenceType) -> Bools:
    """For each row, whether it has as many items as the type allows."""
    if column.n == 1:
        count, most = len(column.items), wanted.at_most
        return _YES if count >= wanted.at_least and (most is None or count <= most) else _NO
    lengths = column.lengths()
    fits: Bools = lengths >= wanted.at_least
    return fits if wanted.at_most is None else fits & (lengths <= wanted.at_most)


def matches(store: Store, items: Items, wanted: ItemType) -> Bools:
    """For each item, whether it has the type."""
    match wanted:
        case AnyItem():
            return np.ones(len(items), np.bool_)
        case AtomicItem(tag):
            return _by_tag(items, (tag,))
        case AtomicUnion(_, tags):
            return _by_tag(items, tags)
        case NodeItem():
            return _nodes(store, items, wanted)
        case FunctionType():
            return _each(items, FUNCTIONS, lambda tag, f: _is_function(store, tag, f, wanted))
        case MapType():
            return _each(items, {MAP}, lambda _, value: _is_map(store, value, wanted))
        case ArrayType():
            return _each(items, {ARRAY}, lambda _, value: _is_array(store, value, wanted))
        case _:
            assert_never(wanted)


def _by_tag(items: Items, wanted: tuple[int, ...]) -> Bools:
    if items.tag != MIXED:
        fits = any(derives(items.tag, tag) for tag in wanted)
        return np.full(len(items), fits, np.bool_)
    table = np.zeros(256, np.bool_)
    for tag in BY_TAG:
        table[tag] = any(derives(tag, ancestor) for ancestor in wanted)
    return table[items.all_tags()]


def _nodes(store: Store, items: Items, wanted: NodeItem) -> Bools:
    if items.tag == NODE:
        return node_matches(store, items.values, wanted)
    fits = np.zeros(len(items), np.bool_)
    if items.tag == MIXED:
        where = np.flatnonzero(items.all_tags() == NODE)
        fits[where] = node_matches(store, items.values[where].astype(np.int64), wanted)
    return fits


def node_matches(store: Store, nodes: Ints, wanted: NodeItem) -> Bools:
    """For each node, whether a kind test accepts it."""
    if wanted.kind == "node":
        return np.ones(len(nodes), np.bool_)
    fits: Bools = store.kinds(nodes) == KIND_NAMES.index(wanted.kind)
    if wanted.uri is not None or wanted.local is not None:
        fits &= _named(store, nodes, wanted)
    if wanted.type_tag is not None:
        fits &= wanted.type_tag in _UNTYPED_TYPES[wanted.kind]
    if wanted.content is not None:
        fits[fits] = _document_of(store, nodes[fits], wanted.content)
    return fits


# What an unvalidated node is annotated with, as far as an atomic type can say it.
_UNTYPED_TYPES = {
    "attribute": (ATOMIC["untypedAtomic"].tag, ATOMIC["anyAtomicType"].tag),
    "element": (),
}


def _named(store: Store, nodes: Ints, wanted: NodeItem) -> Bools:
    lookup = store.names.matching(wanted.local, wanted.uri)
    ids = store.name_ids(nodes)
    return (
        (ids >= 0) & lookup[np.maximum(ids, 0)] if len(lookup) else np.zeros(len(nodes), np.bool_)
    )


def _document_of(store: Store, documents: Ints, content: NodeItem) -> Bools:
    """Whether each document has one element, which the test accepts, and no text."""
    from xstreamcast.tape.steps.axes import NodeTest

    rows, children = store.step(documents, "child", NodeTest.node())
    kinds = store.kinds(children)
    counts = [
        np.bincount(rows[kinds == kind], minlength=len(documents)) for kind in (ELEMENT, TEXT)
    ]
    accepted = np.zeros(len(documents), np.bool_)
    accepted[rows[node_matches(store, children, content)]] = True
    found: Bools = (counts[0] == 1) & (counts[1] == 0) & accepted
    return found


def _each(items: Items, tags: Collection[int], fits: Callable[[int, Any], bool]) -> Bools:
    """For each item, whether it has one of the tags and fits."""
    if not items.kinds() & frozenset(tags):
        return np.zeros(len(items), np.bool_)
    found = (tag in tags and fits(tag, value) for tag, value in items.pairs())
    return np.fromiter(found, np.bool_, len(items))


def _is_function(store: Store, tag: int, function: Any, wanted: FunctionType) -> bool:
    """A map is a function from any atomic value, an array one from positions."""
    if tag not in (MAP, ARRAY) or wanted.parameters is None:
        return tag in (MAP, ARRAY) or function_subtype(function, wanted)
    if len(wanted.parameters) != 1:
        return False
    if not subtype(wanted.parameters[0], function.parameters[0]):
        return False
    values = function.own_values() if tag == MAP else function.members()
    result = wanted.result or ANY
    empty = tag == ARRAY or result.at_least == 0  # a map returns () for a missing key
    return empty and bool(instance_of(store, values, result).all())


def _is_map(store: Store, value: MapItem, wanted: MapType) -> bool:
    if wanted.key is None:
        return True
    fits = matches(store, value.own_keys(), wanted.key).all()
    return bool(fits and instance_of(store, value.own_values(), wanted.value or ANY).all())


def _is_array(store: Store, value: ArrayItem, wanted: ArrayType) -> bool:
    if wanted.member is None:
        return True
    return bool(instance_of(store, value.members(), wanted.member).all())
