"""Steps along an axis, for many context rows of one tape at once.

Each kernel gives (labels, rows): result `rows[k]` belongs to context `labels[k]`; labels ascend,
and the rows of one label are in document order. `mask` holds one bit per kind; `wanted` is the one
name that matches, ANY, or LISTED: then `names` says it for every name.
"""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import ATTRIBUTE, I32, I64, KIND, NAMESPACE, Bools, Columns

ANY, LISTED = -1, -2
BELOW = ~((1 << ATTRIBUTE) | (1 << NAMESPACE))  # what is never child, descendant, sibling …
BLOCK = 128


@kernel
def passes(c: Columns, row: int, mask: int, wanted: int, names: Bools) -> bool:
    """Whether the node at `row` passes the test."""
    if (mask >> (c.kind[row] & KIND)) & 1 == 0:
        return False
    if wanted >= 0:
        return bool(c.name[row] == wanted)
    return wanted == ANY or (c.name[row] >= 0 and bool(names[c.name[row]]))


@kernel
def roomier(column: I64, used: int) -> I64:
    """`column`, or a copy twice as long when it is full."""
    if used < len(column):
        return column
    larger = np.empty(2 * len(column) + 16, np.int64)
    larger[:used] = column[:used]
    return larger


@kernel
def first_child(c: Columns, row: int) -> int:
    """The row after the namespaces and attributes of `row`."""
    i, end = row + 1, row + c.size[row]
    while i <= end and (c.kind[i] & KIND == NAMESPACE or c.kind[i] & KIND == ATTRIBUTE):
        i += 1
    return int(i)


@kernel
def child(c: Columns, rows: I64, mask: int, wanted: int, names: Bools) -> tuple[I64, I64]:
    mask &= BELOW
    label, found = np.empty(len(rows) + 16, np.int64), np.empty(len(rows) + 16, np.int64)
    n = signed(0)
    for k in range(len(rows)):
        i, end = first_child(c, rows[k]), rows[k] + c.size[rows[k]]
        while i <= end:
            if passes(c, i, mask, wanted, names):
                if n == len(found):
                    label, found = roomier(label, n), roomier(found, n)
                label[n], found[n] = k, i
                n += 1
            i += c.size[i] + 1
    return label[:n], found[:n]


@kernel
def attribute(c: Columns, rows: I64, mask: int, wanted: int, names: Bools) -> tuple[I64, I64]:
    mask &= 1 << ATTRIBUTE
    label, found = np.empty(len(rows) + 16, np.int64), np.empty(len(rows) + 16, np.int64)
    n = signed(0)
    for k in range(len(rows)):
        i, end = rows[k] + 1, first_child(c, rows[k])
        while i < end:
            if passes(c, i, mask, wanted, names):
                if n == len(found):
                    label, found = roomier(label, n), roomier(found, n)
                label[n], found[n] = k, i
                n += 1
            i += 1
    return label[:n], found[:n]


@kernel
def upward(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, own: bool, far: bool
) -> tuple[I64, I64]:
    """self (`own`), parent, ancestor (`far`), ancestor-or-self."""
    label, found = np.empty(len(rows) + 16, np.int64), np.empty(len(rows) + 16, np.int64)
    n = signed(0)
    for k in range(len(rows)):
        i = signed(rows[k]) if own else signed(c.parent[rows[k]])
        first = n
        while i >= 0:
            if passes(c, i, mask, wanted, names):
                if n == len(found):
                    label, found = roomier(label, n), roomier(found, n)
                label[n], found[n] = k, i
                n += 1
            if not far:
                break
            i = signed(c.parent[i])
        found[first:n] = found[first:n][::-1].copy()
    return label[:n], found[:n]


@kernel
def sibling(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, after: bool
) -> tuple[I64, I64]:
    """following-sibling (`after`) and preceding-sibling."""
    mask &= BELOW
    label, found = np.empty(len(rows) + 16, np.int64), np.empty(len(rows) + 16, np.int64)
    n = signed(0)
    for k in range(len(rows)):
        row = rows[k]
        parent = c.parent[row]
        if parent < 0 or (BELOW >> (c.kind[row] & KIND)) & 1 == 0:
            continue
        i = row + c.size[row] + 1 if after else first_child(c, parent)
        end = parent + c.size[parent] if after else row - 1
        while i <= end:
            if passes(c, i, mask, wanted, names):
                if n == len(found):
                    label, found = roomier(label, n), roomier(found, n)
                label[n], found[n] = k, i
                n += 1
            i += c.size[i] + 1
    return label[:n], found[:n]


