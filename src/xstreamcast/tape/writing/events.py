"""From recorded events to columns: copies resolved, room made, the kernel run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import distinct
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    DOCUMENT,
    ELEMENT,
    I32,
    I64,
    NAMESPACE,
    U8,
    Bools,
    Columns,
    empty_columns,
    frozen_bytes,
)
from xstreamcast.tape.limits import DEEPEST, too_deep
from xstreamcast.tape.names import Names
from xstreamcast.tape.steps.axes import NodeTest
from xstreamcast.tape.writing import builder_kernels as k

if TYPE_CHECKING:
    from xstreamcast.tape.store import Store

_ROW = 0xFFFFFFFF
_NONE = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Plan:
    """Events as columns; `handle` is what a COPY copies."""

    op: U8
    name: I32
    start: I64
    length: I32
    handle: I64
    heap: U8

    @staticmethod
    def joined(parts: list[Plan]) -> Plan:
        """The events of all parts, in order, over one heap."""
        if len(parts) == 1:
            return parts[0]
        bases = np.cumsum([0, *(len(part.heap) for part in parts)])
        starts = [part.start + base for part, base in zip(parts, bases, strict=False)]
        return Plan(
            np.concatenate([part.op for part in parts] or [np.empty(0, np.uint8)]),
            np.concatenate([part.name for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate(starts or [np.empty(0, np.int64)]),
            np.concatenate([part.length for part in parts] or [np.empty(0, np.int32)]),
            np.concatenate([part.handle for part in parts] or [np.empty(0, np.int64)]),
            frozen_bytes(np.concatenate([part.heap for part in parts] or [frozen_bytes(b"")])),
        )

    def take(self, places: I64) -> Plan:
        """The events at `places`."""
        return Plan(
            self.op[places],
            self.name[places],
            self.start[places],
            self.length[places],
            self.handle[places],
            self.heap,
        )


def write(plan: Plan, names: Names, store: Store | None, preserve: bool, inherit: bool) -> Columns:
    """The columns that the events describe."""
    source = empty_columns(0, frozen_bytes(b""))
    if store is not None:
        plan = _leaves_as_events(_documents_as_children(plan, store), store)
        copies = np.flatnonzero(plan.op == k.COPY)
        source, rows = _source(plan.handle[copies], store)
        plan.handle[copies] = rows
    return _run(plan, source, names, preserve, inherit)


def _opens(plan: Plan) -> Bools:
    return (plan.op == DOCUMENT) | (plan.op == ELEMENT)


def _documents_as_children(plan: Plan, store: Store) -> Plan:
    """copy(document) below an element → copy of each of its children."""
    copies = np.flatnonzero(plan.op == k.COPY)
    opens = _opens(plan).astype(np.int64) - (plan.op == k.END)
    deep = np.cumsum(opens)[copies] > 0
    documents = copies[deep & (store.kinds(plan.handle[copies]) == DOCUMENT)]
    if len(documents) == 0:
        return replace(plan, handle=plan.handle.copy(), op=plan.op.copy(), name=plan.name.copy())
    labels, children = store.step(plan.handle[documents], "child", NodeTest.node())
    counts = np.ones(len(plan.op), np.int64)
    counts[documents] = np.bincount(labels, minlength=len(documents))
    places = np.repeat(np.arange(len(plan.op)), counts)
    expanded = plan.take(places)
    expanded.handle[np.isin(places, documents)] = children
    return expanded


def _leaves_as_events(plan: Plan, store: Store) -> Plan:
    """copy(text) → text, copy(attribute) → attribute …: so that they merge and get bindings."""
    copies = np.flatnonzero(plan.op == k.COPY)
    kinds = store.kinds(plan.handle[copies])
    leaves = copies[kinds > ELEMENT]
    if len(leaves) == 0:
        return plan
    handles = plan.handle[leaves]
    data, offsets = store.string_bytes(handles)
    start, length = plan.start.copy(), plan.length.copy()
    start[leaves], length[leaves] = offsets[:-1] + len(plan.heap), np.diff(offsets)
    plan.op[leaves], plan.name[leaves] = kinds[kinds > ELEMENT], store.name_ids(handles)
    heap = frozen_bytes(np.concatenate([plan.heap, data]))
    return replace(plan, start=start, length=length, heap=heap)


def _source(handles: I64, store: Store) -> tuple[Columns, I64]:
    """One tape that holds all that is copied, and the rows in it."""
    numbers = distinct(handles >> 32)
    if len(numbers) == 0:
        return empty_columns(0, frozen_bytes(b"")), handles
    if len(numbers) == 1:
        return store.tape(int(numbers[0])).columns, handles & _ROW
    staged, rows, base = [], np.empty(len(handles), np.int64), 0
    for number in numbers:
        places = np.flatnonzero(handles >> 32 == number)
        columns = _run(
            _copies(handles[places] & _ROW),
            store.tape(int(number)).columns,
            store.names,
            True,
            True,
        )
        rows[places] = np.flatnonzero(columns.parent < 0) + base
        base += len(columns.kind)
        staged.append(columns)
    return _concatenated(staged), rows


def _copies(rows: I64) -> Plan:
    count = len(rows)
    return Plan(
        np.full(count, k.COPY, np.uint8),
        np.full(count, -1, np.int32),
        np.zeros(count, np.int64),
        np.zeros(count, np.int32),
        rows,
        frozen_bytes(b""),
    )


def _concatenated(parts: list[Columns]) -> Columns:
    """Tapes one after the other, as one."""
    rows = np.cumsum([0, *(len(part.kind) for part in parts)])
    bytes_ = np.cumsum([0, *(len(part.heap) for part in parts)])
    moved = [
        part._replace(
            parent=np.where(part.parent < 0, part.parent, part.parent + row).astype(np.int32),
            start=part.start + base,
        )
        for part, row, base in zip(parts, rows, bytes_, strict=False)
    ]
    joined = Columns._make(np.concatenate(column) for column in zip(*moved, strict=True))
    return joined._replace(heap=frozen_bytes(joined.heap))


def _run(plan: Plan, source: Columns, names: Names, preserve: bool, inherit: bool) -> Columns:
    """Run the kernel, making room and giving prefixes when it asks for them."""
    name = plan.name.copy()  # attributes may get another prefix
    events = k.Events(plan.op, name, plan.start, plan.length, plan.handle, plan.heap)
    state, stacks = _start(plan, names)
    out = _room(state)
    generated = 0
    while True:
        undeclared = _NONE if inherit else _undeclared(events, names)
        binding = names.bindings()
        answer = k.build(
            events, source, names.tables, binding, undeclared, out, state, stacks, preserve, inherit
        )
        match answer:
            case k.DONE:
                return _trimmed(out, state)
            case k.ROOM:
                out = _larger(out, state)
            case k.CLASH:
                at = int(state[k.CLASH_AT])
                _, local, uri = names.qname(int(events.name[at]))
                events.name[at] = names.intern(f"ns{generated}", local, uri)
                generated += 1
            case _:
                raise ValueError("attributes and namespaces must come before other content")


def _start(plan: Plan, names: Names) -> tuple[I64, k.Stacks]:
    op = plan.op
    named = int(((op == ELEMENT) | (op == ATTRIBUTE) | (op == NAMESPACE)).sum())
    opens = _opens(plan).astype(np.int64) - (plan.op == k.END)
    deepest = int(np.cumsum(opens).max(initial=0)) + 1
    if deepest > DEEPEST:
        raise too_deep()
    longest = int(names.tables.word_length.max(initial=0))
    state = np.zeros(12, np.int64)
    state[k.LAST_TEXT], state[k.LONGEST_URI] = k.NO_TEXT, longest
    state[k.SPARE_ROWS] = len(plan.op) + named
    state[k.SPARE_BYTES] = int(plan.length.sum(dtype=np.int64)) + named * longest
    return state, k.Stacks(
        np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(named + 1, np.int64)
    )


def _undeclared(events: k.Events, names: Names) -> I32:
    """For each binding that may be in scope, the one that takes it back."""
    declared = events.name[events.op == NAMESPACE]
    named = (events.op == ELEMENT) | (events.op == ATTRIBUTE)
    needed = names.bindings()[events.name[named]]
    found = np.full(len(names), -1, np.int32)
    for name in distinct(np.concatenate([declared, needed])):
        if name >= 0:
            found[name] = names.binding(names.qname(int(name))[1], "")
    return found


def _room(state: I64) -> Columns:
    heap = np.empty(int(state[k.SPARE_BYTES]), np.uint8)
    return empty_columns(int(state[k.SPARE_ROWS]), heap)


def _larger(out: Columns, state: I64) -> Columns:
    """The columns with the room that is needed, twice what it was; what is written is kept."""
    rows, size = len(out.kind), len(out.heap)
    rows = rows if state[k.NEED_ROWS] <= rows else max(2 * rows, int(state[k.NEED_ROWS]))
    size = size if state[k.NEED_BYTES] <= size else max(2 * size, int(state[k.NEED_BYTES]))
    heap = np.empty(size, np.uint8)
    made = empty_columns(rows, heap)
    for column in Columns._fields[:-1]:
        getattr(made, column)[: state[k.ROWS]] = getattr(out, column)[: state[k.ROWS]]
    heap[: state[k.USED]] = out.heap[: state[k.USED]]
    return made


def _trimmed(out: Columns, state: I64) -> Columns:
    """Only what was written; what was copied may be deep, too."""
    if out.level[: state[k.ROWS]].max(initial=0) > DEEPEST:
        raise too_deep()
    kept = (column[: state[k.ROWS]] for column in out[:-1])
    return Columns._make((*kept, frozen_bytes(out.heap[: state[k.USED]])))
