"""The lexicon of readers from the Python side: made, grown, searched, mapped to `Names`."""

from __future__ import annotations

import os
from weakref import WeakKeyDictionary
from xml.parsers import expat

import numpy as np
from numpy import int64

from xstreamcast.tape.layout import I32
from xstreamcast.tape.names import XML_URI, XMLNS_URI, Names
from xstreamcast.tape.tokenize.load_bytes import PADDING, entry
from xstreamcast.tape.tokenize.words import (
    NAMES,
    NO_PREFIX,
    PAIR_ROW,
    SEED,
    SEED2,
    TOP,
    UNASKED,
    WORD_ROW,
    WORDS,
    Lexicon,
    add_word,
    find_name,
    find_word,
)

_COUNTS = 8


class Vocabulary:
    """The words and names that readers of one `Names` have met. One reader works at a time."""

    def __init__(self, words: int = 512) -> None:
        self.tables = _tables(words)
        self.tables.counts[SEED] = int.from_bytes(os.urandom(8), "big") >> 2 | 1
        self.tables.counts[SEED2] = int.from_bytes(os.urandom(8), "big") >> 2 | 1
        self._ids = np.full(1, -1, np.int32)  # name here → name in `Names`; the last is for -1
        for text in (b"", b"xml", b"xmlns", XML_URI.encode(), XMLNS_URI.encode()):
            self.add(text)

    def add(self, text: bytes) -> int:
        """The word of `text`."""
        padded = np.frombuffer(text + bytes(PADDING), np.uint8)
        while (word := add(self.tables, address(padded), 0, len(text))) < 0:
            self.grow()
        return int(word)

    def text(self, word: int) -> bytes:
        row = self.tables.words[word]
        start = int(row["offset"])
        return self.tables.pool[start : start + int(row["length"])].tobytes()

    def grow(self) -> None:
        """Twice the room; words and names keep their numbers."""
        old, new = self.tables, _tables(2 * len(self.tables.words))
        for column, kept in old._asdict().items():
            if not column.endswith("slots"):
                getattr(new, column)[: len(kept)] = kept
        new.counts[TOP] = old.counts[TOP] - 1
        self.tables = new
        refill(new)

    def accept_name(self, word: int) -> bool:
        """Ask expat whether a word is a name, and note its parts if it is."""
        prefix, colon, local = self.text(word).rpartition(b":")
        if not _is_name(local) or (colon and not _is_name(prefix)):
            return False
        parts = (self.add(prefix) if colon else NO_PREFIX), self.add(local)
        row = self.tables.words[word]
        row["prefix"], row["local"] = parts
        return True

    def alias(self, word: int, value: bytes) -> None:
        """Note that the raw bytes of a namespace declaration represent the URI `value`."""
        uri = self.add(value)
        self.tables.words["local"][word] = uri

    def ids(self, names: Names) -> I32:
        """Name here → name in `names`; the last entry is -1, so that -1 stays."""
        known, met = len(self._ids) - 1, int(self.tables.counts[NAMES])
        if known < met:
            t = self.tables
            new = [
                names.name(
                    names.word(self.text(int(t.pairs[name]["word"]))),
                    names.word(self.text(int(t.pairs[name]["uri"]))),
                )
                for name in range(known, met)
            ]
            self._ids = np.concatenate([self._ids[:-1], np.array([*new, -1], np.int32)])
        return self._ids


_vocabularies: WeakKeyDictionary[Names, Vocabulary] = WeakKeyDictionary()


def vocabulary(names: Names) -> Vocabulary:
    """The vocabulary of those who read into `names`."""
    found = _vocabularies.get(names)
    if found is None:
        found = _vocabularies[names] = Vocabulary()
    return found


def address(array: np.ndarray) -> int:
    """Where the first element of an array is."""
    return int(array.__array_interface__["data"][0])


def _is_name(part: bytes) -> bool:
    parser = expat.ParserCreate("utf-8", "\x01")
    try:
        parser.Parse(b"<" + part + b"/>", True)
    except expat.ExpatError:
        return False
    return True


def _tables(words: int) -> Lexicon:
    counts = np.zeros(_COUNTS, np.int64)
    counts[TOP] = 64 - (2 * words).bit_length() + 1
    unmet = np.zeros((), WORD_ROW)
    for field in ("context", "stamp", "local", "context_name", "plain_name"):
        unmet[field] = -1
    unmet["prefix"] = UNASKED
    return Lexicon(
        counts=counts,
        pool=np.zeros(words * 32 + PADDING, np.uint8),
        words=np.full(words, unmet, WORD_ROW),
        slots=np.full(2 * words, -1, np.int32),
        pairs=np.full(words, np.array((-1, -1, -1), PAIR_ROW), PAIR_ROW),
        pair_slots=np.full(2 * words, -1, np.int32),
    )


@entry
def add(lex: Lexicon, base: int, begin: int, end: int) -> int:
    """`add_word` for Python."""
    return add_word(lex, base, begin, end)


@entry
def refill(lex: Lexicon) -> None:
    """Put all words and names into the empty slots of a grown lexicon."""
    base = lex.pool.ctypes.data
    for word in range(lex.counts[WORDS]):
        begin = lex.words[word].offset
        _, at = find_word(lex, base, begin, begin + lex.words[word].length)
        lex.slots[at] = word
    met = lex.counts[NAMES]
    for name in range(met):
        lex.counts[NAMES] = name
        find_name(lex, int64(lex.pairs[name].word), int64(lex.pairs[name].uri))
    lex.counts[NAMES] = met


@entry
def rename(names: I32, ids: I32) -> None:
    """Replace each name by its entry in `ids`, whose last entry is for -1."""
    last = len(ids) - 1
    for row in range(len(names)):
        name = names[row]
        names[row] = ids[name] if name >= 0 else ids[last]
