"""Runs of trees, each written below the same start tags, in one pass.

Columns are taken out of their tuples before a loop: a tuple handed to an inner function has its
references counted for every row.
"""

from __future__ import annotations

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import DOCUMENT, ELEMENT, I64, KIND, Columns


@kernel
def put_below(
    head: Columns, innermost: int, used: int, c: Columns, first: I64, last: I64, begin: I64,
    out: Columns,
) -> None:  # fmt: skip
    """A copy of `head` for each run [first, last) of rows, from row `begin` on; then the run.

    `innermost`: the row of the head that the trees are in; `used`: bytes of the head's heap,
    which lie before those of the trees.
    """
    kind, level, name, parent = out.kind, out.level, out.name, out.parent
    size, start, length = out.size, out.start, out.length
    h_kind, h_level, h_name, h_parent = head.kind, head.level, head.name, head.parent
    h_start, h_length = head.start, head.length
    c_kind, c_level, c_name, c_parent = c.kind, c.level, c.name, c.parent
    c_size, c_start, c_length = c.size, c.start, c.length
    heads = len(h_kind)
    deeper = signed(h_level[innermost]) + 1
    for i in range(len(first)):
        at, rows = begin[i], heads + last[i] - first[i]
        for k in range(heads):
            to, what = at + k, h_kind[k] & KIND
            kind[to], level[to], name[to] = h_kind[k], h_level[k], h_name[k]
            parent[to] = h_parent[k] + at if h_parent[k] >= 0 else -1
            size[to] = rows - 1 - k if what in (DOCUMENT, ELEMENT) else 0
            start[to], length[to] = h_start[k], h_length[k]
        moved, above = at + heads - first[i], at + innermost
        for row in range(first[i], last[i]):
            to = row + moved
            kind[to], name[to], size[to] = c_kind[row], c_name[row], c_size[row]
            level[to] = c_level[row] + deeper
            parent[to] = c_parent[row] + moved if c_parent[row] >= 0 else above
            start[to], length[to] = c_start[row] + used, c_length[row]
