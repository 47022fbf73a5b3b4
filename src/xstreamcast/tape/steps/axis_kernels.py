"""Steps along an axis, for many context rows of one tape at once.

Each kernel gives (labels, rows): result `rows[k]` belongs to context `labels[k]`; labels ascend,
and the rows of one label are in document order. `mask` holds one bit per kind; `wanted` is the one
name that matches, ANY, or LISTED: then `names` says it for every name.

Every walk is made twice, to count and to write: a column that grows inside a loop costs more than
the second walk, as would a tuple of columns handed to an inner function (counted references).
"""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, part, signed
from xstreamcast.tape.layout import ATTRIBUTE, I32, I64, KIND, NAMESPACE, U8, Bools, Columns

ANY, LISTED = -1, -2
BELOW = ~((1 << ATTRIBUTE) | (1 << NAMESPACE))  # what is never child, descendant, sibling …
BLOCK = 256

CHILD, ATTRIBUTES, FOLLOWING_SIBLING, PRECEDING_SIBLING, FOLLOWING, PRECEDING = range(6)


@part
def passes(kind: int, name: int, mask: int, wanted: int, names: Bools) -> bool:
    """Whether a node of this kind and name passes the test."""
    if (mask >> (kind & KIND)) & 1 == 0:
        return False
    if wanted >= 0:
        return name == wanted
    return wanted == ANY or (name >= 0 and bool(names[name]))


@part
def roomier(column: I64, used: int) -> I64:
    """`column`, or a copy twice as long when it is full."""
    if used < len(column):
        return column
    larger = np.empty(2 * len(column) + 16, np.int64)
    larger[:used] = column[:used]
    return larger


@part
def first_child(kind: U8, row: int, end: int) -> int:
    """The row after the namespaces and attributes of `row`, whose last descendant is `end`."""
    i = row + 1
    while i <= end and (kind[i] & KIND == NAMESPACE or kind[i] & KIND == ATTRIBUTE):
        i += 1
    return int(i)


@part
def root_of(parent: I32, row: int) -> int:
    """The root of the tree of `row`."""
    while parent[row] >= 0:
        row = signed(parent[row])
    return row


@part
def bounds(kind: U8, parent: I32, size: I32, row: int, axis: int) -> tuple[int, int]:
    """The first and last row that a walk along `axis` from `row` looks at."""
    end = row + signed(size[row])
    if axis == CHILD:
        return first_child(kind, row, end), end
    if axis == ATTRIBUTES:
        return row + 1, first_child(kind, row, end) - 1
    if axis in (FOLLOWING, PRECEDING):
        root = root_of(parent, row)
        return (end + 1, root + signed(size[root])) if axis == FOLLOWING else (root, row - 1)
    above = signed(parent[row])
    if above < 0 or (BELOW >> (kind[row] & KIND)) & 1 == 0:
        return row, row - 1
    last = above + signed(size[above])
    return (
        (end + 1, last) if axis == FOLLOWING_SIBLING else (first_child(kind, above, last), row - 1)
    )


@kernel
def walk_along(
    kind: U8,
    name: I32,
    parent: I32,
    size: I32,
    rows: I64,
    axis: int,
    mask: int,
    wanted: int,
    names: Bools,
    label: I64,
    found: I64,
    write: bool,
) -> int:
    """Count, or write, what is along an axis."""
    n = signed(0)
    hops = axis in (CHILD, FOLLOWING_SIBLING, PRECEDING_SIBLING)
    for k in range(len(rows)):
        i, end = bounds(kind, parent, size, rows[k], axis)
        while i <= end:
            ancestor = axis == PRECEDING and i + size[i] >= rows[k]
            if not ancestor and passes(kind[i], name[i], mask, wanted, names):
                if write:
                    label[n], found[n] = k, i
                n += 1
            i += size[i] + 1 if hops else 1
    return n


@kernel
def along(
    c: Columns, rows: I64, axis: int, mask: int, wanted: int, names: Bools
) -> tuple[I64, I64]:
    """child, attribute, siblings, following and preceding."""
    mask &= 1 << ATTRIBUTE if axis == ATTRIBUTES else BELOW
    kind, name, parent, size = c.kind, c.name, c.parent, c.size
    none = np.empty(0, np.int64)
    n = walk_along(kind, name, parent, size, rows, axis, mask, wanted, names, none, none, False)
    label, found = np.empty(n, np.int64), np.empty(n, np.int64)
    walk_along(kind, name, parent, size, rows, axis, mask, wanted, names, label, found, True)
    return label, found


