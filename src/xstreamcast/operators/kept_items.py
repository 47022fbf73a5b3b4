"""Items with their nodes, written so that they can be read again elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.model.atomic import NODE
from xstreamcast.model.items import Items
from xstreamcast.model.markup import escape, quoteattr
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, KIND, KIND_NAMES, NAMESPACE
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.tape.layout import Tape

Kept = tuple[Items, dict[int, "Tape"]]  # items, and the tapes of their nodes
_CR: Final = {"\r": "&#xD;"}
_IN_ATTRIBUTE: Final = {"\r": "&#xD;", "\n": "&#xA;", "\t": "&#x9;"}


class UnwrittenNode(Exception):
    """A node that is not what an element contains or carries: a document, a namespace."""


def placed(kept: Mapping[str, Kept], store: Store) -> dict[str, Items]:
    """Items by unit with their nodes in a store, to which each tape is added once."""
    added: dict[int, int] = {}
    return {key: moved(*one, store, added) for key, one in kept.items()}


def moved(items: Items, tapes: dict[int, Tape], store: Store, added: dict[int, int]) -> Items:
    """The items with handles into another store, to which their tapes are added once."""
    if not tapes:
        return items
    numbers = {}
    for number, tape in tapes.items():
        if id(tape) not in added:
            added[id(tape)] = store.add(tape)
        numbers[number] = added[id(tape)]
    values: list[Any] = [
        (numbers[int(value) >> 32] << 32) | (int(value) & 0xFFFFFFFF) if tag == NODE else value
        for tag, value in items.pairs()
    ]
    return Items.mixed(items.all_tags().tolist(), values)


def written(kept: Mapping[str, Items], store: Store) -> Any:
    """Items by unit, in words: atomic values as they are, nodes as XML."""
    return {key: [_item(*one, store) for one in items.pairs()] for key, items in kept.items()}


def _item(tag: int, value: Any, store: Store) -> tuple[int, Any]:
    return (tag, _node(store, int(value))) if tag == NODE else (tag, value)


def _node(store: Store, handle: int) -> tuple[int, bytes]:
    """The kind of a node, and an element that contains or carries it."""
    kind = int(store.kinds(np.array([handle], np.int64))[0])
    value = store.strings(np.array([handle], np.int64))[0] if kind != ELEMENT else ""
    match KIND_NAMES[kind]:
        case "element" | "comment" | "pi":
            return kind, b"<n>" + store.serialize(handle) + b"</n>"
        case "attribute":
            prefix, local, uri = store.names.qname(int(store.name_ids(np.array([handle]))[0]))
            bound = f" xmlns:{prefix}={quoteattr(uri)}" if prefix and prefix != "xml" else ""
            name = f"{prefix}:{local}" if prefix else local
            return kind, f"<n{bound} {name}={quoteattr(value, _IN_ATTRIBUTE)}/>".encode()
        case "text":
            return kind, f"<n>{escape(value, _CR)}</n>".encode()
        case _:
            raise UnwrittenNode


def read(snapshot: Any) -> dict[str, Kept]:
    """Items by unit, from what was written; their nodes are on one tape."""
    nodes = [value for items in snapshot.values() for tag, value in items if tag == NODE]
    if not nodes:
        return {key: (_items(items, iter(())), {}) for key, items in snapshot.items()}
    store = Store()
    store.read(b"<r>" + b"".join(xml for _, xml in nodes) + b"</r>")
    tape = store.tape(0)
    found = iter(_rows(tape, [kind for kind, _ in nodes]))
    return {key: (_items(items, found), {0: tape}) for key, items in snapshot.items()}


def _items(items: list[tuple[int, Any]], rows: Any) -> Items:
    tags = [tag for tag, _ in items]
    return Items.mixed(tags, [next(rows) if tag == NODE else value for tag, value in items])


def _rows(tape: Tape, kinds: list[int]) -> list[int]:
    """The rows of the nodes: the first of their kind in the elements around them."""
    c = tape.columns
    out, row = [], 2  # behind the document node and the root
    for kind in kinds:
        at = row + 1
        while kind == ATTRIBUTE and (c.kind[at] & KIND) == NAMESPACE:
            at += 1
        out.append(at)
        row += int(c.size[row]) + 1
    return out
