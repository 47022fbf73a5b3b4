"""Payloads written into the holes of others: first the places of all of them, then their rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xstreamcast.kernels.instances import FULL, LINK, Carried, Instances
from xstreamcast.kernels.instant_text import put_instant
from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.copy_kernels import put_binding_row, put_heap, put_row
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    ELEMENT,
    I32,
    I64,
    KIND,
    NAMESPACE,
    TEXT,
    U16,
    Columns,
)
from xstreamcast.tape.names import NameTables
from xstreamcast.tape.payload_kernels import (
    DEFAULT,
    HOLE_BEFORE,
    OWN_BOUNDS,
    SHAPE_BITS,
    TEXT_AFTER,
    TEXT_BEFORE,
    Payloads,
    Places,
    is_given,
    span_of,
)

_BOUND = 32  # bytes kept for a bound of a lifespan


class Laid(NamedTuple):
    """Where each instance goes: how many instances and rows it is with all below it, its row, its
    first byte, its level."""

    family: I32
    total: I64
    row: I64
    byte: I64
    level: I32


class Added(NamedTuple):
    """What is written beside the payloads: names, and whether."""

    stream: int  # the URI of the wire's own words
    vt_from: int
    vt_to: int
    bounds: bool
    undeclare: bool  # some payload binds a default namespace, so the others must take it back
    document: bool


@kernel
def extra_rows(shape: int, timed: bool, a: Added, nested: bool) -> int:
    """Rows that a payload's root gets beside its own."""
    rows = shape >> SHAPE_BITS
    if timed and a.bounds:
        rows += 2 - (shape & OWN_BOUNDS)
    if a.undeclare and nested and not shape & DEFAULT:
        rows += 1
    return rows


@kernel
def lay(
    n: Instances, a: Carried, p: Payloads, h: Places, timed: I32, added: Added, out: Laid
) -> tuple[int, int]:
    """Find the place of every instance → (rows, bytes) of all."""
    size = len(n.place)
    for i in range(size):
        out.family[i], out.total[i] = 1, 0
    for i in range(size - 1, -1, -1):
        if n.parent[i] >= 0:
            out.family[n.parent[i]] += out.family[i]
    for i in range(size - 1, -1, -1):
        f, joined = n.place[i], 0
        if n.state[i] == FULL:
            joined = _joins(n, a, h, out, i)
            nested = n.parent[i] >= 0
            extra = extra_rows(p.shape[f], timed[a.tag[f]] != 0, added, nested)
            out.total[i] += signed(p.rows[f]) + extra - joined
        out.byte[i] = 0
        if n.state[i] == FULL:
            out.byte[i] = p.nbytes[f] * (2 if joined else 1) + 2 * _BOUND
        if n.parent[i] >= 0:
            out.total[n.parent[i]] += out.total[i]
    row, byte = signed(1 if added.document else 0), signed(0)
    for i in range(size):
        used = out.byte[i]
        out.byte[i] = byte
        byte += used
        if n.parent[i] < 0:
            out.row[i], out.level[i] = row, 1 if added.document else 0
            row += out.total[i]
        _place_children(n, a, p, h, timed, added, out, i)
    return row, byte


@kernel
def _joins(n: Instances, a: Carried, h: Places, out: Laid, i: int) -> int:
    """How many texts of a payload join the one before, because the holes between are empty."""
    f, joins, open_ = n.place[i], 0, False
    j, end = i + 1, i + out.family[i]
    for k in range(a.first[f], a.first[f + 1]):
        open_ = h.beside[k] & TEXT_BEFORE != 0 or (open_ and h.beside[k] & HOLE_BEFORE != 0)
        while j < end and n.link[j] == k:
            open_ = False
            j += out.family[j]
        if open_ and h.beside[k] & TEXT_AFTER:
            joins += 1
    return joins


@kernel
def _place_children(
    n: Instances,
    a: Carried,
    p: Payloads,
    h: Places,
    timed: I32,
    added: Added,
    out: Laid,
    i: int,
) -> None:
    f, j, end = n.place[i], i + 1, i + out.family[i]
    at, open_ = out.row[i], False
    if n.state[i] == LINK:
        while j < end:
            out.row[j], out.level[j] = at, 0
            at += out.total[j]
            j += out.family[j]
        return
    at += extra_rows(p.shape[f], timed[a.tag[f]] != 0, added, n.parent[i] >= 0)
    k = a.first[f]
    while j < end:
        open_ = h.beside[k] & TEXT_BEFORE != 0 or (open_ and h.beside[k] & HOLE_BEFORE != 0)
        while j < end and n.link[j] == k:
            out.row[j], out.level[j] = at + h.before[k], out.level[i] + h.depth[k]
            at += out.total[j]
            open_ = False
            j += out.family[j]
        if open_ and h.beside[k] & TEXT_AFTER:
            at -= 1
        k += 1