@kernel
def walk_upward(
    kind: U8,
    name: I32,
    parent: I32,
    rows: I64,
    mask: int,
    wanted: int,
    names: Bools,
    own: bool,
    far: bool,
    label: I64,
    found: I64,
    write: bool,
) -> int:
    """Count, or write, what is above."""
    n = signed(0)
    for k in range(len(rows)):
        i = rows[k] if own else signed(parent[rows[k]])
        first = n
        while i >= 0:
            if passes(kind[i], name[i], mask, wanted, names):
                if write:
                    label[n], found[n] = k, i
                n += 1
            i = signed(parent[i]) if far else signed(-1)
        if write:  # met from below, wanted in document order
            for j in range((n - first) // 2):
                found[first + j], found[n - 1 - j] = found[n - 1 - j], found[first + j]
    return n


@kernel
def upward(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, own: bool, far: bool
) -> tuple[I64, I64]:
    """self (`own`), parent, ancestor (`far`), ancestor-or-self."""
    kind, name, parent = c.kind, c.name, c.parent
    none = np.empty(0, np.int64)
    n = walk_upward(kind, name, parent, rows, mask, wanted, names, own, far, none, none, False)
    label, found = np.empty(n, np.int64), np.empty(n, np.int64)
    walk_upward(kind, name, parent, rows, mask, wanted, names, own, far, label, found, True)
    return label, found


@kernel
def count_in(
    kind: U8, name: I32, start: int, end: int, mask: int, wanted: int, names: Bools
) -> int:
    """At most so many rows of [start, end) pass; for one name a loop that vectorises."""
    n = signed(0)
    if wanted >= 0:
        for one in name[start:end]:
            n += one == wanted
        return n
    for i in range(start, end):
        n += passes(kind[i], name[i], mask, wanted, names)
    return n


@kernel
def write_in(
    kind: U8,
    name: I32,
    start: int,
    end: int,
    mask: int,
    wanted: int,
    names: Bools,
    found: I64,
    n: int,
) -> int:
    """Write the rows of [start, end) that pass; blocks without the wanted name are skipped."""
    for first in range(start, end, BLOCK):
        stop = min(first + BLOCK, end)
        hits = signed(0)
        if wanted >= 0:
            for one in name[first:stop]:
                hits += one == wanted
        if wanted < 0 or hits > 0:
            for i in range(first, stop):
                if passes(kind[i], name[i], mask, wanted, names):
                    found[n] = i
                    n += 1
    return n


@kernel
def descendant_distinct(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, own: bool
) -> I64:
    """The descendants of all of `rows` (ascending, no attributes), each once, in order."""
    kind, name, size = c.kind, c.name, c.size
    starts, ends, spans, total = np.empty_like(rows), np.empty_like(rows), 0, signed(0)
    reached = signed(0)
    for k in range(len(rows)):
        start, end = max(rows[k] if own else rows[k] + 1, reached), rows[k] + size[rows[k]] + 1
        if start < end:
            starts[spans], ends[spans] = start, end
            spans += 1
            total += count_in(kind, name, start, end, mask & BELOW, wanted, names)
            reached = end
    found, n = np.empty(total, np.int64), signed(0)
    for k in range(spans):
        n = write_in(kind, name, starts[k], ends[k], mask & BELOW, wanted, names, found, n)
    return found[:n]


@kernel
def descendant_apart(
    c: Columns, rows: I64, mask: int, wanted: int, names: Bools, own: bool
) -> tuple[I64, I64]:
    """Descendants of rows whose subtrees are disjoint: each subtree is read once."""
    kind, name, size = c.kind, c.name, c.size
    most, total = np.empty_like(rows), signed(0)
    for k in range(len(rows)):
        end = rows[k] + size[rows[k]] + 1
        most[k] = own + count_in(kind, name, rows[k] + 1, end, mask & BELOW, wanted, names)
        total += most[k]
    label, found, n = np.empty(total, np.int64), np.empty(total, np.int64), signed(0)
    for k in range(len(rows)):
        if most[k] == 0:
            continue
        row, first = rows[k], n
        if own and passes(kind[row], name[row], mask, wanted, names):
            found[n] = row
            n += 1
        end = row + size[row] + 1
        n = write_in(kind, name, row + 1, end, mask & BELOW, wanted, names, found, n)
        label[first:n] = k
    return label[:n], found[:n]


@kernel
def descendant_among(c: Columns, rows: I64, distinct: I64, own: bool) -> tuple[I64, I64]:
    """Descendants of rows that may nest or repeat, cut from all descendants, found before."""
    kind, size = c.kind, c.size
    first, count, total = np.empty_like(rows), np.empty_like(rows), signed(0)
    for k in range(len(rows)):
        row = rows[k]
        first[k] = np.searchsorted(distinct, row if own else row + 1)
        count[k] = np.searchsorted(distinct, row + size[row] + 1) - first[k]
        total += count[k]
    label, found, n = np.empty(total, np.int64), np.empty(total, np.int64), signed(0)
    for k in range(len(rows)):
        for j in range(first[k], first[k] + count[k]):
            # An attribute among the contexts is in `distinct` for itself only.
            if distinct[j] != rows[k] and (BELOW >> (kind[distinct[j]] & KIND)) & 1 == 0:
                continue
            label[n], found[n] = k, distinct[j]
            n += 1
    return label[:n], found[:n]


@kernel
def apart(c: Columns, rows: I64) -> bool:
    """Whether the subtrees of `rows` follow each other without overlap."""
    size, reached = c.size, signed(0)
    for k in range(len(rows)):
        if rows[k] < reached:
            return False
        reached = rows[k] + size[rows[k]] + 1
    return True
