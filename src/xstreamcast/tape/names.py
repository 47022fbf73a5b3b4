"""Names as integers: byte strings are interned as words, pairs of words as names.

- A *word* is an interned byte string: a lexical name (`p:local`), a prefix, a local part or a URI.
  Word 0 is the empty string.
- A *name* is a pair (word of the lexical name, word of the URI). Name 0 is ("", "").
  A tape's name column holds names.

The tables are plain arrays, so that a kernel can look words up and add them while it reads
(`name_kernels.py`). A kernel that finds a table full gives FULL; its caller calls `grow()`, takes
the new `tables` and continues. Words and names are only ever added. One writer at a time.
"""

from __future__ import annotations

import os
from array import array
from typing import NamedTuple

import numpy as np

from xstreamcast.tape.layout import I32, I64, U8, Bools

FULL = -1
WORDS, BYTES, NAMES, SEED = range(4)  # places in `state`

XML_URI = "http://www.w3.org/XML/1998/namespace"
XMLNS_URI = "http://www.w3.org/2000/xmlns/"


class NameTables(NamedTuple):
    """What a compiled kernel sees of the names."""

    state: I64  # counts of words, heap bytes and names; the hash seed
    heap: U8
    word_start: I32
    word_length: I32
    word_slots: I32  # open addressing, linear probing, -1 = free; a power of two, at most half full
    word_prefix: I32  # word of the part before the colon, 0 without one, -1 = not yet asked
    last_uri: I32  # the URI with which the word was last a name, -1 = never …
    last_name: I32  # … and that name: most words only ever have one
    name_word: I32
    name_uri: I32
    name_slots: I32


def hash_bytes(text: bytes, seed: int) -> int:
    """FNV-1a over `text`, as the kernels compute it."""
    value = seed
    for byte in text:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def hash_pair(word: int, uri: int) -> int:
    """The hash of a name, as the kernels compute it."""
    mixed = ((word * 0x9E3779B1) ^ (uri * 0x85EBCA77)) & 0xFFFFFFFF
    return mixed ^ (mixed >> 15)


