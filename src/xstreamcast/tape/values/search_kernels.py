"""Whether payloads may have an element or attribute with a value, by their bytes alone.

search(payloads, name, texts)  →  0 where no element of that name has one of the texts

Payloads are well-formed. A value counts as possible where the bytes are not yet the value: with
references, comments, CDATA or elements inside.
"""

# ruff: noqa: SIM109 - compiled loops compare; they build no tuples

from __future__ import annotations

from typing import Any, NamedTuple

from numpy import int64

from xstreamcast.tape.layout import I64, U8, WIDTH
from xstreamcast.tape.tokenize.load_bytes import byte, entry, first, helper, inlined, tag_starts

LT, GT, SLASH, AMP, COLON, EQUALS, DOUBLE, SINGLE, SPACE = 60, 62, 47, 38, 58, 61, 34, 39, 32


class Searched(NamedTuple):
    """What is searched: the value of elements of a name, or that of an attribute.

    Without a `name` it is the attribute of a payload's own element. `inside`: it is enough for a
    value to contain a text. Texts are laid end to end.
    """

    name: U8
    attribute: U8
    texts: U8
    bounds: I64
    inside: int


@inlined
def next_tag(base: int, p: int, end: int, room: int) -> int:
    """Where the next `<` is; `room`: so many bytes may be read."""
    while p < end:
        if p + WIDTH <= room:
            found = tag_starts(base + p)
            if found != 0:
                p += first(found)
                return min(p, end)
            p += WIDTH
        else:
            if byte(base + p) == LT:
                return p
            p += 1
    return end


@inlined
def is_end_of_name(c: int) -> bool:
    return c == GT or c == SLASH or c <= SPACE


@inlined
def behind_name(base: int, p: int, end: int, name: U8) -> int:
    """The place behind a tag's name; -1 if it is another one."""
    size: Any = int64(len(name))
    none: Any = int64(-1)
    if p + size >= end:
        return none
    for k in range(size):
        if byte(base + p + k) != name[k]:
            return none
    return p + size if is_end_of_name(byte(base + p + size)) else none


@helper
def has_text(base: int, low: int, high: int, wanted: Searched) -> bool:
    """Whether the bytes may be one of the texts, or contain one."""
    for p in range(low, high):
        c = byte(base + p)
        if c == AMP or c < SPACE:
            return True  # what the value is has to be decoded
    length = high - low
    for k in range(len(wanted.bounds) - 1):
        begin = wanted.bounds[k]
        size = wanted.bounds[k + 1] - begin
        last = length - size if wanted.inside else int64(0)
        if size > length or (not wanted.inside and size != length):
            continue
        for shift in range(last + 1):
            at = int64(0)
            while at < size and byte(base + low + shift + at) == wanted.texts[begin + at]:
                at += 1
            if at == size:
                return True
    return False


@helper
def has_value(base: int, p: int, end: int, room: int, wanted: Searched) -> bool:
    """Whether the element whose start tag continues here may have such a value."""
    while p < end and byte(base + p) != GT:
        quote = byte(base + p)
        p += 1
        if quote == DOUBLE or quote == SINGLE:
            while p < end and byte(base + p) != quote:
                p += 1
            p += 1
    if p >= end:
        return True
    if byte(base + p - 1) == SLASH:
        return False  # it is empty, and no text that is searched is
    low = p + 1
    high = next_tag(base, low, end, room)
    if high + 1 >= end or byte(base + high + 1) != SLASH:
        return True
    return has_text(base, low, high, wanted)


@helper
def has_attribute(base: int, p: int, end: int, wanted: Searched) -> bool:
    """Whether the start tag that continues here may have such an attribute."""
    size = int64(len(wanted.attribute))
    while p < end and byte(base + p) != GT:
        if byte(base + p) <= SPACE or byte(base + p) == SLASH:
            p += 1
            continue
        begin = p  # of the local part
        while p < end and byte(base + p) != EQUALS and byte(base + p) > SPACE:
            if byte(base + p) == COLON:
                begin = p + 1
            p += 1
        is_wanted = p - begin == size
        for k in range(size):
            is_wanted = is_wanted and byte(base + begin + k) == wanted.attribute[k]
        while p < end and byte(base + p) != DOUBLE and byte(base + p) != SINGLE:
            p += 1
        if p >= end:
            return True
        quote = byte(base + p)
        low = p + 1
        p = low
        while p < end and byte(base + p) != quote:
            p += 1
        if is_wanted and has_text(base, low, p, wanted):
            return True
        p += 1
    return p >= end


@entry
def search(base: int, room: int, start: I64, length: I64, wanted: Searched, out: U8) -> None:
    """out[i]: whether the i-th payload may have such a value; a length of -1 is no payload."""
    name = wanted.name
    for i in range(len(start)):
        p = start[i]
        end = p + length[i]
        found = length[i] < 0
        while not found:
            p = next_tag(base, p, end, room)
            if p >= end:
                break
            p += 1
            if len(name) == 0:
                while p < end and not is_end_of_name(byte(base + p)):
                    p += 1
                found = has_attribute(base, p, end, wanted)
                break
            e = behind_name(base, p, end, name)
            if e < 0:
                continue
            if len(wanted.attribute):
                found = has_attribute(base, e, end, wanted)
            else:
                found = has_value(base, e, end, room, wanted)
        out[i] = 1 if found else 0
