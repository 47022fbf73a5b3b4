"""Trees of one tape, each put below a document node of its own."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import DOCUMENT, I64, Columns, Tape, empty_columns


@kernel
def _copy(c: Columns, roots: I64, deeper: int, out: Columns, first: I64) -> None:
    kind, level, name, parent = out.kind, out.level, out.name, out.parent
    size, start, length = out.size, out.start, out.length
    c_kind, c_level, c_name, c_parent = c.kind, c.level, c.name, c.parent
    c_size, c_start, c_length = c.size, c.start, c.length
    at = 0
    for i in range(len(roots)):
        root = roots[i]
        rows = signed(c_size[root]) + 1
        first[i] = at
        kind[at], level[at], name[at], parent[at] = DOCUMENT, 0, -1, -1
        size[at], start[at], length[at] = rows, 0, -1
        moved = at + 1 - root
        for row in range(root, root + rows):
            to = row + moved
            kind[to], level[to] = c_kind[row], c_level[row] + deeper
            name[to], size[to] = c_name[row], c_size[row]
            parent[to] = c_parent[row] + moved
            start[to], length[to] = c_start[row], c_length[row]
        parent[at + 1] = at
        at += rows + 1


def in_documents(tape: Tape, roots: I64) -> tuple[Tape, I64]:
    """The trees at some rows, each in a document → and the rows of the documents."""
    c = tape.columns
    total = int(c.size[roots].sum(dtype=np.int64)) + 2 * len(roots)
    out, first = empty_columns(total, c.heap), np.empty(len(roots), np.int64)
    deeper = 1 - int(c.level[roots[0]]) if len(roots) else 0
    _copy(c, roots, deeper, out, first)
    return Tape(out, tape.names, tape.source), first
