"""Trees taken out of the documents they are in, with the namespaces that are in scope there."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import I32, I64, KIND, NAMESPACE, Bools, Columns, Tape, empty_columns
from xstreamcast.tape.names import NameTables

_MOST = 64  # namespaces in scope around a tree


@kernel
def _inherited(c: Columns, t: NameTables, root: int, found: I64) -> int:
    """The rows of the bindings in scope around an element that it does not bind itself → how many.

    An undeclared default is in scope as nothing.
    """
    count, above = 0, signed(c.parent[root])
    while above >= 0:
        b, end = above + 1, above + c.size[above]
        while b <= end and c.kind[b] & KIND == NAMESPACE:
            word, hidden = t.name_word[c.name[b]], False
            for k in range(count):
                hidden |= t.name_word[c.name[found[k]]] == word
            own = root + 1
            while own <= root + c.size[root] and c.kind[own] & KIND == NAMESPACE:
                hidden |= t.name_word[c.name[own]] == word
                own += 1
            if not hidden and count < len(found):
                found[count] = b
                count += 1
            b += 1
        above = signed(c.parent[above])
    return count


@kernel
def _measure(c: Columns, t: NameTables, roots: I64, dropped: Bools, plain: Bools) -> int:
    """How many rows the trees take; `plain`: whether a tree is as it is."""
    total, found = 0, np.empty(_MOST, np.int64)
    for i in range(len(roots)):
        root = roots[i]
        count = _inherited(c, t, root, found)
        row, end, cut = root, root + signed(c.size[root]), False
        rows = 0
        while row <= end:
            if dropped[row] and row != root:
                row += signed(c.size[row]) + 1
                cut = True
                continue
            rows += 1
            row += 1
        plain[i] = count == 0 and not cut
        total += rows + count
    return total


@kernel
def _copy(c: Columns, t: NameTables, roots: I64, dropped: Bools, out: Columns, first: I32) -> None:
    kind, level, name, parent = out.kind, out.level, out.name, out.parent
    size, start, length = out.size, out.start, out.length
    c_kind, c_level, c_name = c.kind, c.level, c.name
    c_size, c_start, c_length = c.size, c.start, c.length
    at, found = 0, np.empty(_MOST, np.int64)
    opened, ends = np.empty(1024, np.int64), np.empty(1024, np.int64)
    for i in range(len(roots)):
        root = roots[i]
        count = _inherited(c, t, root, found)
        row, end, depth = root, root + signed(c_size[root]), 0
        first[i] = at
        deeper = signed(c_level[root])
        while row <= end:
            while depth and ends[depth - 1] < row:
                depth -= 1
                size[opened[depth]] = at - opened[depth] - 1
            if dropped[row] and row != root:
                for k in range(depth):
                    length[opened[k]] = -1  # its bytes are not what they were
                row += signed(c_size[row]) + 1
                continue
            kind[at], name[at], size[at] = c_kind[row], c_name[row], c_size[row]
            level[at] = c_level[row] - deeper
            start[at], length[at] = c_start[row], c_length[row]
            parent[at] = opened[depth - 1] if depth else -1
            at += 1
            if c_size[row]:
                if depth == len(opened):
                    opened = np.concatenate((opened, np.empty(depth, np.int64)))
                    ends = np.concatenate((ends, np.empty(depth, np.int64)))
                opened[depth], ends[depth] = at - 1, row + signed(c_size[row])
                depth += 1
            if row == root and count:
                length[at - 1] = -1
                if not c_size[row]:
                    opened[0], ends[0], depth = at - 1, row, 1
                for k in range(count):
                    b = found[k]
                    kind[at], name[at], size[at] = c_kind[b], c_name[b], 0
                    level[at], parent[at] = 1, first[i]
                    start[at], length[at] = c_start[b], c_length[b]
                    at += 1
            row += 1
        while depth:
            depth -= 1
            size[opened[depth]] = at - opened[depth] - 1


@kernel
def _measure_whole(c: Columns, t: NameTables, roots: I64, counts: I64, bindings: I64) -> int:
    """How many rows the trees take with the bindings around them, which are noted end to end."""
    total, noted, found = 0, 0, np.empty(_MOST, np.int64)
    for i in range(len(roots)):
        count = _inherited(c, t, roots[i], found)
        counts[i] = count
        if noted + count <= len(bindings):
            bindings[noted : noted + count] = found[:count]
        noted += count
        total += signed(c.size[roots[i]]) + 1 + count
    return total


@kernel
def _copy_whole(
    c: Columns, roots: I64, counts: I64, bindings: I64, out: Columns, first: I32
) -> None:
    """Trees of which nothing is left out: rows stay as far from each other as they were."""
    kind, level, name, parent = out.kind, out.level, out.name, out.parent
    size, start, length = out.size, out.start, out.length
    c_kind, c_level, c_name, c_parent = c.kind, c.level, c.name, c.parent
    c_size, c_start, c_length = c.size, c.start, c.length
    at, noted = 0, 0
    for i in range(len(roots)):
        root, count = roots[i], counts[i]
        rows, deeper = signed(c_size[root]), c_level[root]
        first[i] = top = at
        kind[at], level[at], name[at], parent[at] = c_kind[root], 0, c_name[root], -1
        size[at], start[at] = rows + count, c_start[root]
        length[at] = -1 if count else c_length[root]
        at += 1
        for k in range(count):
            b = bindings[noted + k]
            kind[at], level[at], name[at], parent[at] = c_kind[b], 1, c_name[b], top
            size[at], start[at], length[at] = 0, c_start[b], c_length[b]
            at += 1
        noted += count
        moved = at - root - 1
        for row in range(root + 1, root + rows + 1):
            to, above = row + moved, signed(c_parent[row])
            kind[to], level[to] = c_kind[row], c_level[row] - deeper
            name[to], size[to] = c_name[row], c_size[row]
            parent[to] = top if above == root else above + moved
            start[to], length[to] = c_start[row], c_length[row]
        at += rows


def taken_out(tape: Tape, roots: I64, dropped: Bools) -> tuple[Tape, I32]:
    """The trees at some rows, without those `dropped` in them → a tape, and their rows there.

    Where all are as they are, the tape itself.
    """
    c, tables = tape.columns, tape.names.tables
    if not dropped.any():
        return _whole(tape, roots)
    plain = np.empty(len(roots), np.bool_)
    rows = _measure(c, tables, roots, dropped, plain)
    if plain.all():
        return tape, roots.astype(np.int32)
    out, first = empty_columns(rows, c.heap), np.empty(len(roots), np.int32)
    _copy(c, tables, roots, dropped, out, first)
    return Tape(out, tape.names, tape.source), first


def _whole(tape: Tape, roots: I64) -> tuple[Tape, I32]:
    c, n = tape.columns, len(roots)
    counts, bindings = np.empty(n, np.int64), np.empty(4 * n, np.int64)
    rows = _measure_whole(c, tape.names.tables, roots, counts, bindings)
    noted = int(counts.sum())
    if noted == 0:
        return tape, roots.astype(np.int32)
    if noted > len(bindings):
        bindings = np.empty(noted, np.int64)
        _measure_whole(c, tape.names.tables, roots, counts, bindings)
    out, first = empty_columns(rows, c.heap), np.empty(n, np.int32)
    _copy_whole(c, roots, counts, bindings, out, first)
    return Tape(out, tape.names, tape.source), first
