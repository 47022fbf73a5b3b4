"""The fragments that a history keeps, as the rows that they once came as.

a new history that takes these rows in  →  the versions and holes of the one that kept them
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import arrow, row_schema
from xstreamcast.model.column import ranges
from xstreamcast.model.fragment import FragmentBatch, Op
from xstreamcast.model.instant import NOW, START

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
    from xstreamcast.tape.layout import I64


def kept_rows(feed: ForgettingFeed) -> Any:
    """A table of the fragments that a feed keeps, in order of arrival; none moves the clock."""
    history = feed.history
    live = np.flatnonzero(feed._live())
    assert history.ids is not None
    rows = RowEncoder(history.name, history.ids)
    tapes = history.fragments["tape"][live]
    runs = np.split(live, np.flatnonzero(np.diff(tapes)) + 1)
    found = [rows.rows(_batch(history, at)) for at in runs if len(at)]
    return arrow().Table.from_batches(found, row_schema())


def _batch(history: History, at: I64) -> FragmentBatch:
    """The fragments at some places, all of one tape, as a batch."""
    f, h = history.fragments, history.holes
    counts = np.diff(f["holes"], prepend=0)[at]
    holes = ranges(f["holes"][at] - counts, counts)
    payload, n = f["payload"][at], len(at)
    return FragmentBatch(
        history.store.tape(int(f["tape"][at[0]])),
        f["id"][at], f["tsid"][at], f["valid"][at], f["flags"][at],
        np.where(payload < 0, np.uint8(Op.REMOVE), np.uint8(Op.FILLER)),
        payload, np.zeros(n, np.int64),
        np.repeat(np.arange(n, dtype=np.int32), counts), h["id"][holes], h["tsid"][holes],
        h["row"][holes], **_optional(history, at),
    )  # fmt: skip


def _optional(history: History, at: I64) -> dict[str, Any]:
    """The columns that not every batch has, where a fragment says something there."""
    f = history.fragments
    valid: I64 = f["valid"][at]
    # what begins later was sent by a message of an earlier time
    said = np.where(valid > history.newest, np.int64(history.newest), np.int64(START))
    columns = {"within": f["within"][at], "to": f["to"][at], "version": f["version"][at]}
    unsaid = {"within": -1, "to": NOW, "version": 0, "said": START}
    columns["said"] = said
    return {name: one for name, one in columns.items() if (one != unsaid[name]).any()}
