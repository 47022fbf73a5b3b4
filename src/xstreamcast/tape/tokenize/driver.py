"""Drives the compiled tokeniser: gives it room, answers its questions, makes its rows a tape."""

from __future__ import annotations

import ctypes

import numpy as np

from xstreamcast.tape.layout import DOCUMENT, U8, Columns, frozen_bytes
from xstreamcast.tape.limits import Limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.prolog import LONGEST, XmlProlog, declared
from xstreamcast.tape.tokenize.lexicon import Vocabulary, rename, vocabulary
from xstreamcast.tape.tokenize.loop import tokenize
from xstreamcast.tape.tokenize.scope import BINDING, FRAME, INHERITED_ROW, NamespaceScope
from xstreamcast.tape.tokenize.state import (
    CURRENT,
    DECLARATION,
    DEPTH,
    DOCTYPE_SEEN,
    FULL,
    INHERITED,
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_NAME,
    MORE,
    NOTHING,
    ODD_NAME,
    ODD_URI,
    PENDING,
    POS,
    ROOM,
    ROOT_SEEN,
    ROWS,
    SCOPE,
    SEVERAL,
    SHIFT,
    STANDALONE,
    STATE,
    SUSPECT,
    UNIT,
    WORD,
)

_NO_HEAP = frozen_bytes(b"")
_FIRST_ROWS = 1 << 17  # enough to see how many rows a byte makes


