"""Building events written as rows: elements with the namespaces their names need, texts merged."""

from __future__ import annotations

from typing import NamedTuple

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    I32,
    I64,
    KIND,
    NAMESPACE,
    PI,
    TEXT,
    U8,
    Columns,
)
from xstreamcast.tape.names import NameTables
from xstreamcast.tape.writing.copy_kernels import (
    copy_plain,
    copy_scoped,
    has_namespaces,
    put_binding_row,
    put_heap,
    put_row,
)
from xstreamcast.tape.writing.scope_kernels import bound_uri, inherited

# Operations: the kinds themselves (DOCUMENT and ELEMENT open, the others are whole), and two more.
END, COPY = 7, 8
# Places in the state.
EVENT, ROWS, USED, DEPTH, BOUND, LAST_TEXT, CLASH_AT = range(7)
SPARE_ROWS, SPARE_BYTES, NEED_ROWS, NEED_BYTES, LONGEST_URI = range(7, 12)
NO_TEXT = -2
# Answers.
DONE, ROOM, CLASH, MISPLACED = range(4)


class Events(NamedTuple):
    """What is to be built: one operation per place."""

    op: U8
    name: I32
    start: I64  # with `length`: the text, in `heap`
    length: I32
    row: I64  # of the source tape, where the operation is COPY
    heap: U8


class Stacks(NamedTuple):
    """What is open while building."""

    opened: I64  # rows
    before: I64  # how many bindings were in scope outside
    scope: I64  # bindings


@kernel
def is_taken(t: NameTables, scope: I64, first: int, bound: int, name: int) -> bool:
    """Whether an attribute cannot have its prefix: none, or bound otherwise by its element."""
    prefix, uri = t.name_word[name], t.name_uri[name]
    if prefix == 0:
        return True
    for i in range(first, bound):
        if t.name_word[scope[i]] == prefix and t.name_uri[scope[i]] != uri:
            return True
    return False


@kernel
def declare(
    t: NameTables,
    out: Columns,
    at: int,
    used: int,
    level: int,
    parent: int,
    name: int,
    scope: I64,
    bound: int,
) -> tuple[int, int, int]:
    """Write a NAMESPACE row unless the binding holds already → (next row, heap used, bindings)."""
    if bound_uri(t, scope, bound, t.name_word[name]) == t.name_uri[name]:
        return at, used, bound
    scope[bound] = name
    at, used = put_binding_row(t, out, at, used, level, parent, name)
    return at, used, bound + 1


@kernel
def open_element(
    e: Events, t: NameTables, binding: I32, out: Columns, state: I64, s: Stacks
) -> int:
    """Write an element with its namespaces and attributes → DONE, or CLASH at an attribute."""
    first, at, used, depth = state[EVENT], state[ROWS], state[USED], state[DEPTH]
    mine, bound = at, state[BOUND]
    above = s.opened[depth - 1] if depth else signed(-1)
    s.opened[depth], s.before[depth] = mine, bound
    at = put_row(out, at, ELEMENT, depth, e.name[first], above, used, -1)
    end = first + 1
    while end < len(e.op) and (e.op[end] == ATTRIBUTE or e.op[end] == NAMESPACE):
        end += 1
    for i in range(first + 1, end):
        if e.op[i] == NAMESPACE:
            at, used, bound = declare(t, out, at, used, depth + 1, mine, e.name[i], s.scope, bound)
    for i in range(first, end):
        name = signed(binding[e.name[i]]) if e.op[i] != NAMESPACE else signed(-1)
        if i > first and name >= 0 and t.name_uri[name] == 0:
            continue  # the default namespace does not concern attributes
        if i > first and name >= 0 and is_taken(t, s.scope, s.before[depth], bound, name):
            state[CLASH_AT] = i
            return CLASH
        if name >= 0:
            at, used, bound = declare(t, out, at, used, depth + 1, mine, name, s.scope, bound)
    for i in range(first + 1, end):
        if e.op[i] == ATTRIBUTE:
            at = put_row(out, at, ATTRIBUTE, depth + 1, e.name[i], mine, used, e.length[i])
            used = put_heap(out, used, e.heap, e.start[i], e.length[i])
    state[EVENT], state[ROWS], state[USED], state[BOUND] = end, at, used, bound
    state[DEPTH] = depth + 1
    return DONE


