"""Which fragments are attached to which, in an order independent of arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.tape.fragments.instance_kernels import EVENT

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I32, I64

_LONGEST: Final = 256  # bytes of an id up to which ids are sorted side by side
_NOTHING: Final = np.zeros(1, np.int64), np.zeros(0, np.int32)


def attached(history: History) -> tuple[I64, I32]:
    """(first by code of the parent, the codes attached to it): links as kernels follow them.

    Versioned units are in the order of their ids, followed by events by valid time, then id.
    """
    if not history.attaches:
        return _NOTHING
    f = history.fragments
    named = f["within"] >= 0
    pairs = np.unique(f["within"][named].astype(np.int64) << 32 | f["id"][named])
    parent, child = pairs >> 32, pairs & 0xFFFFFFFF
    codes = history.codes
    begins = np.full(codes, np.iinfo(np.int64).max)
    np.minimum.at(begins, f["id"], f["valid"])
    events = np.zeros(codes, np.bool_)
    events[f["id"][(f["payload"] >= 0) & (history.types()[f["tsid"]] == EVENT)]] = True
    begin = np.where(events[child], begins[child], 0)
    order = np.lexsort((ranks(history, child), begin, events[child], parent))
    first = np.searchsorted(parent[order], np.arange(codes + 1))
    return first, child[order].astype(np.int32)


def ranks(history: History, codes: I64) -> I64:
    """A number for each id that sorts as its text does."""
    given = history.text_codes
    shown = codes if given is None else given[codes]
    if history.ids is None:
        return shown
    heap, start, length = history.ids.spans()
    lengths = length[shown].astype(np.int64)
    widest = int(lengths.max(initial=1)) or 1
    if widest > _LONGEST:
        texts = np.array([history.ids.text(code) for code in shown.tolist()], object)
        return np.unique(texts, return_inverse=True)[1].astype(np.int64)
    at = start[shown][:, None] + np.arange(widest)
    there = np.arange(widest) < lengths[:, None]
    padded = np.where(there, heap[np.minimum(at, len(heap) - 1)], 0).astype(np.uint8)
    found = np.unique(padded.view(f"S{widest}").ravel(), return_inverse=True)[1]
    return found.astype(np.int64)
