"""Constructed nodes written for all rows at once, where every row has events of the same shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.model.atomic import FUNCTIONS, MIXED, NODE
from xstreamcast.model.column import ranges
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.layout import COMMENT, DOCUMENT, ELEMENT, KIND, PI, TEXT
from xstreamcast.tape.writing.builder import OPERATIONS, Builder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.algebra.plan import CopyMode
    from xstreamcast.model.column import Column, Ints
    from xstreamcast.tape.store import Store

# By kind, whether nodes of it are no content. A table: `isin` costs ten times as much for a few.
_REFUSED: Final = np.ones(KIND + 1, np.bool_)
_REFUSED[[ELEMENT, TEXT, COMMENT, PI, DOCUMENT]] = False
MANY: Final = 16  # rows from which arrays are cheaper than a loop; fewer need no slots
COPY: Final = OPERATIONS["copy"]
END: Final = OPERATIONS["end"]


@dataclass(frozen=True, slots=True)
class Slot:
    """Events at one place of every row: one each, or `counts` of them.

    `op`, `text` and `handle` are one for all events, or one for each.
    """

    op: Any
    name: int = -1
    text: Any = b""
    handle: Any = -1
    counts: Ints | None = None


Slots = tuple[Slot, ...]


def node_slots(store: Store, column: Column) -> Slots | None:
    """Copies of the nodes of each row; None if attributes or namespaces are among them."""
    if column.items.tag != NODE:
        return None
    handles = column.items.values
    kinds = store.kinds(handles)
    if _REFUSED[kinds].any():
        return None
    text = np.flatnonzero(kinds == TEXT)
    texts = np.full(len(handles), b"", object)
    texts[text] = encoded(store.strings(handles[text]).tolist())
    copied = np.where(kinds == TEXT, np.int64(-1), handles)
    ops = np.where(kinds == TEXT, TEXT, COPY)
    return (Slot(ops, text=texts, handle=copied, counts=column.lengths()),)


def is_text(column: Column) -> bool:
    """Whether the content of each row is one text: no nodes, no functions."""
    return column.items.tag not in (NODE, MIXED, *FUNCTIONS)


def text_slots(texts: Sequence[str]) -> Slots:
    """The text of each row; an empty one is no node."""
    found = encoded(texts)
    there = found.astype(np.bool_)
    return (Slot(TEXT, text=found[there], counts=there.astype(np.int64)),)


def encoded(texts: Sequence[str]) -> Any:
    """The strings as bytes, in an array of objects."""
    found = np.empty(len(texts), object)
    found[:] = [one.encode() for one in texts]
    return found


def written(store: Store, slots: Slots, n: int, copy: CopyMode) -> Ints:
    """The roots that the slots make, one in each of n rows, as handles into the store."""
    each = [np.ones(n, np.int64) if slot.counts is None else slot.counts for slot in slots]
    width: Ints = np.sum(each, axis=0)
    at, total = np.cumsum(width) - width, int(width.sum())
    ops, names = np.empty(total, np.uint8), np.empty(total, np.int32)
    texts, handles = np.empty(total, object), np.empty(total, np.int64)
    for slot, counts in zip(slots, each, strict=True):
        where = at if slot.counts is None else ranges(at, counts)
        ops[where], names[where] = slot.op, slot.name
        texts[where], handles[where] = slot.text, slot.handle
        at = at + counts
    parts = texts.tolist()
    ends = np.zeros(total + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, total), out=ends[1:])
    builder = Builder(store.names, preserve=copy.preserve, inherit=copy.inherit)
    builder.extend(ops, names, b"".join(parts), ends, handles, store)
    tape = builder.finish()
    return tape.roots() | np.int64(store.add(tape) << 32)
