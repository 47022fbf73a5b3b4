"""Several tapes as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xstreamcast.tape.layout import DOCUMENT, KIND, Columns, Tape


def joined(tapes: Sequence[Tape]) -> Tape:
    """All trees of `tapes`, which share their names, one after another."""
    if len(tapes) == 1:
        return tapes[0]
    rows = np.cumsum([0] + [len(tape) for tape in tapes])
    bytes_ = np.cumsum([0] + [len(tape.columns.heap) for tape in tapes])
    parts = zip(*(tape.columns for tape in tapes), strict=True)
    columns = Columns._make(np.concatenate(part) for part in parts)
    for i in range(1, len(tapes)):
        part = slice(rows[i], rows[i + 1])
        parent = columns.parent[part]
        parent[parent >= 0] += rows[i]
        columns.start[part] += bytes_[i]
    return Tape(columns, tapes[0].names, tapes[0].source)


def under_one_document(documents: Sequence[Tape]) -> Tape:
    """The children of all `documents` below the document node of the first."""
    if len(documents) == 1:
        return documents[0]
    tape = joined(documents)
    c = tape.columns
    keep = (c.kind & KIND) != DOCUMENT
    keep[0] = True
    place = (np.cumsum(keep) - 1).astype(np.int32)
    place[~keep] = 0  # children of a later document node become children of the first
    kept = Columns._make([*(column[keep] for column in c[:-1]), c.heap])
    kept.parent[1:] = place[kept.parent[1:]]
    kept.size[0] = len(kept.kind) - 1
    return Tape(kept, tape.names, tape.source)
