"""Constructed trees, written onto a new tape: many trees, one kernel call.

Events are recorded (one by one, or as whole arrays) and written at the end. The trees are on the
tape in the order in which they were begun: `finish().roots()[k]` is the k-th one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    I32,
    I64,
    NAMESPACE,
    PI,
    TEXT,
    U8,
    Columns,
    Tape,
    frozen_bytes,
)
from xstreamcast.tape.names import Names
from xstreamcast.tape.writing import builder_kernels as k
from xstreamcast.tape.writing.events import Plan, write
from xstreamcast.tape.writing.few_events import MOST_EVENTS, FewEvents

if TYPE_CHECKING:
    from xstreamcast.tape.store import Store

# The operations of `Builder.extend`; each but END and COPY is the kind of the node.
OPERATIONS = {
    "document": DOCUMENT,
    "element": ELEMENT,
    "attribute": ATTRIBUTE,
    "text": TEXT,
    "comment": COMMENT,
    "pi": PI,
    "namespace": NAMESPACE,
    "end": k.END,
    "copy": k.COPY,
}


@dataclass(slots=True)
class _Recorded:
    """Events that were recorded one by one."""

    op: list[int] = field(default_factory=list)
    name: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    handle: list[int] = field(default_factory=list)
    heap: bytearray = field(default_factory=bytearray)


class Builder:
    """Writes new trees; `preserve` and `inherit` are XQuery's copy-namespaces."""

    def __init__(self, names: Names, *, preserve: bool = True, inherit: bool = True) -> None:
        self._names, self._preserve, self._inherit = names, preserve, inherit
        self._recorded = _Recorded()
        self._parts: list[Plan] = []
        self._store: Store | None = None

    def start_document(self) -> None:
        self._record(DOCUMENT)

    def start_element(self, name: int) -> None:
        """Open an element; its namespaces and attributes come next, then its content."""
        self._record(ELEMENT, name)

    def namespace(self, prefix: str, uri: str) -> None:
        """Bind a prefix on the open element; names that need a binding get it without this."""
        self._record(NAMESPACE, self._names.binding(prefix, uri), uri)

    def attribute(self, name: int, value: str) -> None:
        self._record(ATTRIBUTE, name, value)

    def text(self, value: str) -> None:
        """Character data; adjacent texts below one parent become one node."""
        self._record(TEXT, -1, value)

    def comment(self, value: str) -> None:
        self._record(COMMENT, -1, value)

    def pi(self, target: str, value: str) -> None:
        self._record(PI, self._names.intern("", target, ""), value)

    def end(self) -> None:
        """Close what was opened last."""
        self._record(k.END)

    def copy(self, store: Store, handle: int) -> None:
        """A deep copy of a node; below an element, a document represents its children."""
        self._uses(store)
        self._record(k.COPY, handle=int(handle))

    def copy_all(self, store: Store, handles: I64) -> None:
        """Deep copies of many nodes, one after the other."""
        count = len(handles)
        nothing = np.zeros(count + 1, np.int64)
        ops = np.full(count, k.COPY, np.uint8)
        self.extend(ops, np.full(count, -1, np.int32), b"", nothing, handles, store)

    def extend(
        self,
        ops: U8,
        names: I32,
        data: bytes | U8,
        offsets: I64,
        handles: I64 | None = None,
        store: Store | None = None,
    ) -> None:
        """Many events at once: OPERATIONS, names (-1 for none), texts end to end in `data`."""
        if store is not None:
            self._uses(store)
        self._flush()
        empty = np.full(len(ops), -1, np.int64)
        length = np.diff(offsets).astype(np.int32)
        handles = empty if handles is None else handles
        part = Plan(ops, names, offsets[:-1], length, handles, frozen_bytes(data))
        self._parts.append(part)

    def finish(self) -> Tape:
        """The tape with all trees; the builder is then empty."""
        small = self._small()
        if small is not None:
            self._recorded = _Recorded()
            return Tape(small, self._names)
        self._flush()
        plan = Plan.joined(self._parts)
        self._parts = []
        opened = ((plan.op == DOCUMENT) | (plan.op == ELEMENT)).sum()
        if opened != (plan.op == k.END).sum():
            raise ValueError("every start needs its end")
        columns = write(plan, self._names, self._store, self._preserve, self._inherit)
        return Tape(columns, self._names)

    def _small(self) -> Columns | None:
        """The columns of a few events that need no kernel."""
        events = self._recorded
        if self._parts or not 0 < len(events.op) <= MOST_EVENTS:
            return None
        few = FewEvents(self._names, self._store)
        return few.written(events.op, events.name, events.ends, events.handle, events.heap)

    def _uses(self, store: Store) -> None:
        if store.names is not self._names or self._store not in (None, store):
            raise ValueError("a builder copies from one store, whose names it shares")
        self._store = store

    def _record(self, op: int, name: int = -1, text: str = "", handle: int = -1) -> None:
        events = self._recorded
        events.op.append(op)
        events.name.append(name)
        if text:
            events.heap += text.encode()
        events.ends.append(len(events.heap))
        events.handle.append(handle)

    def _flush(self) -> None:
        """Make a part of what was recorded one by one."""
        events, self._recorded = self._recorded, _Recorded()
        if events.op:
            ends = np.array([0, *events.ends], np.int64)
            self._parts.append(
                Plan(
                    np.array(events.op, np.uint8),
                    np.array(events.name, np.int32),
                    ends[:-1],
                    np.diff(ends).astype(np.int32),
                    np.array(events.handle, np.int64),
                    frozen_bytes(events.heap),
                )
            )
