"""Fragments of which a query sees no more than that they are there, and what fills their holes.

Such a payload is written as its root with its attributes, holes directly below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.tape.layout import Columns, empty_columns
from xstreamcast.tape.payload_kernels import DEFAULT, OWN_BOUNDS, Payloads, Places
from xstreamcast.tape.shell_kernels import Shells, measure_heads, write_shells

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I32, I64


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """What the rows of a view are copied from: for each fragment and hole, where it lies."""

    payloads: Payloads
    places: Places
    number: I32  # of the columns that a payload lies on
    payload: I32
    hole_row: I32
    columns: dict[int, Columns]


def sources(history: History, shells: frozenset[int]) -> Sources:
    """The payloads where they lie; those of the tags in `shells` as shells."""
    f, h = history.fragments, history.holes
    payloads = Payloads(f["rows"], f["nbytes"], f["shape"], f["hash"])
    places = Places(h["before"], h["depth"], h["beside"], h["path"])
    columns = {i: history.store.tape(i).columns for i in np.unique(f["tape"]).tolist()}
    whole = Sources(payloads, places, f["tape"], f["payload"], h["row"], columns)
    chosen = np.flatnonzero(history.tagged(shells) & (f["payload"] >= 0))
    if len(chosen) == 0:
        return whole
    made = Sources(
        Payloads(f["rows"].copy(), f["nbytes"].copy(), f["shape"].copy(), f["hash"]),
        Places(h["before"].copy(), h["depth"].copy(), h["beside"].copy(), h["path"]),
        whole.number.copy(), whole.payload.copy(), whole.hole_row.copy(), columns,
    )  # fmt: skip
    beyond, tapes = max(columns) + 1, f["tape"][chosen]
    for number in np.unique(tapes).tolist():
        which = chosen[tapes == number]
        made.number[which] = number + beyond
        columns[number + beyond] = _emptied(history, columns[number], which, made)
    return made


def _emptied(history: History, c: Columns, which: I64, made: Sources) -> Columns:
    """Columns with the shells of fragments that lie on one tape, over the same bytes."""
    f, head = history.fragments, np.empty(len(which), np.int64)
    row, last = f["payload"][which].astype(np.int64), f["holes"][which]
    first = np.where(which > 0, f["holes"][which - 1], 0)
    measure_heads(c, row, head)
    ends, nbytes = np.cumsum(head + last - first), np.empty(len(which), np.int64)
    shells = Shells(row, head, ends - head - last + first, first, last)
    out = empty_columns(int(ends[-1]), c.heap)
    write_shells(c, shells, out, made.hole_row, made.places, nbytes)
    made.payload[which], made.payloads.rows[which] = shells.at, head
    made.payloads.nbytes[which] = nbytes
    made.payloads.shape[which] &= DEFAULT | OWN_BOUNDS
    return out
