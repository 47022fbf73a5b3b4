"""A subtree copied from one tape to another, namespaces kept as XQuery's copy-namespaces says."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    DOCUMENT,
    ELEMENT,
    I32,
    I64,
    KIND,
    NAMESPACE,
    U8,
    Columns,
)
from xstreamcast.tape.names import NameTables
from xstreamcast.tape.steps.axis_kernels import roomier
from xstreamcast.tape.writing.scope_kernels import bound_uri, inherited


@kernel
def put_row(
    out: Columns, at: int, kind: int, level: int, name: int, parent: int, start: int, length: int
) -> int:
    """Write a row without anything below it → the next row."""
    out.kind[at] = kind
    out.level[at] = level
    out.name[at] = name
    out.parent[at] = parent
    out.size[at] = 0
    out.start[at] = start
    out.length[at] = length
    return at + 1


@kernel
def put_heap(out: Columns, used: int, data: U8, start: int, length: int) -> int:
    """Copy the bytes of a span to the heap → what is then used."""
    for i in range(length):
        out.heap[used + i] = data[start + i]
    return used + length


@kernel
def put_binding_row(
    t: NameTables, out: Columns, at: int, used: int, level: int, parent: int, name: int
) -> tuple[int, int]:
    """Write a NAMESPACE row → (the next row, heap used)."""
    uri = t.name_uri[name]
    at = put_row(out, at, NAMESPACE, level, name, parent, used, t.word_length[uri])
    return at, put_heap(out, used, t.heap, t.word_start[uri], t.word_length[uri])


@kernel
def has_namespaces(c: Columns, row: int) -> bool:
    """Whether a NAMESPACE row is in the subtree or on an ancestor."""
    for i in range(row + 1, row + c.size[row] + 1):
        if c.kind[i] & KIND == NAMESPACE:
            return True
    while row >= 0:
        if c.size[row] > 0 and c.kind[row + 1] & KIND == NAMESPACE:
            return True
        row = signed(c.parent[row])
    return False


@kernel
def copy_plain(
    c: Columns, row: int, out: Columns, at: int, used: int, level: int, parent: int
) -> tuple[int, int]:
    """Copy a subtree without namespaces → (the next row, heap used)."""
    shift, deeper = at - row, level - signed(c.level[row])
    for i in range(row, row + c.size[row] + 1):
        j = i + shift
        out.kind[j] = c.kind[i]
        out.level[j] = c.level[i] + deeper
        out.name[j] = c.name[i]
        out.parent[j] = c.parent[i] + shift if i > row else parent
        out.size[j] = c.size[i]
        out.start[j] = used
        if c.kind[i] & KIND == ELEMENT or c.kind[i] & KIND == DOCUMENT:
            out.length[j] = -1
        else:
            out.length[j] = c.length[i]
            used = put_heap(out, used, c.heap, c.start[i], c.length[i])
    return at + c.size[row] + 1, used


@kernel
def binding_of(t: NameTables, bindings: I64, count: int, prefix: int) -> int:
    """The innermost binding of a prefix, or -1."""
    for i in range(count - 1, -1, -1):
        if t.name_word[bindings[i]] == prefix:
            return int(bindings[i])
    return -1


@kernel
def push_unless_bound(t: NameTables, scope: I64, bound: int, name: int) -> tuple[I64, int, bool]:
    """Add a binding to the scope if it changes anything there → (scope, its size, whether)."""
    if bound_uri(t, scope, bound, t.name_word[name]) == t.name_uri[name]:
        return scope, bound, False
    scope = roomier(scope, bound)
    scope[bound] = name
    return scope, bound + 1, True


@kernel
def wanted_bindings(
    c: Columns,
    t: NameTables,
    binding: I32,
    row: int,
    top: bool,
    outside: I64,
    preserve: bool,
    inherit: bool,
) -> I64:
    """The bindings that a copied element asks for, in order; names, not yet compared with scope."""
    outer = inherited(c, t, row) if top and preserve else np.empty(0, np.int64)
    found, n = np.empty(len(outer) + 8, np.int64), signed(len(outer))
    found[:n] = outer
    i, end = row + 1, row + c.size[row]
    while i <= end and c.kind[i] & KIND == NAMESPACE:
        name = signed(c.name[i])
        if inherit and t.name_uri[name] == 0:
            # What an undeclaration leaves free is inherited; at the top it speaks of others.
            back = binding_of(t, outside, len(outside), t.name_word[name])
            free = not top and back >= 0 and binding[c.name[row]] != name
            name = back if free else signed(-1) if top else name
        if preserve and name >= 0:
            found = roomier(found, n)
            found[n] = name
            n += 1
        i += 1
    found = roomier(found, n)
    if binding[c.name[row]] >= 0:
        found[n] = binding[c.name[row]]
        n += 1
    while i <= end and c.kind[i] & KIND == ATTRIBUTE:
        own = signed(binding[c.name[i]])
        if own >= 0 and t.name_uri[own] != 0:
            found = roomier(found, n)
            found[n] = own
            n += 1
        i += 1
    return found[:n]


@kernel
def copy_scoped(
    c: Columns,
    t: NameTables,
    binding: I32,
    undeclared: I32,
    row: int,
    out: Columns,
    at: int,
    used: int,
    level: int,
    parent: int,
    outside: I64,
    preserve: bool,
    inherit: bool,
) -> tuple[int, int]:
    """Copy a subtree into a place where the bindings `outside` are in scope."""
    scope, bound = np.empty(len(outside) + 16, np.int64), signed(len(outside))
    scope[:bound] = outside
    opened, copies = np.empty(16, np.int64), np.empty(16, np.int64)
    before, depth = np.empty(16, np.int64), signed(0)
    last = row + c.size[row]
    for i in range(row, last + 2):
        while depth and (i > last or opened[depth - 1] + c.size[opened[depth - 1]] < i):
            depth -= 1
            bound = before[depth]
            out.size[copies[depth]] = at - copies[depth] - 1
        if i > last:
            break
        kind = c.kind[i] & KIND
        above = copies[depth - 1] if depth else parent
        if kind == NAMESPACE:
            continue
        if kind != ELEMENT and kind != DOCUMENT:
            at = put_row(out, at, c.kind[i], level + depth, c.name[i], above, used, c.length[i])
            used = put_heap(out, used, c.heap, c.start[i], c.length[i])
            continue
        opened, copies = roomier(opened, depth), roomier(copies, depth)
        before = roomier(before, depth)
        opened[depth], copies[depth], before[depth] = i, at, bound
        depth += 1
        mine = at
        at = put_row(out, at, kind, level + depth - 1, c.name[i], above, used, -1)
        if kind == DOCUMENT:
            continue
        wanted = wanted_bindings(c, t, binding, i, i == row, outside, preserve, inherit)
        for j in range(len(wanted)):
            scope, bound, news = push_unless_bound(t, scope, bound, wanted[j])
            if news:
                at, used = put_binding_row(t, out, at, used, level + depth, mine, wanted[j])
        # Without inherit nothing comes from outside; without preserve nothing from a copied parent.
        first = 0 if i == row and not inherit else len(outside)
        last_bound = before[depth - 1] if i > row and not preserve else signed(len(outside))
        for j in range(first, last_bound):
            if binding_of(t, wanted, len(wanted), t.name_word[scope[j]]) >= 0:
                continue
            if i == row:
                back = signed(undeclared[scope[j]])
            else:
                kept = len(outside) if inherit else 0
                back = binding_of(t, scope, kept, t.name_word[scope[j]])
                if back < 0 and t.name_word[scope[j]] != 0:
                    continue  # a spare prefix does no harm, and XML 1.0 could not undeclare it
                back = max(back, 0)  # name 0: no default namespace
            scope, bound, news = push_unless_bound(t, scope, bound, back)
            if news:
                at, used = put_binding_row(t, out, at, used, level + depth, mine, back)
    return at, used
