"""Trees put below the start tags of the elements around them: documents in miniature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xstreamcast.tape.fragments.wrap_kernels import put_below
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    DOCUMENT,
    ELEMENT,
    I64,
    KIND,
    NAMESPACE,
    U8,
    Columns,
    Tape,
    empty_columns,
)

Run = tuple[Sequence[Tape], I64, I64]  # start tags, and the runs of rows that are below them


def wrapped(spine: Sequence[Tape], trees: Tape, first: I64, last: I64) -> tuple[Tape, I64]:
    """A document for each run of rows [first, last) of whole trees → and the rows of the documents.

    document(<a><b>…)  →  document node, spine elements with attributes, the trees of the run
    """
    tape, (begin,) = wrapped_runs([(spine, first, last)], trees)
    return tape, begin


def wrapped_runs(runs: Sequence[Run], trees: Tape) -> tuple[Tape, list[I64]]:
    """The same for runs below several start tags, on one tape that has the trees' bytes once."""
    heads = [_head(spine) for spine, _, _ in runs]
    totals = [last - first + len(h.kind) for h, (_, first, last) in zip(heads, runs, strict=True)]
    base = np.cumsum([0, *(int(one.sum()) for one in totals)]).tolist()
    begins = [np.cumsum(one) - one + at for one, at in zip(totals, base, strict=False)]
    used = sum(len(head.heap) for head in heads)
    heap = np.concatenate([*(head.heap for head in heads), trees.columns.heap])
    out, before = empty_columns(base[-1], heap), 0
    for head, (_, first, last), begin in zip(heads, runs, begins, strict=True):
        head.start[:] += before
        put_below(
            head, _innermost(head), used, trees.columns, first.astype(np.int64),
            last.astype(np.int64), begin.astype(np.int64), out,
        )  # fmt: skip
        before += len(head.heap)
    return Tape(out, trees.names, trees.source), begins


def _innermost(head: Columns) -> int:
    """The place of the element that the trees are in."""
    kinds = (head.kind & KIND).tolist()
    return max(at for at, kind in enumerate(kinds) if kind in (DOCUMENT, ELEMENT))


def _head(spine: Sequence[Tape]) -> Columns:
    """A document node with the start tags inside each other."""
    counts = [len(tape) for tape in spine]
    out = empty_columns(1 + sum(counts), _heap(spine))
    out.kind[0], out.level[0], out.name[0], out.parent[0] = DOCUMENT, 0, -1, -1
    out.size[0], out.start[0], out.length[0] = 0, 0, -1
    at, used, above = 1, 0, 0
    for depth, (tape, count) in enumerate(zip(spine, counts, strict=True), start=1):
        c, part = tape.columns, slice(at, at + count)
        out.kind[part], out.name[part], out.size[part] = c.kind, c.name, 0
        out.start[part], out.length[part] = c.start + used, c.length
        out.level[part], out.parent[part] = depth + 1, at
        out.level[at], out.parent[at], out.length[at] = depth, above, -1
        above, at, used = at, at + count, used + len(c.heap)
    return out


def _heap(spine: Sequence[Tape]) -> U8:
    parts = [tape.columns.heap for tape in spine]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint8)


def start_tag(tape: Tape, row: int) -> Tape:
    """The element at a row with its namespaces and attributes, and nothing below."""
    c = tape.columns
    last = row + 1
    while last < len(c.kind) and (c.kind[last] & KIND) in (ATTRIBUTE, NAMESPACE):
        last += 1
    part = slice(row, last)
    spans = [c.heap[c.start[i] : c.start[i] + c.length[i]] for i in range(row + 1, last)]
    heap = np.concatenate(spans) if spans else np.zeros(0, np.uint8)
    lengths = np.array([0, *(len(span) for span in spans)], np.int64)
    out = empty_columns(last - row, heap)
    out.kind[:], out.name[:], out.size[:] = c.kind[part], c.name[part], 0
    out.level[:], out.parent[:] = 1, 0
    out.level[0], out.parent[0], out.size[0] = 0, -1, last - row - 1
    out.start[:], out.length[:] = np.cumsum(lengths) - lengths, lengths
    out.length[0] = -1
    return Tape(out, tape.names, tape.source)
