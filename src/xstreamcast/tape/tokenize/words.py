"""The lexicon of a reader in compiled code: byte strings as words, (word, URI) pairs as names.

A word is compared by its first sixteen bytes in two integers, and only beyond them byte by byte.
Names here are numbered as they come; the driver maps them to those of `names.Names`.
"""

# ruff: noqa: SIM102, SIM110 - compiled loops: no generators, branches as they run

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from xstreamcast.tape.layout import I32, I64, U8
from xstreamcast.tape.tokenize.load_bytes import (
    PADDING,
    WIDTH,
    byte,
    eight,
    first,
    helper,
    inlined,
    name_stops,
)
from xstreamcast.tape.tokenize.state import FULL, ODD_NAME, SUSPECT

EMPTY, XML, XMLNS, XML_URI, XMLNS_URI = range(5)  # the words every lexicon begins with
UNASKED, NO_PREFIX = -2, -1  # in `prefix`
WORDS, BYTES, NAMES, SEED, SEED2, TOP, TAGS, CONTEXTS = range(8)  # places in `counts`

# The bytes of a name of length i that count in its first and in its second integer.
LOW = np.array([(1 << (8 * min(i, 8))) - 1 for i in range(17)], np.uint64).view(np.int64)
HIGH = np.array([(1 << (8 * max(i - 8, 0))) - 1 for i in range(17)], np.uint64).view(np.int64)
MIX = 0x2545F4914F6CDD1D


# One cache line per word.
WORD_ROW = np.dtype(
    [
        ("low", np.int64),  # the first eight bytes
        ("high", np.int64),  # the next eight
        ("offset", np.int64),  # in the pool
        ("context", np.int64),  # the namespace context in which the word was last a name …
        ("stamp", np.int64),  # the start tag that last had the word as an attribute
        ("length", np.int32),
        ("prefix", np.int32),  # the word before the colon
        ("local", np.int32),
        ("context_name", np.int32),  # … and which name it was
        ("plain_name", np.int32),  # as an attribute without a prefix; -1 unknown, or a declaration
        ("spare", np.int32),
    ]
)
PAIR_ROW = np.dtype([("word", np.int32), ("uri", np.int32), ("stamp", np.int64)])


class Lexicon(NamedTuple):
    """Words and names; the slots are open addressing, -1 = free, a power of two, half full."""

    counts: I64
    pool: U8  # the bytes of the words
    words: Annotated[Any, WORD_ROW]
    slots: I32
    pairs: Annotated[Any, PAIR_ROW]
    pair_slots: I32


@inlined
def name_end(base: int, p: int, n: int) -> int:
    """Where the name that begins at `p` ends; `n` or more if the bytes end first."""
    mask = name_stops(base + p)
    while mask == 0:
        p += WIDTH
        if p >= n:
            return p
        mask = name_stops(base + p)
    return p + first(mask)


@helper
def mix_rest(base: int, p: int, e: int, hashed: int) -> int:
    """The hash of a word with the bytes after the first sixteen."""
    while p < e:
        rest = e - p
        hashed = (hashed ^ (hashed >> 29) ^ (eight(base + p) & LOW[min(rest, 8)])) * MIX
        p += 8
    return hashed


@helper
def same_rest(pool: U8, offset: int, base: int, p: int, size: int) -> bool:
    """Whether a word agrees with the input after the first sixteen bytes."""
    for i in range(16, size):
        if pool[offset + i] != byte(base + p + i):
            return False
    return True


@inlined
def find_word(lex: Lexicon, base: int, p: int, e: int) -> tuple[int, int]:
    """The word of the bytes from `p` to `e`, or -1; and its slot."""
    size = e - p
    short = min(size, 16)
    low, high = eight(base + p) & LOW[short], eight(base + p + 8) & HIGH[short]
    hashed = low * lex.counts[SEED] + high * lex.counts[SEED2]
    if size > 16:
        hashed = mix_rest(base, p + 16, e, hashed)
    last = len(lex.slots) - 1
    at = (hashed >> lex.counts[TOP]) & last
    while True:
        word = lex.slots[at]
        if word < 0:
            return -1, at
        if (
            lex.words[word].low == low
            and lex.words[word].high == high
            and lex.words[word].length == size
        ):
            if size <= 16 or same_rest(lex.pool, lex.words[word].offset, base, p, size):
                return word, at
        at = (at + 1) & last


@helper
def add_word(lex: Lexicon, base: int, p: int, e: int) -> int:
    """The word of the bytes from `p` to `e`, added if it is new; FULL."""
    word, at = find_word(lex, base, p, e)
    if word >= 0:
        return word
    word, used, size = lex.counts[WORDS], lex.counts[BYTES], e - p
    if word >= len(lex.words) or used + size + PADDING > len(lex.pool):
        return FULL
    for i in range(size):
        lex.pool[used + i] = byte(base + p + i)
    short = min(size, 16)
    lex.words[word].offset, lex.words[word].length = used, size
    lex.words[word].low, lex.words[word].high = (
        eight(base + p) & LOW[short],
        eight(base + p + 8) & HIGH[short],
    )
    lex.slots[at] = word
    lex.counts[WORDS], lex.counts[BYTES] = word + 1, used + size
    return word


@helper
def colon_of(base: int, p: int, e: int) -> int:
    """Where the colon of an ASCII name is, `e` without one; ODD_NAME or SUSPECT."""
    colon, starting, valid = e, True, True
    for i in range(p, e):
        c = byte(base + i)
        letter = 0x61 <= (c | 0x20) <= 0x7A or c == 0x5F
        if c >= 0x80:
            return ODD_NAME
        if c == 0x3A:
            valid &= colon == e and not starting
            colon, starting = i, True
            continue
        valid &= letter or (not starting and (0x30 <= c <= 0x39 or c == 0x2D or c == 0x2E))
        starting = False
    return colon if valid and not starting else SUSPECT


@helper
def add_name_word(lex: Lexicon, base: int, p: int, e: int) -> int:
    """The word of a lexical name, split at its colon; FULL, SUSPECT, or ODD_NAME if unasked."""
    word = add_word(lex, base, p, e)
    if word < 0 or lex.words[word].prefix != UNASKED:
        return word
    colon = colon_of(base, p, e)
    if colon < 0:
        return colon
    if colon == e:
        lex.words[word].prefix, lex.words[word].local = NO_PREFIX, word
        return word
    prefix = add_word(lex, base, p, colon)
    local = add_word(lex, base, colon + 1, e)
    if prefix < 0 or local < 0:
        return FULL
    lex.words[word].prefix, lex.words[word].local = prefix, local
    return word


@helper
def find_name(lex: Lexicon, word: int, uri: int) -> int:
    """The name of a word and the word of a URI, added if it is new; FULL."""
    mixed = word * MIX + uri * lex.counts[SEED]
    last = len(lex.pair_slots) - 1
    at = (mixed >> lex.counts[TOP]) & last
    while lex.pair_slots[at] >= 0:
        name = lex.pair_slots[at]
        if lex.pairs[name].word == word and lex.pairs[name].uri == uri:
            return name
        at = (at + 1) & last
    name = lex.counts[NAMES]
    if name >= len(lex.pairs):
        return FULL
    lex.pairs[name].word, lex.pairs[name].uri = word, uri
    lex.pair_slots[at] = name
    lex.counts[NAMES] = name + 1
    return name
