"""What a payload with holes will take in a view: rows, bytes, a hash, and where its holes are."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from xstreamcast.tape.compiled import kernel, signed
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    I32,
    I64,
    KIND,
    NAMESPACE,
    TEXT,
    U8,
    U16,
    U64,
    Bools,
    Columns,
)
from xstreamcast.tape.names import NameTables

# Bits of `shape`; above them, how many bindings the payload has from around it.
OWN_BOUNDS, DEFAULT, SHAPE_BITS = 3, 4, 3
# Bits of `beside`: what is directly before and after a hole.
TEXT_BEFORE, HOLE_BEFORE, TEXT_AFTER = 1, 2, 4


class Payloads(NamedTuple):
    """A row for each payload."""

    rows: I32  # without those of its holes
    nbytes: I32
    shape: U16
    hash: U64


class Places(NamedTuple):
    """A row for each hole: rows of its payload before it, its depth, what is beside it."""

    before: I32
    depth: U16
    beside: U8
    path: U64  # a hash of the names from the payload's root to it


@kernel
def span_of(c: Columns, row: int) -> tuple[int, int]:
    """(start, length) of the bytes that the values in a subtree lie in."""
    if c.length[row] >= 0:
        return signed(c.start[row]), signed(c.length[row])
    low, high = signed(2**62), signed(0)
    for i in range(row, row + c.size[row] + 1):
        if c.length[i] >= 0:
            low, high = min(low, c.start[i]), max(high, c.start[i] + c.length[i])
    return (low, high - low) if high else (signed(0), signed(0))


@kernel
def _hash_bytes(heap: U8, start: int, length: int, seed: int) -> np.uint64:
    """FNV-1a in four lanes, so that multiplications overlap."""
    prime = np.uint64(0x100000001B3)
    a, b = np.uint64(seed), np.uint64(seed) ^ np.uint64(0x9E3779B97F4A7C15)
    c, d = np.uint64(seed) + np.uint64(length), ~np.uint64(seed)
    i, end = start, start + length
    while i + 4 <= end:
        a = (a ^ np.uint64(heap[i])) * prime
        b = (b ^ np.uint64(heap[i + 1])) * prime
        c = (c ^ np.uint64(heap[i + 2])) * prime
        d = (d ^ np.uint64(heap[i + 3])) * prime
        i += 4
    while i < end:
        a = (a ^ np.uint64(heap[i])) * prime
        i += 1
    value = a
    for lane in (b, c, d):
        value = (value ^ (lane >> np.uint64(31)) ^ lane) * np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(29)
    return value


@kernel
def _hash_payload(c: Columns, row: int, start: int, length: int, seed: int) -> np.uint64:
    value = _hash_bytes(c.heap, start, length, seed)
    if c.length[row] >= 0:
        return value
    for i in range(row, row + c.size[row] + 1):  # the bytes do not hold the markup
        mark = np.uint64(c.name[i] + 1) << np.uint64(8) | np.uint64(c.kind[i])
        value = (value ^ mark ^ np.uint64(c.size[i]) << np.uint64(40)) * np.uint64(0x100000001B3)
    return value


@kernel
def _around(c: Columns, t: NameTables, row: int, stream: int) -> tuple[int, int, bool]:
    """(bindings from around a payload, bytes of their URIs, whether a default is bound)."""
    own, end, default = row + 1, row + c.size[row], False
    while own <= end and c.kind[own] & KIND == NAMESPACE:
        default = default or t.name_word[c.name[own]] == 0
        own += 1
    count, used, above = 0, 0, signed(c.parent[row])
    if above < 0:
        return count, used, default
    i, end = above + 1, above + c.size[above]
    while i <= end and c.kind[i] & KIND == NAMESPACE:
        if is_given(c, t, row, i, stream):
            count += 1
            used += t.word_length[t.name_uri[c.name[i]]]
            default = default or t.name_word[c.name[i]] == 0
        i += 1
    return count, used, default


@kernel
def is_given(c: Columns, t: NameTables, row: int, binding: int, stream: int) -> bool:
    """Whether a payload has a binding of its fragment: not the wire's own, not bound anew."""
    if t.name_uri[c.name[binding]] == stream:
        return False
    own, end = row + 1, row + c.size[row]
    while own <= end and c.kind[own] & KIND == NAMESPACE:
        if t.name_word[c.name[own]] == t.name_word[c.name[binding]]:
            return False
        own += 1
    return True