@kernel
def put_text(e: Events, i: int, out: Columns, state: I64, above: int) -> None:
    """Write a text: below an element it joins the text before it, and an empty one is nothing."""
    if state[DEPTH] and e.length[i] == 0:
        return
    at, used = state[ROWS], state[USED]
    if state[DEPTH] and state[LAST_TEXT] == at - 1:
        out.length[at - 1] += e.length[i]
    else:
        state[LAST_TEXT] = at
        at = put_row(out, at, TEXT, state[DEPTH], -1, above, used, e.length[i])
    state[ROWS] = at
    state[USED] = put_heap(out, used, e.heap, e.start[i], e.length[i])


@kernel
def has_room(c: Columns, t: NameTables, row: int, out: Columns, state: I64, plain: bool) -> bool:
    """Whether a subtree fits, leaving what the other events need; else the state says what does."""
    rows, used, extra = signed(c.size[row]) + 1, signed(0), signed(0)
    if not plain:
        # At most one binding for each name, each inherited prefix, and each one taken back.
        extra = rows * (2 + state[BOUND]) + len(inherited(c, t, row))
        for i in range(row, row + c.size[row] + 1):
            extra += c.kind[i] & KIND == NAMESPACE
    for i in range(row, row + c.size[row] + 1):
        if c.kind[i] & KIND > ELEMENT:
            used += c.length[i]
    rows += state[ROWS] + extra + state[SPARE_ROWS]
    used += state[USED] + extra * state[LONGEST_URI] + state[SPARE_BYTES]
    state[NEED_ROWS], state[NEED_BYTES] = rows, used
    return bool(rows <= len(out.kind) and used <= len(out.heap))


@kernel
def copy_subtree(
    row: int,
    c: Columns,
    t: NameTables,
    binding: I32,
    undeclared: I32,
    out: Columns,
    state: I64,
    s: Stacks,
    above: int,
    preserve: bool,
    inherit: bool,
) -> int:
    """Copy a subtree below what is open → DONE or ROOM."""
    plain = state[BOUND] == 0 and not has_namespaces(c, row)
    if not has_room(c, t, row, out, state, plain):
        return ROOM
    at, used, depth = state[ROWS], state[USED], state[DEPTH]
    if plain:
        at, used = copy_plain(c, row, out, at, used, depth, above)
    else:
        outside = s.scope[: state[BOUND]]
        at, used = copy_scoped(
            c, t, binding, undeclared, row, out, at, used, depth, above, outside, preserve, inherit
        )
    state[ROWS], state[USED] = at, used
    return DONE


@kernel
def build(
    e: Events,
    c: Columns,
    t: NameTables,
    binding: I32,
    undeclared: I32,
    out: Columns,
    state: I64,
    s: Stacks,
    preserve: bool,
    inherit: bool,
) -> int:
    """Write events from where the state is → DONE, or why it stopped."""
    while state[EVENT] < len(e.op):
        i, depth = state[EVENT], state[DEPTH]
        op = e.op[i]
        above = s.opened[depth - 1] if depth else signed(-1)
        if op == END:
            row = s.opened[depth - 1]
            out.size[row] = state[ROWS] - row - 1
            state[DEPTH], state[BOUND] = depth - 1, s.before[depth - 1]
            state[LAST_TEXT] = NO_TEXT
        elif op == COPY:
            answer = copy_subtree(
                e.row[i], c, t, binding, undeclared, out, state, s, above, preserve, inherit
            )
            if answer != DONE:
                return answer
        elif op == ELEMENT:
            answer = open_element(e, t, binding, out, state, s)
            if answer != DONE:
                return answer
            continue
        elif op == TEXT:
            put_text(e, i, out, state, above)
        elif op == DOCUMENT:
            s.opened[depth], s.before[depth] = state[ROWS], state[BOUND]
            state[ROWS] = put_row(out, state[ROWS], DOCUMENT, depth, -1, above, state[USED], -1)
            state[DEPTH] = depth + 1
        elif depth and op != COMMENT and op != PI:
            return MISPLACED
        else:
            at, used = state[ROWS], state[USED]
            state[ROWS] = put_row(out, at, op, depth, e.name[i], above, used, e.length[i])
            state[USED] = put_heap(out, used, e.heap, e.start[i], e.length[i])
        state[EVENT] = i + 1
    return DONE
