"""Looking up and adding names from compiled code; the tables are those of `names.py`.

Every function that may add gives FULL (-1) when a table has no room: grow and call again.
"""

from __future__ import annotations

from xstreamcast.tape.compiled import kernel
from xstreamcast.tape.layout import U8
from xstreamcast.tape.names import BYTES, FULL, NAMES, SEED, WORDS, NameTables


@kernel
def hash_span(data: U8, start: int, end: int, seed: int) -> int:
    """FNV-1a over the bytes of a span."""
    value = seed
    for i in range(start, end):
        value = ((value ^ data[i]) * 0x01000193) & 0xFFFFFFFF
    return value


@kernel
def hash_pair(word: int, uri: int) -> int:
    """The hash of a name."""
    mixed = ((word * 0x9E3779B1) ^ (uri * 0x85EBCA77)) & 0xFFFFFFFF
    return mixed ^ (mixed >> 15)


@kernel
def intern_word(t: NameTables, data: U8, start: int, end: int) -> int:
    """The word of the bytes of a span."""
    return intern_hashed(t, data, start, end, hash_span(data, start, end, t.state[SEED]))


@kernel
def intern_hashed(t: NameTables, data: U8, start: int, end: int, hashed: int) -> int:
    """`intern_word` for a caller that computed the hash while it scanned the name."""
    mask = len(t.word_slots) - 1
    at = hashed & mask
    length = end - start
    while t.word_slots[at] >= 0:
        word = t.word_slots[at]
        if t.word_length[word] == length:
            base, i = t.word_start[word], 0
            while i < length and t.heap[base + i] == data[start + i]:
                i += 1
            if i == length:
                return int(word)
        at = (at + 1) & mask
    word, used = t.state[WORDS], t.state[BYTES]
    if word >= len(t.word_start) or used + length > len(t.heap):
        return FULL
    for i in range(length):
        t.heap[used + i] = data[start + i]
    t.word_start[word] = used
    t.word_length[word] = length
    t.word_slots[at] = word
    t.state[WORDS] = word + 1
    t.state[BYTES] = used + length
    return int(word)


@kernel
def prefix_of(t: NameTables, word: int) -> int:
    """The word of the prefix of a lexical name, 0 without one; remembered in the table."""
    if t.word_prefix[word] >= 0:
        return int(t.word_prefix[word])
    start, end = t.word_start[word], t.word_start[word] + t.word_length[word]
    colon = start
    while colon < end and t.heap[colon] != 0x3A:
        colon += 1
    prefix = 0 if colon == end else intern_word(t, t.heap, start, colon)
    if prefix != FULL:
        t.word_prefix[word] = prefix
    return prefix


@kernel
def intern_name(t: NameTables, word: int, uri: int) -> int:
    """The name of a lexical name and a URI, both words."""
    if t.last_uri[word] == uri:
        return int(t.last_name[word])
    mask = len(t.name_slots) - 1
    at = hash_pair(word, uri) & mask
    while t.name_slots[at] >= 0:
        name = t.name_slots[at]
        if t.name_word[name] == word and t.name_uri[name] == uri:
            break
        at = (at + 1) & mask
    if t.name_slots[at] < 0:
        if t.state[NAMES] >= len(t.name_word):
            return FULL
        t.name_slots[at] = t.state[NAMES]
        t.name_word[t.state[NAMES]] = word
        t.name_uri[t.state[NAMES]] = uri
        t.state[NAMES] += 1
    t.last_uri[word] = uri
    t.last_name[word] = t.name_slots[at]
    return int(t.last_name[word])