@kernel
def _own_bounds(c: Columns, row: int, vt_from: int, vt_to: int) -> int:
    """How many attributes of the root are called like the bounds of a lifespan."""
    found, i, end = 0, row + 1, row + c.size[row]
    while i <= end and c.kind[i] & KIND in (NAMESPACE, ATTRIBUTE):
        if c.kind[i] & KIND == ATTRIBUTE and (c.name[i] == vt_from or c.name[i] == vt_to):
            found += 1
        i += 1
    return found


@kernel
def measure(
    c: Columns,
    t: NameTables,
    payload: I32,
    hole_owner: I32,
    hole_row: I32,
    words: I64,
    p: Payloads,
    h: Places,
) -> None:
    """Measure payloads and their holes; `words`: stream's URI, names of the bounds, hash seed.

    Without hashes where the seed is negative: what is known to be no repetition needs none.
    """
    stream, vt_from, vt_to, seed = words[0], words[1], words[2], words[3]
    k = 0
    for i in range(len(payload)):
        row = signed(payload[i])
        if row < 0:
            while k < len(hole_owner) and hole_owner[k] == i:  # of no content
                h.before[k], h.depth[k], h.beside[k], h.path[k] = 0, 0, 0, np.uint64(0)
                k += 1
            p.rows[i], p.nbytes[i], p.shape[i], p.hash[i] = 0, 0, 0, np.uint64(1)
            continue
        start, length = span_of(c, row)
        given, used, default = _around(c, t, row, stream)
        hidden, last = 0, signed(-1)
        while k < len(hole_owner) and hole_owner[k] == i:
            at = signed(hole_row[k])
            h.before[k] = at - row - hidden
            h.depth[k] = c.level[at] - c.level[row]
            h.beside[k] = _beside(c, at, last, row + c.size[row])
            h.path[k] = _path(c, at, row)
            hidden += c.size[at] + 1
            last = at
            k += 1
        p.rows[i] = c.size[row] + 1 - hidden
        p.nbytes[i] = length + used
        shape = given << SHAPE_BITS | _own_bounds(c, row, vt_from, vt_to)
        p.shape[i] = shape | (DEFAULT if default else 0)
        p.hash[i] = _hash_payload(c, row, start, length, seed) if seed >= 0 else np.uint64(1)


@kernel
def hash_payloads(c: Columns, payload: I32, seed: int, out: U64) -> None:
    """The hashes that `measure` gives."""
    for i in range(len(payload)):
        row = signed(payload[i])
        if row < 0:
            out[i] = np.uint64(1)
        else:
            start, length = span_of(c, row)
            out[i] = _hash_payload(c, row, start, length, seed)


@kernel
def _beside(c: Columns, at: int, last: int, end: int) -> int:
    """What is beside a hole in the same element; `last` is the hole before it, -1 = none."""
    found, after = 0, at + c.size[at] + 1
    if c.kind[at - 1] & KIND == TEXT and c.parent[at - 1] == c.parent[at]:
        found |= TEXT_BEFORE
    elif last >= 0 and last + c.size[last] + 1 == at and c.parent[last] == c.parent[at]:
        found |= HOLE_BEFORE
    if after <= end and c.kind[after] & KIND == TEXT and c.parent[after] == c.parent[at]:
        found |= TEXT_AFTER
    return found


@kernel
def _path(c: Columns, at: int, row: int) -> np.uint64:
    value, above = np.uint64(7), signed(c.parent[at])
    while above > row:
        value = (value ^ np.uint64(c.name[above] + 1)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(31)
        above = signed(c.parent[above])
    return value


@kernel
def mark_names(c: Columns, payload: I32, tag: I32, skip: Bools, seen: Annotated[Bools, 2]) -> None:
    """seen[tag, name]: an element of that name is below the root of a payload of that tag."""
    for i in range(len(payload)):
        row = signed(payload[i])
        if row < 0:
            continue
        at, end = row + 1, row + c.size[row]
        while at <= end:
            if c.kind[at] & KIND == 1:
                if skip[at]:
                    at += c.size[at]
                else:
                    seen[tag[i], c.name[at]] = True
            at += 1