@kernel
def outside(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, after: bool
) -> tuple[I64, I64]:
    """following (`after`) and preceding: the tree without ancestors and descendants."""
    mask &= BELOW
    label, found = np.empty(len(rows) + 16, np.int64), np.empty(len(rows) + 16, np.int64)
    n = signed(0)
    for k in range(len(rows)):
        row = rows[k]
        root = row
        while c.parent[root] >= 0:
            root = signed(c.parent[root])
        i = row + c.size[row] + 1 if after else root
        end = root + c.size[root] if after else row - 1
        while i <= end:
            ancestor = not after and i + c.size[i] >= row
            if not ancestor and passes(c, i, mask, wanted, names):
                if n == len(found):
                    label, found = roomier(label, n), roomier(found, n)
                label[n], found[n] = k, i
                n += 1
            i += 1
    return label[:n], found[:n]


@kernel
def seen(column: I32, start: int, end: int, wanted: int) -> bool:
    """Whether `wanted` is between `start` and `end`; a loop that vectorises."""
    hits = 0
    for i in range(start, end):
        hits += column[i] == wanted
    return hits > 0


@kernel
def scan(
    c: Columns, start: int, end: int, mask: int, wanted: int, names: Bools, found: I64, n: int
) -> tuple[I64, int]:
    """Append the rows of [start, end) that pass; blocks without the wanted name are skipped."""
    i = start
    while i < end:
        stop = min(i + BLOCK, end)
        if wanted < 0 or seen(c.name, i, stop, wanted):
            if n + BLOCK > len(found):
                larger = np.empty(2 * len(found) + BLOCK, np.int64)
                larger[:n] = found[:n]
                found = larger
            for j in range(i, stop):
                found[n] = j
                n += passes(c, j, mask, wanted, names)
        i = stop
    return found, n


@kernel
def descendant_distinct(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, own: bool
) -> I64:
    """The descendants of all of `rows` (ascending), each once, in document order."""
    found, n, reached = np.empty(BLOCK, np.int64), signed(0), signed(0)
    for k in range(len(rows)):
        row, end = rows[k], rows[k] + c.size[rows[k]] + 1
        if own and row >= reached:
            if passes(c, row, mask, wanted, names):
                found = roomier(found, n)
                found[n] = row
                n += 1
            reached = row + 1
        start = max(row + 1, reached)
        if start < end:
            found, n = scan(c, start, end, mask & BELOW, wanted, names, found, n)
            reached = end
    return found[:n]


@kernel
def descendant_apart(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, own: bool
) -> tuple[I64, I64]:
    """Descendants of rows whose subtrees are disjoint: each subtree is read once."""
    found, n = np.empty(BLOCK, np.int64), signed(0)
    ends = np.empty(len(rows), np.int64)
    for k in range(len(rows)):
        row = rows[k]
        if own and passes(c, row, mask, wanted, names):
            found = roomier(found, n)
            found[n] = row
            n += 1
        end = row + c.size[row] + 1
        found, n = scan(c, row + 1, end, mask & BELOW, wanted, names, found, n)
        ends[k] = n
    label, first = np.empty(n, np.int64), 0
    for k in range(len(rows)):
        label[first : ends[k]] = k
        first = ends[k]
    return label, found[:n]


@kernel
def descendant_among(c: Columns, rows: I64, distinct: I64, own: bool) -> tuple[I64, I64]:
    """Descendants of rows that may nest or repeat, cut from all descendants, found before."""
    first, count = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    total = 0
    for k in range(len(rows)):
        row = rows[k]
        first[k] = np.searchsorted(distinct, row if own else row + 1)
        count[k] = np.searchsorted(distinct, row + c.size[row] + 1) - first[k]
        total += count[k]
    label, found = np.empty(total, np.int64), np.empty(total, np.int64)
    n = signed(0)
    for k in range(len(rows)):
        for j in range(first[k], first[k] + count[k]):
            # An attribute among the contexts is in `distinct` for itself only.
            if distinct[j] != rows[k] and (BELOW >> (c.kind[distinct[j]] & KIND)) & 1 == 0:
                continue
            label[n], found[n] = k, distinct[j]
            n += 1
    return label[:n], found[:n]


@kernel
def apart(c: Columns, rows: I64) -> bool:
    """Whether the subtrees of `rows` follow each other without overlap."""
    reached = signed(0)
    for k in range(len(rows)):
        if rows[k] < reached:
            return False
        reached = rows[k] + c.size[rows[k]] + 1
    return True
