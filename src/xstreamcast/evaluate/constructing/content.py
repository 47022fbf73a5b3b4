"""Content of constructors: sequences of items as text and copied nodes, for every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.constructing.slots import (
    MANY,
    Slot,
    Slots,
    is_text,
    node_slots,
    text_slots,
)
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import strings
from xstreamcast.model.array_item import flattened
from xstreamcast.model.atomic import FUNCTIONS, NODE, STRING
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.layout import ATTRIBUTE, TEXT

if TYPE_CHECKING:
    from xstreamcast.evaluate.constructing.node_writer import NodeWriter
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column, Ints
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store

Write: TypeAlias = "Callable[[NodeWriter, int], None]"


@dataclass(frozen=True, slots=True)
class ContentWriter:
    """How something is written: row by row, and for all rows at once where its shape allows it."""

    write: Write
    slots: Slots | None = None


def one_after_the_other(parts: Sequence[ContentWriter]) -> ContentWriter:
    """Several parts of some content."""

    def write(writer: NodeWriter, row: int) -> None:
        for part in parts:
            part.write(writer, row)

    return ContentWriter(write, all_slots(parts))


def all_slots(parts: Sequence[ContentWriter]) -> Slots | None:
    """Those of all parts; None if one has none."""
    found: list[Slot] = []
    for part in parts:
        if part.slots is None:
            return None
        found += part.slots
    return tuple(found)


def joined(frame: Frame, column: Column) -> list[str]:
    """The atomised items of each row as strings with single spaces between them."""
    column = atomize(frame.context.store, column)
    texts = _strings(column.items)
    if column.offsets is None:
        return texts
    bounds = column.offsets.tolist()
    return [" ".join(texts[a:b]) for a, b in pairwise(bounds)]


def _strings(items: Items) -> list[str]:
    found: list[str] = (items.values if items.tag == STRING else strings(items)).tolist()
    return found


def prepared(frame: Frame, plan: p.Expression) -> ContentWriter:
    """How the items of an expression are written into content."""
    match plan:
        case p.Const(atoms=(p.Atom(tag, value),)) if tag == STRING:
            return ContentWriter(lambda writer, row: writer.text(value), _constant(value))
        case _:
            return _written(frame, evaluate(plan, frame))


def _constant(value: str) -> Slots:
    return (Slot(TEXT, text=value.encode()),) if value else ()


def _written(frame: Frame, column: Column) -> ContentWriter:
    store = frame.context.store
    column = flattened(column)
    if is_text(column):
        texts = joined(frame, column)
        slots = text_slots(texts) if frame.n >= MANY else None
        return ContentWriter(lambda writer, row: writer.text(texts[row]), slots)
    slots = node_slots(store, column) if frame.n >= MANY else None
    return ContentWriter(_by_entries(store, column), slots)


def _by_entries(store: Store, column: Column) -> Write:
    @cache
    def known() -> tuple[list[int], list[Entry]]:
        return column.bounds().tolist(), _entries(store, column.items)

    def write(writer: NodeWriter, row: int) -> None:
        bounds, entries = known()
        previous = False  # whether an atomic value came just before: a space goes between two
        for i in range(bounds[row], bounds[row + 1]):
            entry = entries[i]
            if isinstance(entry, str):
                writer.text(" " + entry if previous else entry)
                previous = True
            else:
                writer.node(*entry)
                previous = False

    return write


Entry: TypeAlias = "str | tuple[int, int, str, int]"


def _entries(store: Store, items: Items) -> list[Entry]:
    """Text for atomic values; (handle, kind, value, name) for nodes."""
    if items.tag == NODE:
        return _nodes(store, items.values)
    tags = items.all_tags()
    if items.kinds() & FUNCTIONS:
        raise error("XQTY0105")
    at = np.flatnonzero(tags == NODE)
    if not len(at):
        return [*_strings(items)]
    found: list[Entry] = [""] * len(items)
    for i, entry in zip(at.tolist(), _nodes(store, items.values[at].astype(np.int64)), strict=True):
        found[i] = entry
    others = np.flatnonzero(tags != NODE)
    for i, text in zip(others.tolist(), _strings(items.take(others)), strict=True):
        found[i] = text
    return found


def _nodes(store: Store, handles: Ints) -> list[Entry]:
    kinds = store.kinds(handles)
    values = np.full(len(handles), "", object)
    light = np.flatnonzero((kinds == TEXT) | (kinds == ATTRIBUTE))
    if len(light):
        values[light] = store.strings(handles[light])
    names = store.name_ids(handles).tolist()
    return list(zip(handles.tolist(), kinds.tolist(), values.tolist(), names, strict=True))
