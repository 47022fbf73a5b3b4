"""Payloads without what nobody looks at: elements on some paths, and whatever holes are in."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.fragments.payload_kernels import Places
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    ELEMENT,
    I32,
    I64,
    KIND,
    NAMESPACE,
    Bools,
    Columns,
)
from xstreamcast.tape.steps.axis_kernels import roomier

NOTHING, EVERYTHING = -1, -2  # what is left below an element that is on no path


class Paths(NamedTuple):
    """Paths as a tree: by node and name, the node below; what is left of an element at a node."""

    below: Annotated[I32, 2]  # NOTHING where no path leads on, EVERYTHING where all is left
    texts: Bools


class Trimmed(NamedTuple):
    """For each payload: its row, its node among the paths, its holes; then what became of it."""

    row: I64
    node: I32
    first: I64
    last: I64
    at: I64
    rows: I64  # without those of its holes
    nbytes: I64


@kernel
def write_trimmed(c: Columns, p: Paths, s: Trimmed, out: Columns, hole_row: I32, h: Places) -> int:
    """Write what is left of payloads, over the same bytes → rows; holes lie at `hole_row` now."""
    kind, level, name, parent = out.kind, out.level, out.name, out.parent
    size, start, length = out.size, out.start, out.length
    c_kind, c_level, c_name, c_size = c.kind, c.level, c.name, c.size
    c_start, c_length, before, beside = c.start, c.length, h.before, h.beside
    below, texts = p.below, p.texts
    s_row, s_node, s_first, s_last, s_at, s_rows, s_nbytes = s
    # The elements that are open: their rows, their nodes, and their ends on the other side.
    opened, nodes, ends = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    at = signed(0)
    for i in range(len(s_row)):
        row, mine, k, last = s_row[i], at, s_first[i], s_last[i]
        end, low, high = row + signed(c_size[row]), signed(2**62), signed(0)
        opened[0], nodes[0], ends[0], depth = at, s_node[i], end, 1
        kind[at], level[at], name[at], parent[at] = c_kind[row], c_level[row], c_name[row], -1
        start[at], length[at] = 0, -1
        at, r = at + 1, row + 1
        while r <= end:
            while r > ends[depth - 1]:
                depth -= 1
                size[opened[depth]] = at - opened[depth] - 1
            above, node = opened[depth - 1], nodes[depth - 1]
            mixed = node == EVERYTHING or (node >= 0 and texts[node])
            what, beyond = c_kind[r] & KIND, r + signed(c_size[r]) + 1
            is_hole = k < last and hole_row[k] == r
            into = signed(NOTHING)
            if is_hole:
                before[k], hole_row[k] = at - mine - (k - s_first[i]), at
                beside[k] = beside[k] if mixed else 0
                k += 1
            elif what == ELEMENT:
                into = node if node < 0 else signed(below[node, c_name[r]])
                holds = k < last and hole_row[k] < beyond
                if not (into != NOTHING or mixed or holds):
                    r = beyond
                    continue
            elif not (mixed or what in (ATTRIBUTE, NAMESPACE)):
                r = beyond
                continue
            kind[at], level[at], name[at] = c_kind[r], c_level[r], c_name[r]
            parent[at], size[at] = above, 0
            start[at], length[at] = c_start[r], c_length[r]
            if what == ELEMENT:
                start[at], length[at] = 0, -1
            else:
                low = min(low, signed(c_start[r]))
                high = max(high, signed(c_start[r]) + signed(c_length[r]))
            if what == ELEMENT and not is_hole:
                if depth == len(opened):
                    opened, nodes = roomier(opened, depth), roomier(nodes, depth)
                    ends = roomier(ends, depth)
                opened[depth], nodes[depth], ends[depth] = at, into, beyond - 1
                depth += 1
                beyond = r + 1
            at, r = at + 1, beyond
        while depth > 0:
            depth -= 1
            size[opened[depth]] = at - opened[depth] - 1
        s_at[i], s_rows[i] = mine, at - mine - (last - s_first[i])
        s_nbytes[i] = max(high - low, signed(0))
    return at
