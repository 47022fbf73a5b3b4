"""Payloads reduced to the children of their root that a query reads.

<a k="1">text<b>…</b><c>…</c><hole/></a>  →  <a k="1"><b>…</b><hole/></a>, if only b is read
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.model.fragment import STREAM
from xstreamcast.tape.fragments.payload_kernels import hash_payloads
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, KIND, NAMESPACE, Columns, Tape

if TYPE_CHECKING:
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.tape.layout import I64, U64, Bools


class _Runs(NamedTuple):
    """Rows that stay, in runs of contiguous bytes: first row, number, first and last byte."""

    first: I64
    rows: I64
    low: I64
    high: I64


Lost = set[
    tuple[int, int]
]  # (tag, name of a child that was left out; -1: something without a name)


def thinned(batch: FragmentBatch, thin: Bools, seen: Bools, lost: Lost) -> FragmentBatch:
    """The batch on a tape of its own; of fragments of `thin` tags only the children `seen`.

    thin: by tag; seen: by tag and name; what is left out is noted in `lost`. A batch whose payloads
    need namespaces of what is around them stays as it is.
    """
    there = np.flatnonzero(batch.payload >= 0)
    if len(there) == 0 or _bound_around(batch):
        return batch
    runs = _runs(batch, there, thin, seen, lost)
    c = batch.tape.columns
    rows = ranges(runs.first, runs.rows)
    place = np.full(len(c.kind) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    before = np.concatenate(([0], np.cumsum(place[:-1] >= 0)))
    taken = Columns._make([*(column[rows] for column in c[:-1]), c.heap])
    moved = offsets_of(runs.high - runs.low)[:-1] - runs.low
    pairs = zip(runs.low.tolist(), runs.high.tolist(), strict=True)
    size = before[rows + taken.size + 1] - before[rows] - 1
    roots = place[batch.payload[there]]
    length = taken.length.copy()
    length[roots[thin[batch.tsid[there]]]] = -1  # their bytes have changed
    parent = place[taken.parent]
    parent[roots] = -1
    out = taken._replace(
        parent=parent.astype(np.int32),
        size=size.astype(np.int32),
        start=taken.start + np.repeat(moved, runs.rows),
        length=length,
        heap=np.concatenate([c.heap[low:high] for low, high in pairs]),
    )
    payload = np.where(batch.payload >= 0, place[batch.payload], -1)
    return replace(
        batch,
        tape=Tape(out, batch.tape.names, batch.tape.source),
        payload=payload.astype(np.int32),
        hole_row=place[batch.hole_row].astype(np.int32),
    )


def content_hashes(batch: FragmentBatch, seed: int) -> U64:
    """Hashes of whole contents: what is left out may hold a correction, too."""
    out = np.empty(len(batch), np.uint64)
    hash_payloads(batch.tape.columns, batch.payload, seed, out)
    return out


def _bound_around(batch: FragmentBatch) -> bool:
    """Whether namespaces other than the wire's are bound outside of payloads."""
    c, names = batch.tape.columns, batch.tape.names
    rows = np.flatnonzero((c.kind & KIND) == NAMESPACE)
    roots = np.sort(batch.payload[batch.payload >= 0])
    at = np.searchsorted(roots, rows, "right") - 1
    inside = (at >= 0) & (rows <= roots[at] + c.size[roots[at]]) if len(roots) else at >= 0
    return any(names.qname(one)[2] != STREAM for one in np.unique(c.name[rows[~inside]]).tolist())


def _runs(batch: FragmentBatch, there: I64, thin: Bools, seen: Bools, lost: Lost) -> _Runs:
    c = batch.tape.columns
    root, tag = batch.payload[there].astype(np.int64), batch.tsid[there]
    whole = ~thin[tag]
    first, count = [root], [np.where(whole, c.size[root].astype(np.int64) + 1, 1)]
    top, owner = _tops(c, root[~whole])
    kind = c.kind[top] & KIND
    stays = (kind == ATTRIBUTE) | (kind == NAMESPACE)
    stays |= (kind == ELEMENT) & seen[tag[~whole][owner], c.name[top]]
    holes = np.sort(batch.hole_row)
    inside = np.searchsorted(holes, top + c.size[top], "right") > np.searchsorted(holes, top)
    kept = top[stays | inside]
    away = ~(stays | inside)
    if away.any():
        name = np.where(kind[away] == ELEMENT, c.name[top[away]], -1).astype(np.int64)
        pairs = np.unique(tag[~whole][owner[away]].astype(np.int64) << 32 | name + 1)
        lost.update((pair >> 32, (pair & 0xFFFFFFFF) - 1) for pair in pairs.tolist())
    first.append(kept)
    count.append(c.size[kept].astype(np.int64) + 1)
    rows, counts = np.concatenate(first), np.concatenate(count)
    order = np.argsort(rows, kind="stable")
    rows, counts = rows[order], counts[order]
    all_rows, begin = ranges(rows, counts), offsets_of(counts)[:-1]
    starts = c.start[all_rows]
    ends = starts + np.maximum(c.length[all_rows], 0)
    low, high = np.minimum.reduceat(starts, begin), np.maximum.reduceat(ends, begin)
    bare = np.isin(rows, root[~whole])
    return _Runs(rows, counts, low, np.where(bare, low, high))


def _tops(c: Columns, roots: I64) -> tuple[I64, I64]:
    """The rows directly below some rows, and whose they are."""
    below = c.size[roots].astype(np.int64)
    rows, owner = ranges(roots + 1, below), np.repeat(np.arange(len(roots)), below)
    direct = c.parent[rows] == roots[owner]
    return rows[direct], owner[direct]
