"""Rows written back as XML: escaped, with the namespaces that are in scope and not yet declared."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.compiled import kernel, part, signed
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    I64,
    KIND,
    NAMESPACE,
    NEEDS_DECODE,
    PI,
    TEXT,
    U8,
    Columns,
)
from xstreamcast.tape.names import NameTables
from xstreamcast.tape.scope_kernels import bound_uri, inherited
from xstreamcast.tape.step_kernels import roomier
from xstreamcast.tape.string_kernels import decode


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


@part
def room(out: U8, at: int, needed: int) -> U8:
    """`out`, or a larger copy, with `needed` bytes free from `at`."""
    if at + needed <= len(out):
        return out
    larger = np.empty(max(2 * len(out), at + needed), np.uint8)
    larger[:at] = out[:at]
    return larger


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


@part
def put_word(t: NameTables, word: int, out: U8, at: int) -> int:
    """Write a word of the names."""
    return put_bytes(t.heap, t.word_start[word], t.word_length[word], out, at)


@part
def put_row_value(c: Columns, row: int, out: U8, at: int) -> int:
    """Write the value of a text, attribute, comment or PI, escaped as its kind asks for."""
    kind = c.kind[row] & KIND
    escaped = kind in (TEXT, ATTRIBUTE)
    start, length = c.start[row], c.length[row]
    if c.kind[row] & NEEDS_DECODE:
        scratch = np.empty(length, np.uint8)
        size = decode(c.heap, start, length, kind, scratch, signed(0))
        if escaped:
            return put_escaped(scratch, signed(0), size, out, at, kind == ATTRIBUTE)
        return put_bytes(scratch, signed(0), size, out, at)
    if escaped:
        return put_escaped(c.heap, start, length, out, at, kind == ATTRIBUTE)
    return put_bytes(c.heap, start, length, out, at)


@part
def put_leaf(c: Columns, t: NameTables, row: int, out: U8, at: int) -> tuple[U8, int]:
    """Write an attribute (`name="value"`), text, comment or PI."""
    kind = c.kind[row] & KIND
    word = signed(t.name_word[c.name[row]]) if kind in (ATTRIBUTE, PI) else 0
    out = room(out, at, _WIDEST * signed(c.length[row]) + t.word_length[word] + 16)
    if kind == ATTRIBUTE:
        at = put_word(t, word, out, at)
        out[at], out[at + 1] = 0x3D, 0x22
        at = put_row_value(c, row, out, at + 2)
        out[at] = 0x22
        return out, at + 1
    if kind == COMMENT:
        out[at], out[at + 1], out[at + 2], out[at + 3] = 0x3C, 0x21, 0x2D, 0x2D
        at = put_row_value(c, row, out, at + 4)
        out[at], out[at + 1], out[at + 2] = 0x2D, 0x2D, 0x3E
        return out, at + 3
    if kind == PI:
        out[at], out[at + 1] = 0x3C, 0x3F
        at = put_word(t, word, out, at + 2)
        if c.length[row] > 0:
            out[at] = 0x20
            at = put_row_value(c, row, out, at + 1)
        out[at], out[at + 1] = 0x3F, 0x3E
        return out, at + 2
    return out, put_row_value(c, row, out, at)


@part
def put_binding(t: NameTables, name: int, spaced: bool, out: U8, at: int) -> tuple[U8, int]:
    """Write `xmlns:prefix="uri"`, after a space if it stands in a tag."""
    prefix, uri = t.name_word[name], t.name_uri[name]
    out = room(out, at, t.word_length[prefix] + _WIDEST * signed(t.word_length[uri]) + 16)
    if spaced:
        out[at] = 0x20
        at += 1
    out[at], out[at + 1], out[at + 2], out[at + 3], out[at + 4] = 0x78, 0x6D, 0x6C, 0x6E, 0x73
    at += 5
    if prefix != 0:
        out[at] = 0x3A
        at = put_word(t, prefix, out, at + 1)
    out[at], out[at + 1] = 0x3D, 0x22
    at = put_escaped(t.heap, t.word_start[uri], t.word_length[uri], out, at + 2, True)
    out[at] = 0x22
    return out, at + 1


@part
def is_news(t: NameTables, bindings: I64, count: int, name: int) -> bool:
    """Whether a binding must be written: XML 1.0 can undeclare the default namespace only."""
    prefix, uri = t.name_word[name], t.name_uri[name]
    if prefix != 0 and uri == 0:
        return False
    return bound_uri(t, bindings, count, prefix) != uri


@part
def put_end(c: Columns, t: NameTables, row: int, in_tag: bool, out: U8, at: int) -> tuple[U8, int]:
    """Write `/>` or the end tag."""
    word = t.name_word[c.name[row]]
    out = room(out, at, t.word_length[word] + 3)
    if in_tag:
        out[at], out[at + 1] = 0x2F, 0x3E
        return out, at + 2
    out[at], out[at + 1] = 0x3C, 0x2F
    at = put_word(t, word, out, at + 2)
    out[at] = 0x3E
    return out, at + 1


@part
def put_tree(c: Columns, t: NameTables, top: int, out: U8, at: int) -> tuple[U8, int]:
    """Write the node at `top` and all below it; of a document, its children."""
    opened, before, scope = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16, np.int64)
    depth, bound, in_tag = signed(0), signed(0), False
    last = top + c.size[top]
    for i in range(top, last + 2):
        while depth and (i > last or opened[depth - 1] + c.size[opened[depth - 1]] < i):
            depth -= 1
            out, at = put_end(c, t, opened[depth], in_tag, out, at)
            in_tag, bound = False, before[depth]
        if i > last:
            break
        kind = c.kind[i] & KIND
        if kind == NAMESPACE:
            if i == top or is_news(t, scope, bound, c.name[i]):
                out, at = put_binding(t, c.name[i], i > top, out, at)
                scope = roomier(scope, bound)
                scope[bound] = c.name[i]
                bound += 1
            continue
        out = room(out, at, signed(2))
        if in_tag and kind != ATTRIBUTE:
            out[at] = 0x3E
            at, in_tag = at + 1, False
        if kind == ELEMENT:
            opened, before = roomier(opened, depth), roomier(before, depth)
            opened[depth], before[depth] = i, bound
            depth += 1
            word = signed(t.name_word[c.name[i]])
            out = room(out, at, t.word_length[word] + 1)
            out[at] = 0x3C
            at, in_tag = put_word(t, word, out, at + 1), True
            if i == top:
                outer = inherited(c, t, i)
                for j in range(len(outer)):
                    if t.name_uri[outer[j]] != 0:
                        out, at = put_binding(t, outer[j], True, out, at)
                        scope = roomier(scope, bound)
                        scope[bound] = outer[j]
                        bound += 1
        elif kind != DOCUMENT:
            if kind == ATTRIBUTE and i > top:
                out[at] = 0x20
                at += 1
            out, at = put_leaf(c, t, i, out, at)
    return out, at


@kernel
def serialize(c: Columns, t: NameTables, rows: I64) -> tuple[U8, I64]:
    """The XML of each of `rows` end to end, and where each begins and ends."""
    out, at = np.empty(4096, np.uint8), signed(0)
    offsets = np.zeros(len(rows) + 1, np.int64)
    for k in range(len(rows)):
        out, at = put_tree(c, t, rows[k], out, at)
        offsets[k + 1] = at
    return out[:at], offsets
