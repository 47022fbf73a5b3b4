"""Items as others read them: lines of text, XML, records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.show.types import item_type
from xstreamcast.errors import Error
from xstreamcast.functions.call import CallContext, StaticContext
from xstreamcast.functions.cast import string_value
from xstreamcast.functions.serialization import serialized
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.model.array_item import ArrayItem
from xstreamcast.model.atomic import (
    ARRAY,
    BY_TAG,
    FUNCTION,
    FUNCTIONS,
    MAP,
    MIXED,
    NODE,
    PRIMITIVE,
    QNAME,
)
from xstreamcast.model.items import Items
from xstreamcast.model.map_item import MapItem
from xstreamcast.model.sequence_type import FunctionType
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    KIND_NAMES,
    NAMESPACE,
    PI,
    TEXT,
)

if TYPE_CHECKING:
    from xstreamcast.model.function_item import FunctionItem
    from xstreamcast.tape.store import Store

_BATCH = 4096


def lines(store: Store, items: Items) -> Iterator[str]:
    """One line an item: nodes as XML, maps and arrays as JSON, atomic values as strings.

    What JSON has no form for (a function, a sequence of several items as a member) is written as a
    query author would write it.
    """

    def of_atom(tag: int, value: Any) -> str:
        return json_line(store, tag, value) if tag in FUNCTIONS else string_value(tag, value)

    return _each(store, items, _node_text, of_atom)


def json_line(store: Store, tag: int, value: Any) -> str:
    """A map or an array as JSON, where it has a form; else in the form of the language."""
    from xstreamcast.evaluate.context import now

    item, call = Items.of(tag, [value]), CallContext(1, store, StaticContext(), now())
    try:
        return serialized(call, item, Parameters(method="json"))
    except Error:
        return serialized(call, item, Parameters(method="adaptive"))


def records(store: Store, items: Items) -> Iterator[dict[str, Any]]:
    """One record an item: {"t": type, "v": text} for atomic values, {"n": kind, …} for nodes.

    A map is {"t": "map", "v": [[key, items], …]}, an array {"t": "array", "v": [items, …]}, a
    function {"t": "function", "arity": n, "type": signature} with "name" and "ns" if it has any.
    """

    def of_atom(tag: int, value: Any) -> dict[str, Any]:
        if tag in (MAP, ARRAY):
            return _structured(store, value)
        return _function_record(value) if tag == FUNCTION else _atomic_record(tag, value)

    return _each(store, items, _node_record, of_atom)


def _structured(store: Store, value: MapItem | ArrayItem) -> dict[str, Any]:
    column = value.own_values() if isinstance(value, MapItem) else value.members()
    flat, bounds = list(records(store, column.items)), column.bounds().tolist()
    rows = [flat[a:b] for a, b in pairwise(bounds)]
    if isinstance(value, MapItem):
        keys = records(store, value.own_keys())
        return {"t": "map", "v": [[key, row] for key, row in zip(keys, rows, strict=True)]}
    return {"t": "array", "v": rows}


def _function_record(value: FunctionItem) -> dict[str, Any]:
    shown = item_type(FunctionType(value.parameters, value.result))
    record: dict[str, Any] = {"t": "function", "arity": value.arity, "type": shown}
    if value.name is not None:
        record |= {"name": value.name[1], "ns": value.name[0]}
    return record


def _each(
    store: Store,
    items: Items,
    of_node: Callable[[Store, int, int, bytes], Any],
    of_atom: Callable[[int, Any], Any],
) -> Iterator[Any]:
    for at in range(0, len(items), _BATCH):
        part = items.slice(at, min(at + _BATCH, len(items)))
        if part.tag not in (NODE, MIXED):
            yield from (of_atom(part.tag, value) for value in part.values.tolist())
            continue
        nodes = np.flatnonzero(part.all_tags() == NODE)
        handles = part.values[nodes].astype(np.int64)
        codes = store.kinds(handles)
        if of_node is _node_text and len(nodes) == len(part) and (codes == ELEMENT).all():
            yield from (xml.decode() for xml in store.serialize_all(handles))
            continue
        kinds = codes.tolist()
        written = iter(zip(handles.tolist(), kinds, _xml(store, handles, kinds), strict=True))
        for tag, value in part.pairs():
            yield of_node(store, *next(written)) if tag == NODE else of_atom(tag, value)


def _xml(store: Store, handles: Any, kinds: list[int]) -> list[bytes]:
    """The XML of elements and documents; nothing for the other kinds."""
    whole = np.array([kind in (ELEMENT, DOCUMENT) for kind in kinds], np.bool_)
    found = iter(store.serialize_all(handles[whole]))
    return [next(found) if wanted else b"" for wanted in whole]


def _node_text(store: Store, handle: int, kind: int, xml: bytes) -> str:
    if kind in (ELEMENT, DOCUMENT):
        return xml.decode()
    value = string_of(store, handle)
    name = _name(store, handle)[0]
    match kind:
        case 2:
            return f'{name}="{_escaped(value, True)}"'
        case 3:
            return _escaped(value, False)
        case 4:
            return f"<!--{value}-->"
        case 5:
            return f"<?{name} {value}?>" if value else f"<?{name}?>"
        case _:
            return f'xmlns:{name}="{_escaped(value, True)}"' if name else f'xmlns="{value}"'


def _escaped(text: str, attribute: bool) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = text.replace("\r", "&#xD;")
    if attribute:
        text = text.replace('"', "&quot;").replace("\n", "&#xA;").replace("\t", "&#x9;")
    return text


def _node_record(store: Store, handle: int, kind: int, xml: bytes) -> dict[str, Any]:
    kind_name = KIND_NAMES[kind]
    if kind in (ELEMENT, DOCUMENT):
        return {"n": kind_name, "xml": xml.decode()}
    record: dict[str, Any] = {"n": kind_name, "v": string_of(store, handle)}
    if kind in (ATTRIBUTE, PI, NAMESPACE):
        name, uri = _name(store, handle)
        record |= {"name": name, "ns": uri} if kind == ATTRIBUTE else {"name": name}
    return record


def _atomic_record(tag: int, value: Any) -> dict[str, Any]:
    record = {"t": f"xs:{BY_TAG[tag].name}", "v": string_value(tag, value)}
    return record | {"ns": value.uri} if PRIMITIVE[tag] == QNAME else record


def string_of(store: Store, handle: int) -> str:
    """The string value of one node."""
    value: str = store.strings(np.array([handle], np.int64))[0]
    return value


def _name(store: Store, handle: int) -> tuple[str, str]:
    """(lexical name, namespace) of a node; empty where it has none."""
    number = int(store.name_ids(np.array([handle], np.int64))[0])
    if number < 0:
        return "", ""
    prefix, local, uri = store.names.qname(number)
    return (f"{prefix}:{local}" if prefix else local), uri


__all__ = ["COMMENT", "TEXT", "lines", "records", "string_of"]
