"""Character data in compiled code: UTF-8, references, runs of text, what is between delimiters.

A scan gives the position where it stopped, or MORE (the bytes end first) or SUSPECT (expat must
say). Bytes at or after `n` are padding and decide nothing.
"""

# ruff: noqa: SIM109 - compiled loops compare; they build no tuples

from __future__ import annotations

from numpy import int64

from xstreamcast.tape.layout import I64
from xstreamcast.tape.tokenize.load_bytes import (
    WIDTH,
    byte,
    eight,
    first,
    helper,
    plain_stops,
    text_stops,
    value_stops,
)
from xstreamcast.tape.tokenize.state import (
    CDATA,
    DECODE,
    FILLED,
    MORE,
    SUSPECT,
    TEXT_FLAGS,
)

LF, CR, TAB, AMP, LT, GT, BANG, HASH, SEMI = 10, 13, 9, 38, 60, 62, 33, 35, 59
OPEN_BRACKET, BRACKET = 91, 93
CDATA_OPEN = int.from_bytes(b"<![CDATA", "little")


@helper
def wide(base: int, p: int, n: int) -> int:
    """The position after the UTF-8 sequences that begin at `p`; exactly those that expat allows."""
    while p < n:
        lead = byte(base + p)
        if lead < 0x80:
            return p
        size = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
        if lead < 0xC2 or lead > 0xF4:
            return SUSPECT
        if p + size > n:
            return p  # an incomplete sequence: the caller sees that nothing moved
        second = byte(base + p + 1)
        low, high = 0x80, 0xBF
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
        elif lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
        if second < low or second > high:
            return SUSPECT
        if size > 2 and byte(base + p + 2) & 0xC0 != 0x80:
            return SUSPECT
        if size > 3 and byte(base + p + 3) & 0xC0 != 0x80:
            return SUSPECT
        if lead == 0xEF and second == 0xBF and byte(base + p + 2) > 0xBD:
            return SUSPECT  # U+FFFE and U+FFFF
        p += size
    return p


@helper
def plain(base: int, p: int, n: int, stop: int) -> tuple[int, int, int]:
    """The first `stop` from `p` on, how far all is well, and DECODE if a CR came before it."""
    flags = 0
    while p < n:
        mask = plain_stops(base + p, stop)
        if mask == 0:
            p += WIDTH
            continue
        p += first(mask)
        if p >= n:
            break
        c = byte(base + p)
        if c == stop:
            return p, p, flags
        if c >= 0x80:
            q = wide(base, p, n)
            if q == SUSPECT:
                return SUSPECT, p, flags
            if q == p:
                return MORE, p, flags
            p = q
        elif c == CR:
            flags = DECODE
            p += 1
        else:
            return SUSPECT, p, flags
    return MORE, n, flags


@helper
def character_number(base: int, p: int, n: int) -> int:
    """The position after the `;` of a character reference whose number begins at `p`."""
    hexadecimal = byte(base + p) == 0x78
    if hexadecimal:
        p += 1
    begin, number = p, 0
    while p < n:
        c = byte(base + p)
        if 0x30 <= c <= 0x39:
            digit = c - 0x30
        elif hexadecimal and 0x61 <= c | 0x20 <= 0x66:
            digit = (c | 0x20) - 0x57
        elif c == SEMI and p > begin:
            legal = number >= 0x20 or number == 9 or number == 10 or number == 13
            surrogate = 0xD800 <= number < 0xE000
            if not legal or surrogate or number == 0xFFFE or number == 0xFFFF:
                return SUSPECT
            return p + 1
        else:
            return SUSPECT
        number = number * (16 if hexadecimal else 10) + digit
        if number > 0x10FFFF:
            return SUSPECT
        p += 1
    return MORE


@helper
def reference(base: int, p: int, n: int, longest: int) -> tuple[int, int]:
    """The position after the reference whose `&` is at `p`; FILLED if it represents a character."""
    if p + 1 >= n:
        return MORE, 0
    if byte(base + p + 1) == HASH:
        if p + 2 >= n:
            return MORE, 0
        return character_number(base, p + 2, n), FILLED
    q = p + 1
    while q < n:
        c = byte(base + q)
        if c == SEMI:
            break
        letter = 0x61 <= c | 0x20 <= 0x7A
        digit = 0x30 <= c <= 0x39 and q > p + 1
        if not (letter or digit) or q - p > longest:
            return SUSPECT, 0
        q += 1
    if q >= n:
        return MORE, 0
    size = q - p - 1
    name = eight(base + p + 1) & ((1 << (8 * size)) - 1) if size < 8 else 0
    lt_gt = name == 0x746C or name == 0x7467
    amp_quot_apos = name == 0x706D61 or name == 0x746F7571 or name == 0x736F7061
    if lt_gt or amp_quot_apos:
        return q + 1, FILLED
    return SUSPECT, 0


