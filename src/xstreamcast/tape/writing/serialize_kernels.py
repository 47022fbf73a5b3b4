"""Rows written back as XML: escaped, with the namespaces that are in scope and not yet declared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xstreamcast.tape.compiled import kernel, part, signed
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    ELEMENT,
    I32,
    I64,
    KIND,
    NAMESPACE,
    NEEDS_DECODE,
    PI,
    TEXT,
    U8,
    U16,
    Columns,
)
from xstreamcast.tape.names import NameTables
from xstreamcast.tape.steps.axis_kernels import roomier
from xstreamcast.tape.values.string_kernels import decode
from xstreamcast.tape.writing.scope_kernels import inherited


def _table(*special: int) -> U8:
    table = np.zeros(256, np.uint8)
    # Control characters, also U+0080 to U+009F (lead byte C2) and U+2028 (E2 80 A8), are written
    # as references: Serialization 3.1, section 5.1.
    table[[0x0D, 0x7F, 0xC2, 0xE2, *map(ord, "&<>"), *special]] = 1
    return table


_IN_TEXT = _table()
_IN_ATTRIBUTE = _table(0x09, 0x0A, 0x22)
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8).copy()
_WIDEST = 6  # bytes that one byte of a value can become
_MARKUP = 16  # bytes that a row takes besides its names and its value


class Spelled(NamedTuple):
    """How each name is written: spans in the heap of the names."""

    lexical_start: I32
    lexical_length: I32
    uri_start: I32
    uri_length: I32


@kernel
def put_reference_to(code: int, out: U8, at: int) -> int:
    """Write `&#x…;`."""
    out[at], out[at + 1], out[at + 2] = 0x26, 0x23, 0x78
    at += 3
    shift = 0
    while code >> (shift + 4):
        shift += 4
    while shift >= 0:
        # `&#xD;` but `&#x7f;`: as canonical XML and other serialisers write them.
        out[at] = _HEX[(code >> shift) & 0xF] | (0x20 if code > 0x20 else 0)
        at, shift = at + 1, shift - 4
    out[at] = 0x3B
    return at + 1


@kernel
def put_entity(byte: int, out: U8, at: int) -> int:
    """Write &amp; &lt; &gt; or &quot;."""
    out[at], out[at + 4] = 0x26, 0x3B
    if byte == 0x26:
        out[at + 1], out[at + 2], out[at + 3] = 0x61, 0x6D, 0x70
        return at + 5
    if byte == 0x22:
        out[at + 1], out[at + 2], out[at + 3], out[at + 4] = 0x71, 0x75, 0x6F, 0x74
        out[at + 5] = 0x3B
        return at + 6
    out[at + 1], out[at + 2], out[at + 3] = 0x6C if byte == 0x3C else 0x67, 0x74, 0x3B
    return at + 4


@kernel
def put_escaped(data: U8, start: int, length: int, out: U8, at: int, quoted: bool) -> int:
    """Write a value as character data, or as an attribute value if `quoted`."""
    special = _IN_ATTRIBUTE if quoted else _IN_TEXT
    i, end = start, start + length
    while i < end:
        byte = data[i]
        if special[byte] == 0:
            out[at] = byte
            i, at = i + 1, at + 1
        elif byte == 0xC2 and data[i + 1] < 0xA0:
            at = put_reference_to(signed(data[i + 1]), out, at)
            i += 2
        elif byte == 0xE2 and data[i + 1] == 0x80 and data[i + 2] == 0xA8:
            at = put_reference_to(signed(0x2028), out, at)
            i += 3
        elif byte >= 0xC2:
            out[at] = byte
            i, at = i + 1, at + 1
        elif byte == 0x26 or byte == 0x22 or byte == 0x3C or byte == 0x3E:
            at = put_entity(byte, out, at)
            i += 1
        else:
            at = put_reference_to(signed(byte), out, at)
            i += 1
    return at


@kernel
def put_bytes(data: U8, start: int, length: int, out: U8, at: int) -> int:
    """Write the bytes of a span as they are."""
    for i in range(length):
        out[at + i] = data[start + i]
    return at + length


@kernel
def growth(data: U8, start: int, length: int) -> int:
    """At most so many bytes does escaping add."""
    special = signed(0)
    for i in range(start, start + length):
        special += _IN_ATTRIBUTE[data[i]]
    return special * (_WIDEST - 1)


@kernel
def needs(
    kind: U8,
    level: U16,
    name: I32,
    size: I32,
    start: I64,
    length: I32,
    heap: U8,
    lexical: I32,
    uris: I32,
    rows: I64,
) -> tuple[int, int, int, int]:
    """At most so many bytes, open elements, bindings, and bytes to decode, `rows` need."""
    total, deepest, most, longest = signed(0), signed(0), signed(0), signed(0)
    for k in range(len(rows)):
        bindings = signed(0)
        for i in range(rows[k], rows[k] + size[rows[k]] + 1):
            which = kind[i] & KIND
            total += _MARKUP
            if name[i] >= 0:
                total += 2 * signed(lexical[name[i]])
            if which == NAMESPACE:
                bindings += 1
                total += _WIDEST * signed(uris[name[i]])
            elif which > ELEMENT:
                total += length[i] + growth(heap, start[i], length[i])
                longest = max(longest, signed(length[i]))
            deepest = max(deepest, signed(level[i]) - signed(level[rows[k]]))
        most = max(most, bindings)
    return total, deepest + 1, most, longest


@kernel
def put_value(kind: int, heap: U8, start: int, length: int, out: U8, at: int, scratch: U8) -> int:
    """Write the value of a text, attribute, comment or PI, escaped as its kind asks for."""
    which = kind & KIND
    if kind & NEEDS_DECODE:
        size = decode(heap, start, length, which, scratch, signed(0))
        if which in (TEXT, ATTRIBUTE):
            return put_escaped(scratch, signed(0), size, out, at, which == ATTRIBUTE)
        return put_bytes(scratch, signed(0), size, out, at)
    if which in (TEXT, ATTRIBUTE):
        return put_escaped(heap, start, length, out, at, which == ATTRIBUTE)
    return put_bytes(heap, start, length, out, at)


@part
def put_two(first: int, second: int, out: U8, at: int) -> int:
    """Write two bytes."""
    out[at], out[at + 1] = first, second
    return at + 2


@kernel
def put_binding(
    words: U8,
    prefix_start: int,
    prefix_length: int,
    uri_start: int,
    uri_length: int,
    out: U8,
    at: int,
) -> int:
    """Write `xmlns:prefix="uri"`."""
    out[at], out[at + 1], out[at + 2], out[at + 3], out[at + 4] = 0x78, 0x6D, 0x6C, 0x6E, 0x73
    at += 5
    if prefix_length:
        out[at] = 0x3A
        at = put_bytes(words, prefix_start, prefix_length, out, at + 1)
    at = put_two(0x3D, 0x22, out, at)
    at = put_escaped(words, uri_start, uri_length, out, at, True)
    out[at] = 0x22
    return at + 1


@part
def is_news(prefix: I32, uri: I32, scope: I64, bound: int, name: int) -> bool:
    """Whether a binding must be written: XML 1.0 can undeclare the default namespace only."""
    if prefix[name] != 0 and uri[name] == 0:
        return False
    known = signed(0)
    for i in range(bound):
        if prefix[scope[i]] == prefix[name]:
            known = signed(uri[scope[i]])
    return bool(known != uri[name])


@kernel
def serialize(
    c: Columns, t: NameTables, spelled: Spelled, rows: I64, outer: I64, outer_ends: I64
) -> tuple[U8, I64]:
    """The XML of each of `rows` end to end, and where each begins and ends.

    `outer` holds the bindings that each row has from its ancestors, up to its `outer_ends`.
    """
    # Columns are taken out of their tuples once: in a loop each use would count a reference.
    kind, name, size, start, length, heap = c.kind, c.name, c.size, c.start, c.length, c.heap
    prefix, uri, words = t.name_word, t.name_uri, t.heap
    lex_start, lex_length = spelled.lexical_start, spelled.lexical_length
    uri_start, uri_length = spelled.uri_start, spelled.uri_length
    total, deepest, most, longest = needs(
        kind, c.level, name, size, start, length, heap, lex_length, uri_length, rows
    )
    for j in range(len(outer)):
        total += _MARKUP + lex_length[outer[j]] + _WIDEST * signed(uri_length[outer[j]])
    out, at, offsets = np.empty(total, np.uint8), signed(0), np.zeros(len(rows) + 1, np.int64)
    opened, before = np.empty(deepest + 1, np.int64), np.empty(deepest + 1, np.int64)
    scope = np.empty(most + len(outer) + 1, np.int64)
    scratch = np.empty(longest, np.uint8)
    for k in range(len(rows)):
        top, last = rows[k], rows[k] + size[rows[k]]
        depth, bound, in_tag = signed(0), signed(0), False
        for i in range(top, last + 2):
            while depth and (i > last or opened[depth - 1] + size[opened[depth - 1]] < i):
                depth -= 1
                bound = before[depth]
                if in_tag:
                    at = put_two(0x2F, 0x3E, out, at)
                    in_tag = False
                else:
                    at = put_two(0x3C, 0x2F, out, at)
                    which = name[opened[depth]]
                    at = put_bytes(words, lex_start[which], lex_length[which], out, at)
                    out[at] = 0x3E
                    at += 1
            if i > last:
                break
            which, called = kind[i] & KIND, signed(name[i])
            if which == NAMESPACE:
                if i == top or is_news(prefix, uri, scope, bound, called):
                    if i > top:
                        out[at] = 0x20
                        at += 1
                    at = put_binding(
                        words,
                        lex_start[called],
                        lex_length[called],
                        uri_start[called],
                        uri_length[called],
                        out,
                        at,
                    )
                    scope[bound] = called
                    bound += 1
                continue
            if in_tag and which != ATTRIBUTE:
                out[at] = 0x3E
                at, in_tag = at + 1, False
            if which == ELEMENT:
                opened[depth], before[depth] = i, bound
                depth += 1
                out[at] = 0x3C
                at = put_bytes(words, lex_start[called], lex_length[called], out, at + 1)
                in_tag = True
                if i == top:
                    for j in range(outer_ends[k], outer_ends[k + 1]):
                        out[at] = 0x20
                        at = put_binding(
                            words,
                            lex_start[outer[j]],
                            lex_length[outer[j]],
                            uri_start[outer[j]],
                            uri_length[outer[j]],
                            out,
                            at + 1,
                        )
                        scope[bound] = outer[j]
                        bound += 1
            elif which == TEXT:
                at = put_value(kind[i], heap, start[i], length[i], out, at, scratch)
            elif which == ATTRIBUTE:
                if i > top:
                    out[at] = 0x20
                    at += 1
                at = put_bytes(words, lex_start[called], lex_length[called], out, at)
                at = put_two(0x3D, 0x22, out, at)
                at = put_value(kind[i], heap, start[i], length[i], out, at, scratch)
                out[at] = 0x22
                at += 1
            elif which == COMMENT:
                at = put_two(0x2D, 0x2D, out, put_two(0x3C, 0x21, out, at))
                at = put_value(kind[i], heap, start[i], length[i], out, at, scratch)
                at = put_two(0x2D, 0x2D, out, at)
                out[at] = 0x3E
                at += 1
            elif which == PI:
                at = put_two(0x3C, 0x3F, out, at)
                at = put_bytes(words, lex_start[called], lex_length[called], out, at)
                if length[i] > 0:
                    out[at] = 0x20
                    at = put_value(kind[i], heap, start[i], length[i], out, at + 1, scratch)
                at = put_two(0x3F, 0x3E, out, at)
        offsets[k + 1] = at
    return out[:at], offsets


@kernel
def outer_bindings(c: Columns, t: NameTables, rows: I64) -> tuple[I64, I64]:
    """What each of `rows` that is an element has from its ancestors, end to end, and the ends."""
    found, n = np.empty(16, np.int64), signed(0)
    ends = np.zeros(len(rows) + 1, np.int64)
    for k in range(len(rows)):
        if c.kind[rows[k]] & KIND == ELEMENT and c.parent[rows[k]] >= 0:
            outer = inherited(c, t, rows[k])
            for j in range(len(outer)):
                if t.name_uri[outer[j]] != 0:
                    found = roomier(found, n)
                    found[n] = outer[j]
                    n += 1
        ends[k + 1] = n
    return found[:n].copy(), ends