class Driver:
    """One tokeniser at work; its state is an array, so that it can stop after every byte."""

    def __init__(self, limits: Limits, names: Names, *, unit: int | None, several: bool) -> None:
        self.names = names
        self.vocabulary: Vocabulary = vocabulary(names)
        self.state = np.zeros(STATE, np.int64)
        self.columns = _columns(256)
        self.scope = _scope(16, limits.max_depth)
        self._open_words = np.zeros(limits.max_depth + 1, np.int32)
        self.state[[MAX_DEPTH, MAX_NAME, MAX_ATTRIBUTES]] = (
            limits.max_depth,
            limits.max_name_length,
            limits.max_attributes,
        )
        self.state[SEVERAL] = several
        if unit is None:
            self._begin_document()
        else:
            self.state[[UNIT, SHIFT, CURRENT]] = unit, -unit, -1

    def run(self, base: int, end: int, whole: int) -> int:
        """Tokenise up to `end`; `whole` is how many bytes there will be, as far as is known."""
        while True:
            answer = tokenize(
                base,
                end,
                self.columns,
                self.vocabulary.tables,
                self.scope,
                self._open_words,
                self.state,
            )
            if answer == ROOM:
                self._widen(whole)
            elif answer == FULL:
                self.vocabulary.grow()
            elif answer == SCOPE:
                self.scope = _grown(self.scope)
            elif answer == ODD_NAME:
                if not self.vocabulary.accept_name(int(self.state[WORD])):
                    return SUSPECT
            elif answer == ODD_URI:
                self._decode_uri(int(self.state[WORD]))
            elif answer == DECLARATION:
                answer = self._next_document(base, end)
                if answer < 0:
                    return answer
            else:
                return int(answer)

    def begin(self, prolog: XmlProlog) -> None:
        """Start after the prolog of a document."""
        self.state[POS] += prolog.begin
        self.state[STANDALONE] = prolog.standalone
        self.state[[ROOT_SEEN, DOCTYPE_SEEN]] = 0

    @property
    def complete(self) -> bool:
        """Whether all bytes are read and every element is closed."""
        open_, pending, seen = self.state[[DEPTH, PENDING, ROOT_SEEN]]
        return bool(seen and open_ == 0 and pending == NOTHING)

    def take(self, rows: int, heap: U8) -> Columns:
        """The first `rows` rows, named in `names`, over `heap`; they are the driver's no longer."""
        return self.named(Columns._make([*(column[:rows] for column in self.columns[:-1]), heap]))

    def renew(self) -> Columns:
        """The rows so far, for their reader; as much room is made for the next ones."""
        given, self.columns = self.columns, _columns(len(self.columns.kind))
        return given

    def copy(self, first: int, last: int, heap: U8) -> Columns:
        """A copy of the rows from `first` to `last`, named in `names`, over `heap`."""
        rows = (column[first:last].copy() for column in self.columns[:-1])
        return self.named(Columns._make([*rows, heap]))

    def named(self, columns: Columns) -> Columns:
        """The columns with their names in `names`."""
        ids = self.vocabulary.ids(self.names)
        if not np.array_equal(ids[:-1], np.arange(len(ids) - 1, dtype=np.int32)):
            rename(columns.name, ids)
        return columns

    def finish_document(self) -> None:
        """Close the document node."""
        self.columns.size[0] = self.state[ROWS] - 1

    def _begin_document(self) -> None:
        c = self.columns
        c.kind[0], c.level[0], c.name[0], c.parent[0] = DOCUMENT, 0, -1, -1
        c.size[0], c.start[0], c.length[0] = 0, 0, -1
        self.state[[ROWS, SHIFT, CURRENT]] = 1, 1, 0

    def _next_document(self, base: int, end: int) -> int:
        """Read the XML declaration of a further document of a sequence."""
        if not (self.state[SEVERAL] and self.state[ROOT_SEEN]) or self.state[DEPTH]:
            return SUSPECT
        pos = int(self.state[POS])
        head = ctypes.string_at(base + pos, min(end - pos, LONGEST))
        if b"?>" not in head and len(head) < LONGEST:
            return MORE
        prolog = declared(head, 0)
        if prolog.odd:
            return SUSPECT
        self.begin(prolog)
        return 0

    def _widen(self, whole: int) -> None:
        """More rows: twice as many, or twice what the input so far lets expect for all of it.

        Rows that are never written take addresses and no memory; to widen again costs a copy.
        """
        rows, pos = int(self.state[ROWS]), max(int(self.state[POS]), 1)
        needed = max(2 * len(self.columns.kind), int(self.state[INHERITED]) + 64)
        expected = int(rows / pos * whole * 2)
        if rows >= _FIRST_ROWS:
            needed = max(len(self.columns.kind) * 5 // 4, expected) + 1024
        else:
            needed = max(needed, min(_FIRST_ROWS, expected) + 1024)
        new = _columns(needed)
        for field in new._fields[:-1]:
            getattr(new, field)[:rows] = getattr(self.columns, field)[:rows]
        self.columns = new

    def _decode_uri(self, word: int) -> None:
        from xstreamcast.tape.expat.through_expat import columns_from_expat

        raw = self.vocabulary.text(word)
        quote = b"'" if b'"' in raw else b'"'
        attribute = columns_from_expat(b"<a b=" + quote + raw + quote + b"/>").columns
        start = int(attribute.start[2])
        value = attribute.heap[start : start + int(attribute.length[2])]
        self.vocabulary.alias(word, value.tobytes())


def _columns(rows: int) -> Columns:
    """Room for `rows` nodes in one block: the system gives large blocks in large pages, and the
    first touch of small ones would cost as much as the tokenising.
    """
    rows += -rows % 64
    block, at, parts = np.empty(rows * 27, np.uint8), 0, []
    for dtype in (np.int64, np.int32, np.int32, np.int32, np.int32, np.uint16, np.uint8):
        end = at + rows * np.dtype(dtype).itemsize
        parts.append(block[at:end].view(dtype))
        at = end
    start, length, name, parent, size, level, kind = parts
    return Columns._make([kind, level, name, parent, size, start, length, _NO_HEAP])


def _scope(bindings: int, depth: int) -> NamespaceScope:
    return NamespaceScope(
        np.zeros(bindings, BINDING), np.zeros(depth + 2, FRAME), np.zeros(0, INHERITED_ROW)
    )


def _grown(scope: NamespaceScope) -> NamespaceScope:
    """Twice the room for bindings."""
    return scope._replace(bindings=np.concatenate([scope.bindings, scope.bindings]))
