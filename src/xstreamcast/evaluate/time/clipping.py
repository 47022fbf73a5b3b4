"""Copies of nodes as far as they live within an interval: parentless, on one new tape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.evaluate.time.lifespans import LifespanColumns, bound_names, lifespans
from xstreamcast.model.column import distinct
from xstreamcast.tape.fragments.clip_kernels import Copies, Wanted, measure_copies, write_copies
from xstreamcast.tape.layout import KIND, NAMESPACE, Columns, Tape, empty_columns
from xstreamcast.tape.writing.builder import Builder

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64, Bools
    from xstreamcast.tape.store import Store

_ROW = 0xFFFFFFFF


def clipped(
    store: Store, handles: I64, to: LifespanColumns, now: int, inside: Bools | None = None
) -> tuple[Bools, I64]:
    """(which nodes live within their interval, copies of these clipped to it).

    Where `inside` holds, the node itself stays as it is and only what is in it is clipped.
    """
    handles = _with_namespaces(store, handles)
    none = np.zeros(len(handles), np.bool_)
    wanted = Wanted(handles & _ROW, to.begin, to.end, to.zones, none if inside is None else inside)
    places = _measured(store, handles, wanted, now)
    kept: Bools = places.rows > 0
    if not kept.any():
        return kept, handles[:0]
    rows, used = int(places.rows.sum()), int(places.nbytes.sum())
    out = empty_columns(rows, np.empty(used, np.uint8))
    for number, at in _by_tape(handles):
        write_copies(
            store.tape(number).columns, _part(wanted, at), lifespans(store, number), now,
            *bound_names(store), Copies(*(column[at] for column in places)), out,
        )  # fmt: skip
    number = store.add(Tape(out, store.names))
    return kept, places.row[kept] | number << 32


def _measured(store: Store, handles: I64, wanted: Wanted, now: int) -> Copies:
    places = Copies(*(np.zeros(len(handles), np.int64) for _ in range(4)))
    for number, at in _by_tape(handles):
        part = Copies(*(np.zeros(len(at), np.int64) for _ in range(4)))
        measure_copies(
            store.tape(number).columns, _part(wanted, at), lifespans(store, number), now, part
        )
        places.rows[at], places.nbytes[at] = part.rows, part.nbytes
    np.cumsum(places.rows[:-1], out=places.row[1:])
    np.cumsum(places.nbytes[:-1], out=places.byte[1:])
    return places


def _part(wanted: Wanted, at: I64) -> Wanted:
    return Wanted._make(column[at] for column in wanted)


def _by_tape(handles: I64) -> list[tuple[int, I64]]:
    tapes = handles >> 32
    return [(number, np.flatnonzero(tapes == number)) for number in distinct(tapes).tolist()]


def _with_namespaces(store: Store, handles: I64) -> I64:
    """The nodes; where an element around one binds namespaces, a copy that holds them itself."""
    bound = np.zeros(len(handles), np.bool_)
    for number, at in _by_tape(handles):
        bound[at] = _bound_above(store.tape(number).columns, handles[at] & _ROW)
    if not bound.any():
        return handles
    builder = Builder(store.names)
    builder.copy_all(store, handles[bound])
    tape = builder.finish()
    out = handles.copy()
    out[bound] = tape.roots() | store.add(tape) << 32
    return out


def _bound_above(c: Columns, rows: I64) -> Bools:
    """Whether an element around each row binds namespaces."""
    found = np.zeros(len(rows), np.bool_)
    bindings = np.flatnonzero((c.kind & KIND == NAMESPACE) & (c.length > 0))  # not xmlns=""
    if len(bindings) == 0:
        return found
    binds = np.zeros(len(c.kind), np.bool_)
    binds[c.parent[bindings]] = True
    above = c.parent[rows]
    while (above >= 0).any():
        found |= (above >= 0) & binds[above]
        above = np.where(above >= 0, c.parent[above], -1)
    return found