@helper
def cdata(base: int, p: int, n: int, state: I64) -> tuple[int, int]:
    """The position after the `]]>` of a CDATA section, read on from `p`; how far all is well."""
    while True:
        q, safe, _ = plain(base, p, n, int64(BRACKET))
        if safe > p:
            state[TEXT_FLAGS] |= FILLED
        if q < 0:
            return q, safe
        if q + 2 >= n:
            return MORE, q
        if byte(base + q + 1) == BRACKET and byte(base + q + 2) == GT:
            state[TEXT_FLAGS] &= ~CDATA
            return q + 3, q + 3
        state[TEXT_FLAGS] |= FILLED
        p = q + 1


@helper
def opens_cdata(base: int, p: int, n: int) -> int:
    """Whether the `<` at `p` begins a CDATA section: 1, 0 or MORE."""
    if p + 1 >= n:
        return MORE
    if byte(base + p + 1) != BANG:
        return 0
    if p + 2 >= n:
        return MORE
    if byte(base + p + 2) != OPEN_BRACKET:
        return 0
    if p + 9 > n:
        return MORE
    return 1 if eight(base + p) == CDATA_OPEN and byte(base + p + 8) == OPEN_BRACKET else SUSPECT


@helper
def odd_text(base: int, p: int, n: int, state: I64, longest: int) -> tuple[int, int]:
    """The position after a `]`, a carriage return, a reference or what is not ASCII, in text."""
    c = byte(base + p)
    q, found = p + 1, FILLED
    if c == AMP:
        q, found = reference(base, p, n, longest)
        found |= DECODE
    elif c == CR:
        found |= DECODE
    elif c == BRACKET:
        if p + 2 >= n:
            return MORE, p
        if byte(base + p + 1) == BRACKET and byte(base + p + 2) == GT:
            return SUSPECT, p
    elif c >= 0x80:
        q = wide(base, p, n)
        if q == p:
            return MORE, p
    else:
        return SUSPECT, p
    if q < 0:
        return q, p
    state[TEXT_FLAGS] |= found
    return q, q


@helper
def text_run(base: int, p: int, n: int, state: I64, longest: int) -> tuple[int, int]:
    """The `<` that ends a run of text, references and CDATA sections; how far it was read.

    What was found is in `state[TEXT_FLAGS]`. After MORE it is read on from the second position.
    """
    safe = p
    while p < n:
        if state[TEXT_FLAGS] & CDATA:
            p, safe = cdata(base, p, n, state)
            if p < 0:
                return p, safe
            continue
        mask = text_stops(base + p)
        q = min(n, p + (first(mask) if mask else WIDTH))
        if q > p:
            state[TEXT_FLAGS] |= FILLED
        p = safe = q
        if mask == 0 or p >= n:
            continue
        if byte(base + p) == LT:
            opening = opens_cdata(base, p, n)
            if opening < 0:
                return opening, p
            if opening == 0:
                return p, p
            state[TEXT_FLAGS] |= CDATA | DECODE
            p = safe = p + 9
        else:
            p, safe = odd_text(base, p, n, state, longest)
            if p < 0:
                return p, safe
    return MORE, safe


@helper
def value_end(base: int, p: int, n: int, quote: int, longest: int) -> tuple[int, int, int]:
    """The quote that ends an attribute value, how far all is well, and DECODE or 0."""
    flags = 0
    while p < n:
        mask = value_stops(base + p, quote)
        if mask == 0:
            p += WIDTH
            continue
        p += first(mask)
        if p >= n:
            break
        c = byte(base + p)
        q = p + 1
        if c == quote:
            return p, p, flags
        if c == AMP:
            flags = DECODE
            q, _ = reference(base, p, n, longest)
        elif c >= 0x80:
            q = wide(base, p, n)
            if q == p:
                return MORE, p, flags
        elif c == TAB or c == LF or c == CR:
            flags = DECODE
        else:
            q = SUSPECT
        if q < 0:
            return q, p, flags
        p = q
    return MORE, n, flags
