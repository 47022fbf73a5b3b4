"""Dropping fragments: the payloads that remain are copied out of their tapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.columns import NamedColumns as Grown
from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.model.fragment import TEMPORARY
from xstreamcast.tape.fragments import chain_kernels as k
from xstreamcast.tape.fragments.instance_kernels import SNAPSHOT
from xstreamcast.tape.fragments.payload_kernels import SHAPE_BITS
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import Columns, Tape
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I64, Bools


def excerpt(tape: Tape, roots: I64) -> tuple[Tape, I64]:
    """The trees at some rows on a tape with their bytes alone → and their rows there."""
    c = tape.columns
    lengths = c.size[roots].astype(np.int64) + 1
    rows, begin = ranges(roots, lengths), offsets_of(lengths)[:-1]
    taken = Columns._make([*(column[rows] for column in c[:-1]), c.heap])
    low = np.minimum.reduceat(taken.start, begin)
    high = np.maximum.reduceat(taken.start + np.maximum(taken.length, 0), begin)
    heap = np.concatenate([c.heap[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True)])
    moved = offsets_of(high - low)[:-1] - low
    parent = taken.parent + np.repeat(begin - roots, lengths).astype(np.int32)
    parent[begin] = -1
    level = taken.level - np.repeat(c.level[roots], lengths)
    start = taken.start + np.repeat(moved, lengths)
    out = taken._replace(parent=parent, level=level, start=start, heap=heap)
    return Tape(out, tape.names, tape.source), begin


def superseded(history: History, until: int) -> I64:
    """The places of contents that will never count again: older contents of tags without

    versions. A temporary content is replaced by an older one when it ends; all contents of one
    instant stay, so that repetitions of any of them are recognised.
    """
    f, h = history.fragments, history.holes
    ids, valid, codes = f["id"], f["valid"], history.codes
    latest = np.full(codes, np.iinfo(np.int64).min)
    there = valid <= until
    np.maximum.at(latest, ids[there], valid[there])
    past = (history.types()[f["tsid"]] == SNAPSHOT) & (valid < latest[ids])
    layered = np.zeros(codes, np.bool_)
    layered[ids[f["flags"] & np.uint8(TEMPORARY) != 0]] = True
    past &= ~layered[ids]
    # a fragment in a hole is not the root
    rooted = h["tsid"] == history.structure.root
    if rooted.any():
        past &= ~np.isin(
            np.arange(len(f)), np.searchsorted(f["holes"], np.flatnonzero(rooted), "right")
        )
    return np.flatnonzero(past)


def excerpt_of_nothing(tape: Tape) -> Tape:
    """A tape without rows."""
    c = tape.columns
    return Tape(Columns._make([*(column[:0] for column in c[:-1]), c.heap[:0]]), tape.names)


def forget(history: History, live: Bools) -> None:
    """Keep these fragments alone: columns, holes, keys, and payloads on one tape of their own."""
    f, h = history.fragments, history.holes
    counts = np.diff(f["holes"], prepend=0)
    carried = np.repeat(live, counts)
    left = {name: f[name][live] for name in f.names}
    inner = {name: h[name][carried] for name in h.names}
    left["holes"] = np.cumsum(counts[live])
    place = np.cumsum(live, dtype=np.int32) - 1
    known = left["before"] >= 0
    known[known] = live[left["before"][known]]
    left["before"] = np.where(known, place[left["before"]], -1)
    _move(history, left, inner, counts[live])
    history.fragments, history.holes = _columns(f, left), _columns(h, inner)
    n = len(history)
    history._slots = np.full(max(2048, 1 << (4 * n).bit_length()), -1, np.int32)
    history.fragments.make_room(1)
    k.refill(history._slots, history._keys(), n)
    history._chains.clear()
    history._guide = history._attached = None
    history._containment.forget()


def _move(history: History, left: dict[str, I64], inner: dict[str, I64], counts: I64) -> None:
    """Bring the payloads to one tape; where something around them counts, leave them."""
    numbers, payload = left["tape"], left["payload"]
    owner = np.repeat(np.arange(len(numbers)), counts)
    store, parts, base = Store(history.store.names), [], 0
    taken = np.zeros(len(numbers), np.int64)
    own = store.add(excerpt_of_nothing(_any(history)))
    for number in np.unique(numbers[payload >= 0]).tolist():
        mine = np.flatnonzero((numbers == number) & (payload >= 0))
        tape = history.store.tape(number)
        if (left["shape"][mine] >> SHAPE_BITS).any():
            taken[mine] = store.add(tape)
            continue
        made, begin = excerpt(tape, payload[mine].astype(np.int64))
        shift = np.zeros(len(numbers), np.int64)
        shift[mine] = begin + base - payload[mine]
        payload[mine] += shift[mine].astype(np.int32)
        inner["row"] += shift[owner].astype(np.int32)
        taken[mine] = own
        parts.append(made)
        base += len(made)
    if parts:
        store._tapes[own] = joined(parts)
    left["tape"] = taken
    history.store = store
    history._tapes = {}


def _any(history: History) -> Tape:
    return history.store.tape(0)


def _columns(old: Grown, parts: dict[str, I64]) -> Grown:
    made = Grown(**{name: old.whole(name).dtype for name in old.names})
    made.append(**{name: parts[name].astype(old.whole(name).dtype) for name in old.names})
    return made


def tape_bytes(tape: Tape) -> int:
    """Bytes of its columns and of what they point into."""
    return sum(column.nbytes for column in tape.columns)


def held_bytes(history: History) -> tuple[int, int]:
    """Bytes of index, and of tapes with all of their content."""
    index = sum(
        columns.whole(name).nbytes
        for columns in (history.fragments, history.holes)
        for name in columns.names
    )
    index += history._slots.nbytes
    index += sum(part.nbytes for chains in history._chains.values() for part in chains)
    numbers = np.unique(history.fragments["tape"]).tolist()
    return index, sum(tape_bytes(history.store.tape(number)) for number in numbers)