class Names:
    """Interned names, shared by the tapes of a store."""

    def __init__(self, words: int = 512) -> None:
        self._tables = _tables(words, words * 32)
        self._ids: dict[bytes, int] = {}
        self._texts: list[bytes] = []
        self._qnames: list[tuple[str, str, str]] = []
        self._pairs: dict[tuple[int, int], int] = {}
        self._local_ids: dict[str, int] = {}
        # arrays that are read as a whole: from lists they would be read number by number
        self._locals = array("i")
        self._uris = array("i")
        self._bindings = array("i")
        self._interned: dict[tuple[str, str, str], int] = {}
        self._matching: dict[tuple[str | None, str | None], Bools] = {}
        self._tables.state[SEED] = int.from_bytes(os.urandom(4), "big") >> 1 | 1
        self.name(self.word(b""), 0)

    @property
    def tables(self) -> NameTables:
        """The arrays for a kernel; valid until the next `grow`."""
        return self._tables

    def __len__(self) -> int:
        return int(self._tables.state[NAMES])

    def __repr__(self) -> str:
        return f"<Names: {len(self)} names, {int(self._tables.state[WORDS])} words>"

    def intern(self, prefix: str, local: str, uri: str) -> int:
        """The name of (prefix, local, uri)."""
        known = self._interned.get((prefix, local, uri))
        if known is None:
            lexical = f"{prefix}:{local}" if prefix else local
            known = self.name(self.word(lexical.encode()), self.word(uri.encode()))
            self._interned[prefix, local, uri] = known
        return known

    def is_plain(self, name: int) -> bool:
        """Whether a node of this name needs no namespace to be bound."""
        if name >= len(self._qnames):
            self._catch_up()
        prefix, _, uri = self._qnames[name]
        return prefix == "xml" or not (prefix or uri)

    def binding(self, prefix: str, uri: str) -> int:
        """The name of a NAMESPACE row that binds `prefix` to `uri`."""
        return self.name(self.word(prefix.encode()), self.word(uri.encode()))

    def qname(self, name: int) -> tuple[str, str, str]:
        """(prefix, local, uri) of a name."""
        self._catch_up()
        return self._qnames[name]

    def lexical(self, name: int) -> str:
        """`prefix:local` of a name."""
        prefix, local, _ = self.qname(name)
        return f"{prefix}:{local}" if prefix else local

    def matching(self, local: str | None, uri: str | None) -> Bools:
        """For each name, whether it has this local part and URI; None matches any."""
        known = self._matching.get((local, uri))
        if known is None or len(known) != len(self):
            known = self._matches(local, uri)
            self._matching[local, uri] = known
        return known

    def word(self, text: bytes) -> int:
        """The word of `text`, added if it is new."""
        self._catch_up()
        found = self._ids.get(text)
        return self._add_word(text) if found is None else found

    def name(self, word: int, uri: int) -> int:
        """The name of a lexical name and a URI, both words."""
        self._catch_up()
        found = self._pairs.get((word, uri))
        return self._add_name(word, uri) if found is None else found

    def bindings(self) -> I32:
        """For each name, the binding (itself a name) that it needs; -1 for the prefix xml."""
        while len(self._bindings) < len(self):
            prefix, _, uri = self.qname(len(self._bindings))
            self._bindings.append(-1 if prefix == "xml" else self.binding(prefix, uri))
        return np.array(self._bindings, np.int32)

    def grow(self) -> None:
        """Twice the room in every table; ids stay as they are."""
        old = self._tables
        new = _tables(2 * len(old.word_start), 2 * len(old.heap))
        for column, kept in old._asdict().items():
            if not column.endswith("_slots"):
                getattr(new, column)[: len(kept)] = kept
        self._tables = new
        self._catch_up()
        for word, text in enumerate(self._texts):
            self._place(new.word_slots, hash_bytes(text, int(new.state[SEED])), word)
        for name in range(len(self)):
            pair = hash_pair(int(new.name_word[name]), int(new.name_uri[name]))
            self._place(new.name_slots, pair, name)

    def _matches(self, local: str | None, uri: str | None) -> Bools:
        self._catch_up()
        found = np.ones(len(self), np.bool_)
        if local is not None:
            found &= np.array(self._locals, np.int32) == self._local_ids.get(local, -1)
        if uri is not None:
            found &= np.array(self._uris, np.int32) == self._ids.get(uri.encode(), -1)
        return found

    def _add_word(self, text: bytes) -> int:
        while not self._has_room(len(text)):
            self.grow()
        t = self._tables
        word, used = int(t.state[WORDS]), int(t.state[BYTES])
        t.heap[used : used + len(text)] = np.frombuffer(text, np.uint8)
        t.word_start[word], t.word_length[word] = used, len(text)
        t.state[WORDS], t.state[BYTES] = word + 1, used + len(text)
        self._place(t.word_slots, hash_bytes(text, int(t.state[SEED])), word)
        self._catch_up()
        return word

    def _add_name(self, word: int, uri: int) -> int:
        if not self._has_room(0):
            self.grow()
        t = self._tables
        name = int(t.state[NAMES])
        t.name_word[name], t.name_uri[name] = word, uri
        t.state[NAMES] = name + 1
        self._place(t.name_slots, hash_pair(word, uri), name)
        self._catch_up()
        return name

    def _has_room(self, length: int) -> bool:
        t = self._tables
        fits = int(t.state[BYTES]) + length <= len(t.heap)
        return fits and max(t.state[WORDS], t.state[NAMES]) < len(t.word_start)

    @staticmethod
    def _place(slots: I32, hashed: int, index: int) -> None:
        mask = len(slots) - 1
        at = hashed & mask
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = index

    def _catch_up(self) -> None:
        """Add to the dictionaries what kernels have added."""
        t = self._tables
        for word in range(len(self._texts), int(t.state[WORDS])):
            start = int(t.word_start[word])
            text = t.heap[start : start + int(t.word_length[word])].tobytes()
            self._texts.append(text)
            self._ids[text] = word
        for name in range(len(self._qnames), int(t.state[NAMES])):
            word, uri = int(t.name_word[name]), int(t.name_uri[name])
            self._pairs[word, uri] = name
            prefix, _, local = self._texts[word].decode().rpartition(":")
            self._qnames.append((prefix, local, self._texts[uri].decode()))
            self._locals.append(self._local_ids.setdefault(local, len(self._local_ids)))
            self._uris.append(uri)


def _tables(words: int, heap: int) -> NameTables:
    def column(length: int = words) -> I32:
        return np.full(length, -1, np.int32)

    return NameTables(
        state=np.zeros(4, np.int64),
        heap=np.zeros(heap, np.uint8),
        word_start=column(),
        word_length=column(),
        word_slots=column(4 * words),
        word_prefix=column(),
        last_uri=column(),
        last_name=column(),
        name_word=column(),
        name_uri=column(),
        name_slots=column(4 * words),
    )