@kernel
def _put_bound(
    out: Columns, at: int, used: int, level: int, name: int, parent: int, instant: int, zoned: bool
) -> tuple[int, int]:
    end = put_instant(instant, zoned, out.heap, used)
    return put_row(out, at, ATTRIBUTE, level, name, parent, used, end - used), end


@kernel
def splice(
    c: Columns,
    t: NameTables,
    which: I64,
    payload: I32,
    hole_row: I32,
    n: Instances,
    a: Carried,
    shape: U16,
    timed: I32,
    added: Added,
    laid: Laid,
    out: Columns,
) -> None:
    """Write the instances `which`, whose payloads lie on one tape, to their places."""
    opened, ends = np.empty(64, np.int64), np.empty(64, np.int64)
    for w in range(len(which)):
        i = which[w]
        f = n.place[i]
        row, at, used = signed(payload[f]), laid.row[i], laid.byte[i]
        end, first = row + signed(c.size[row]), at
        start, length = span_of(c, row)
        put_heap(out, used, c.heap, start, length)
        shift = used - start
        used += length
        deeper = signed(laid.level[i]) - signed(c.level[row])
        has_bounds = added.bounds and timed[a.tag[f]] != 0
        k, last_hole = a.first[f], a.first[f + 1]
        # The root, with what is bound around it and what it gets.
        at = put_row(out, at, c.kind[row], laid.level[i], c.name[row], out.parent[first], 0, -1)
        level, r, above = laid.level[i] + 1, row + 1, signed(c.parent[row])
        if above >= 0:
            b = above + 1
            while b <= above + c.size[above] and c.kind[b] & KIND == NAMESPACE:
                if is_given(c, t, row, b, added.stream):
                    at, used = put_binding_row(t, out, at, used, level, first, c.name[b])
                b += 1
        if added.undeclare and n.parent[i] >= 0 and not shape[f] & DEFAULT:
            at = put_row(out, at, NAMESPACE, level, 0, first, used, 0)
        while r <= end and c.kind[r] & KIND in (NAMESPACE, ATTRIBUTE):
            own = has_bounds and c.kind[r] & KIND == ATTRIBUTE
            if not (own and (c.name[r] == added.vt_from or c.name[r] == added.vt_to)):
                at = put_row(
                    out, at, c.kind[r], level, c.name[r], first, c.start[r] + shift, c.length[r]
                )
            r += 1
        if has_bounds:
            zones = n.zones[i]
            at, used = _put_bound(
                out, at, used, level, added.vt_from, first, n.begin[i], zones & 1 != 0
            )
            at, used = _put_bound(
                out, at, used, level, added.vt_to, first, n.end[i], zones & 2 != 0
            )
        depth, last_text, j, last = 1, signed(-1), i + 1, i + laid.family[i]
        opened[0], ends[0] = first, end
        while r <= end:
            while ends[depth - 1] < r:
                depth -= 1
                out.size[opened[depth]] = at - opened[depth] - 1
                last_text = -1
            above = opened[depth - 1]
            if k < last_hole and hole_row[k] == r:
                while j < last and n.link[j] == k:
                    if n.state[j] == FULL:
                        out.parent[laid.row[j]] = above
                    at += laid.total[j]
                    last_text = -1
                    j += laid.family[j]
                r += signed(c.size[r]) + 1
                k += 1
                continue
            kind = c.kind[r] & KIND
            if kind == TEXT and last_text >= 0:
                # The texts around an empty hole are one: both are written anew, end to end.
                if out.start[last_text] + out.length[last_text] != used:
                    moved = used
                    used = put_heap(
                        out, used, out.heap, out.start[last_text], out.length[last_text]
                    )
                    out.start[last_text] = moved
                used = put_heap(out, used, c.heap, c.start[r], c.length[r])
                out.length[last_text] += c.length[r]
                out.kind[last_text] |= c.kind[r]
                r += 1
                continue
            last_text = at if kind == TEXT else signed(-1)
            long = c.length[r]
            if kind == ELEMENT and k < last_hole and hole_row[k] <= r + c.size[r]:
                long = -1
            at = put_row(
                out, at, c.kind[r], c.level[r] + deeper, c.name[r], above, c.start[r] + shift, long
            )
            if kind == ELEMENT:
                if depth == len(opened):
                    opened = np.concatenate((opened, np.empty(depth, np.int64)))
                    ends = np.concatenate((ends, np.empty(depth, np.int64)))
                opened[depth], ends[depth] = at - 1, r + c.size[r]
                depth += 1
            r += 1
        while depth > 0:
            depth -= 1
            out.size[opened[depth]] = at - opened[depth] - 1
