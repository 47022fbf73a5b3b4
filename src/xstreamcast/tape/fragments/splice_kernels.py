"""Payloads written into the holes of others: first the places of all of them, then their rows.

Columns are taken out of their tuples before a loop: a tuple handed to an inner function has its
references counted for every row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xstreamcast.kernels.blocks import copy_block
from xstreamcast.kernels.instant_text import put_instant
from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.fragments.instance_kernels import FULL, LINK, Carried, Instances
from xstreamcast.tape.fragments.payload_kernels import (
    DEFAULT,
    HOLE_BEFORE,
    SHAPE_BITS,
    TEXT_AFTER,
    TEXT_BEFORE,
    Payloads,
    Places,
    is_given,
    span_of,
)
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    I32,
    I64,
    KIND,
    NAMESPACE,
    TEXT,
    U16,
    Columns,
)
from xstreamcast.tape.names import NameTables
from xstreamcast.tape.writing.copy_kernels import put_binding_row, put_row

_BOUND = 32  # bytes kept for a bound of a lifespan
_LONG = 24  # rows from which on columns are copied one by one


class Laid(NamedTuple):
    """Where each instance goes.

    family: how many instances it is with all below it; total: how many rows; then its first row
    and byte, and its level.
    """

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
def lay(
    n: Instances, a: Carried, p: Payloads, h: Places, extra: I32, document: bool, out: Laid
) -> tuple[int, int]:
    """Find the place of every instance → (rows, bytes) of all; `extra` rows for each payload."""
    place, parent, link, state = n.place, n.parent, n.link, n.state
    first, beside, before, depth = a.first, h.beside, h.before, h.depth
    family, total, level = out.family, out.total, out.level
    out_row, out_byte, rows, nbytes = out.row, out.byte, p.rows, p.nbytes
    size = len(place)
    for i in range(size):
        family[i], total[i] = 1, 0
    for i in range(size - 1, -1, -1):
        if parent[i] >= 0:
            family[parent[i]] += family[i]
    for i in range(size - 1, -1, -1):
        out_byte[i] = 0
        if state[i] == FULL:
            # Texts of a payload join where the holes between them are empty.
            f, joins, open_ = place[i], 0, False
            j, end = i + 1, i + family[i]
            for k in range(first[f], first[f + 1]):
                open_ = beside[k] & TEXT_BEFORE != 0 or (open_ and beside[k] & HOLE_BEFORE != 0)
                while j < end and link[j] == k:
                    open_ = False
                    j += family[j]
                if open_ and beside[k] & TEXT_AFTER:
                    joins += 1
            total[i] += signed(rows[f]) + extra[f] - joins
            out_byte[i] = nbytes[f] * (2 if joins else 1) + 2 * _BOUND
        if parent[i] >= 0:
            total[parent[i]] += total[i]
    row, byte = signed(1 if document else 0), signed(0)
    for i in range(size):
        used = out_byte[i]
        out_byte[i] = byte
        byte += used
        if parent[i] < 0:
            out_row[i], level[i] = row, 1 if document else 0
            row += total[i]
        f, j, end = place[i], i + 1, i + family[i]
        at, open_ = out_row[i], False
        if state[i] == LINK:
            while j < end:
                out_row[j], level[j] = at, 0
                at += total[j]
                j += family[j]
            continue
        at += extra[f]
        for k in range(first[f], first[f + 1]):
            if j >= end:
                break
            open_ = beside[k] & TEXT_BEFORE != 0 or (open_ and beside[k] & HOLE_BEFORE != 0)
            while j < end and link[j] == k:
                out_row[j], level[j] = at + before[k], level[i] + depth[k]
                at += total[j]
                open_ = False
                j += family[j]
            if open_ and beside[k] & TEXT_AFTER:
                at -= 1
        while j < end:  # what is attached is behind all that the payload holds
            out_row[j], level[j] = at + rows[f], level[i] + 1
            at += total[j]
            j += family[j]
    return row, byte


@kernel
def _put_head(
    c: Columns,
    t: NameTables,
    row: int,
    out: Columns,
    at: int,
    used: int,
    shift: int,
    level: int,
    default: bool,
    timed: bool,
    added: Added,
) -> tuple[int, int, int]:
    """The root of a payload with bindings and attributes → (next row, heap used, source row)."""
    first, end = at, row + c.size[row]
    at = put_row(out, at, c.kind[row], level, c.name[row], out.parent[first], 0, -1)
    r, above = row + 1, signed(c.parent[row])
    if above >= 0:
        b = above + 1
        while b <= above + c.size[above] and c.kind[b] & KIND == NAMESPACE:
            if is_given(c, t, row, b, added.stream):
                at, used = put_binding_row(t, out, at, used, level + 1, first, c.name[b])
            b += 1
    if added.undeclare and not default:
        at = put_row(out, at, NAMESPACE, level + 1, 0, first, used, 0)
    while r <= end and (c.kind[r] & KIND == NAMESPACE or c.kind[r] & KIND == ATTRIBUTE):
        own = timed and c.kind[r] & KIND == ATTRIBUTE
        if not (own and (c.name[r] == added.vt_from or c.name[r] == added.vt_to)):
            start, length = c.start[r] + shift, c.length[r]
            at = put_row(out, at, c.kind[r], level + 1, c.name[r], first, start, length)
        r += 1
    return at, used, r


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
    kind, level, name, parent = out.kind, out.level, out.name, out.parent
    size, start, length, heap = out.size, out.start, out.length, out.heap
    c_kind, c_level, c_name, c_parent = c.kind, c.level, c.name, c.parent
    c_size, c_start, c_length, c_heap = c.size, c.start, c.length, c.heap
    place, link, state, links, tag = n.place, n.link, n.state, a.first, a.tag
    begins, finishes, zones = n.begin, n.end, n.zones
    family, total, laid_row = laid.family, laid.total, laid.row
    laid_byte, laid_level = laid.byte, laid.level
    vt_from, vt_to = added.vt_from, added.vt_to
    # The elements that are open and contain holes: their rows here and there, and their ends.
    sources, opened, ends = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    for w in range(len(which)):
        i = which[w]
        f = place[i]
        row, first, used = signed(payload[f]), laid_row[i], laid_byte[i]
        end, has_bounds = row + signed(c_size[row]), added.bounds and timed[tag[f]] != 0
        begin, long = signed(c_start[row]), signed(c_length[row])
        if long < 0:
            begin, long = span_of(c, row)
        limit, depth_0 = first + total[i], signed(laid_level[i])
        if used + long > len(heap) or limit > len(kind):
            raise IndexError("a payload does not fit where it was laid")
        copy_block(heap, used, c_heap, begin, long)
        shift, deeper = used - begin, depth_0 - signed(c_level[row])
        used += long
        default = shape[f] & DEFAULT != 0
        if shape[f] >> SHAPE_BITS or (added.undeclare and not default):
            at, used, r = _put_head(
                c, t, row, out, first, used, shift, depth_0, default, has_bounds, added
            )
        else:
            kind[first], level[first], name[first] = c_kind[row], depth_0, c_name[row]
            start[first], length[first] = 0, -1
            at, r = first + 1, row + 1
            # Without bounds its attributes are part of the first run.
            while has_bounds and r <= end and c_kind[r] & KIND in (NAMESPACE, ATTRIBUTE):
                own = c_name[r] == vt_from or c_name[r] == vt_to
                if not (own and c_kind[r] & KIND == ATTRIBUTE):
                    kind[at], level[at], name[at] = c_kind[r], depth_0 + 1, c_name[r]
                    parent[at], size[at] = first, 0
                    start[at], length[at] = c_start[r] + shift, c_length[r]
                    at += 1
                r += 1
        for side in range(2 if has_bounds else 0):
            instant, zoned = finishes[i] if side else begins[i], zones[i] & (side + 1) != 0
            kind[at], level[at], name[at] = ATTRIBUTE, depth_0 + 1, vt_to if side else vt_from
            parent[at], size[at], start[at] = first, 0, used
            used = put_instant(instant, zoned, heap, used)
            length[at] = used - start[at]
            at += 1
        k, last_hole, j, last = links[f], links[f + 1], i + 1, i + family[i]
        depth, last_text = 1, signed(-1)
        sources[0], opened[0], ends[0] = row, first, end
        while r <= end or depth > 1:
            if r > ends[depth - 1]:
                depth -= 1
                size[opened[depth]] = at - opened[depth] - 1
                last_text = signed(-1)
                continue
            source, above = sources[depth - 1], opened[depth - 1]
            hole = signed(hole_row[k]) if k < last_hole else end + 1
            if hole == r:
                while j < last and link[j] == k:
                    if state[j] == FULL:
                        parent[laid_row[j]] = above
                    at += total[j]
                    last_text = signed(-1)
                    j += family[j]
                r += signed(c_size[r]) + 1
                k += 1
                continue
            if last_text >= 0 and c_kind[r] & KIND == TEXT:
                # The texts around an empty hole are one: both are written anew, end to end.
                if start[last_text] + length[last_text] != used:
                    moved, long = used, signed(length[last_text])
                    heap[used : used + long] = heap[start[last_text] : start[last_text] + long]
                    start[last_text], used = moved, used + long
                long = signed(c_length[r])
                heap[used : used + long] = c_heap[c_start[r] : c_start[r] + long]
                used += long
                length[last_text] += c_length[r]
                kind[last_text] |= c_kind[r]
                r += 1
                continue
            # A run of rows up to the next hole, or to the element that contains it.
            stop = min(hole, ends[depth - 1] + 1)
            if hole <= ends[depth - 1]:
                stop = r
                while stop + signed(c_size[stop]) < hole:
                    stop += signed(c_size[stop]) + 1
            if at + max(stop - r, 1) > limit:
                raise IndexError("a payload has more rows than were measured")
            if stop == r:
                kind[at], level[at], name[at] = c_kind[r], c_level[r] + deeper, c_name[r]
                parent[at], start[at], length[at] = above, c_start[r] + shift, -1
                at += 1
                if depth == len(opened):
                    sources = np.concatenate((sources, np.empty(depth, np.int64)))
                    opened = np.concatenate((opened, np.empty(depth, np.int64)))
                    ends = np.concatenate((ends, np.empty(depth, np.int64)))
                sources[depth], opened[depth], ends[depth] = r, at - 1, r + c_size[r]
                depth += 1
                last_text = signed(-1)
                r += 1
                continue
            moved, rows = at - r, stop - r
            from_, to = np.uint64(r), np.uint64(at)
            if rows > _LONG:
                copy_block(kind, at, c_kind, r, rows)
                copy_block(name, at, c_name, r, rows)
                copy_block(size, at, c_size, r, rows)
                copy_block(length, at, c_length, r, rows)
                for q in range(np.uint64(rows)):
                    level[to + q] = c_level[from_ + q] + deeper
                for q in range(np.uint64(rows)):
                    start[to + q] = c_start[from_ + q] + shift
                for q in range(np.uint64(rows)):
                    up = signed(c_parent[from_ + q])
                    parent[to + q] = above if up == source else up + moved
            else:
                for q in range(np.uint64(rows)):
                    kind[to + q] = c_kind[from_ + q]
                    level[to + q] = c_level[from_ + q] + deeper
                    name[to + q] = c_name[from_ + q]
                    up = signed(c_parent[from_ + q])
                    parent[to + q] = above if up == source else up + moved
                    size[to + q] = c_size[from_ + q]
                    start[to + q] = c_start[from_ + q] + shift
                    length[to + q] = c_length[from_ + q]
            at += rows
            ends_in_text = c_kind[stop - 1] & KIND == TEXT and c_parent[stop - 1] == source
            last_text = at - 1 if ends_in_text else signed(-1)
            r = stop
        while j < last:  # what is attached is behind all that the payload holds
            if state[j] == FULL:
                parent[laid_row[j]] = first
            at += total[j]
            j += family[j]
        size[first] = at - first - 1
