"""Chunks of a root that may never close, to a tape of its newly complete units at each chunk.

A unit is an element at a given level below the root (1: the children of the root). Its in-scope
namespaces are given to it as if it declared them. What is above the units (the root, text
between them) makes no rows. Memory holds the unfinished unit and no more; nothing is read twice
but a tag, comment or PI that a chunk cuts, once its end is there.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from xstreamcast.errors import DataPlace, Error
from xstreamcast.tape.expat.expat_errors import refuse, wrong_in
from xstreamcast.tape.expat.transcoding import Transcoder
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import Tape, frozen_bytes
from xstreamcast.tape.limits import Limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.chunks import Chunks, begins_document
from xstreamcast.tape.reading.origin import Origin
from xstreamcast.tape.reading.refusals import BEYOND, beyond, too_large
from xstreamcast.tape.reading.resumption import CLOSED, Resumption
from xstreamcast.tape.tokenize.driver import Driver
from xstreamcast.tape.tokenize.scope import INHERITED_ROW
from xstreamcast.tape.tokenize.state import (
    ANCESTOR,
    ANCESTOR_ROWS,
    BINDINGS,
    CURRENT,
    DEPTH,
    INHERITED,
    MORE,
    POS,
    ROOT_SEEN,
    ROWS,
    SCANNED,
    TEXT_START,
    UNIT_ROWS,
)
from xstreamcast.tape.tokenize.words import EMPTY, NO_PREFIX

_DROP = 1 << 16  # bytes above the units that are worth moving the rest for


class UnitReading:
    """A stream on its way in."""

    def __init__(self, level: int, limits: Limits, names: Names, name: str | None) -> None:
        self._limits, self._names, self._name = limits, names, name
        self._driver = Driver(limits, names, unit=level, several=False)
        self._state = self._driver.state
        self._transcoder = Transcoder(name)
        self._begun = False
        self._chunks, self._header = Chunks(), b""
        self._origin = Origin(name or "input")
        self._tags: list[bytes] = []  # the start tags of the open ancestors
        self._inherited: list[tuple[int, int]] = []
        self._ready: list[Tape] = []
        self._refused: Error | None = None
        self.root: Tape | None = None

    def feed(self, chunk: bytes) -> Tape | None:
        """Read a chunk → the units that it completed. An error after them comes with the next."""
        self._raise_refused()
        decoded = self._transcoder.feed(chunk)
        if decoded is None:
            return None
        if not self._begun:
            self._begun = True
            self._driver.begin(self._transcoder.prolog)
        self._chunks.append(decoded)
        try:
            self._advance()
        except Error as refused:
            self._refused = refused
        return self._hand_out()

    def close(self) -> None:
        """End the stream; the root may be open, a unit may be unfinished."""
        self._raise_refused()
        self._transcoder.close()
        if self._begun and b">" in self._chunks.bytes(int(self._state[POS])):
            self._check_rest()

    def behind(self) -> bytes:
        """The bytes of another document, which follow the root that has closed; b"" if none do."""
        ended = int(self._state[DEPTH]) == 0 and bool(self._state[ROOT_SEEN])
        closed = self._refused is not None and ended
        return begins_document(self._chunks.bytes(int(self._state[POS]))) if closed else b""

    @property
    def begun(self) -> bool:
        """Whether enough has come to know how the document is written."""
        return self._begun

    def resumption(self) -> Resumption | None:
        """Where it is; None if it was refused, is not in UTF-8, or cannot be left."""
        if self._refused is not None or self._transcoder.transcodes or not self.begun:
            return None
        first, there = self._unfinished(), copy(self._origin)
        there.pass_by(self._chunks.bytes(len(self._header), first))
        closed = not self._tags and bool(self._state[ROOT_SEEN])
        tags = CLOSED if closed else b"".join(self._tags)
        rest = self._chunks.bytes(first)
        return Resumption(tags, rest, there.line, there.column, there.offset)

    def _unfinished(self) -> int:
        """The first byte of what is not complete."""
        complete = int(self._state[UNIT_ROWS])
        unfinished = int(self._state[ROWS]) > complete
        return int(self._driver.columns.start[complete] if unfinished else self._state[POS])

    def _raise_refused(self) -> None:
        if self._refused is not None:
            raise self._refused

    def _hand_out(self) -> Tape | None:
        ready, self._ready = self._ready, []
        if not ready:
            if not self.behind():
                self._raise_refused()
            return None
        return joined(ready)

    def _advance(self) -> None:
        while True:
            answer = self._driver.run(self._chunks.base, self._chunks.used, self._chunks.used)
            if answer == ANCESTOR:
                self._on_ancestor()
                continue
            self._take_units()
            if answer in BEYOND:
                raise beyond(answer, self._limits, self._place(int(self._state[POS])))
            if answer != MORE:
                self._ask_expat()
            kept = self._chunks.used - len(self._header)
            if kept > self._limits.max_document_size:
                raise too_large(kept, self._limits, self._name, "a unit")
            return

    # --- units ----------------------------------------------------------------------------

    def _take_units(self, anew: bool = False) -> None:
        """Make the complete rows a tape over the bytes so far, and move the rest to new bytes."""
        rows, written = int(self._state[UNIT_ROWS]), int(self._state[ROWS])
        if not rows and not anew and (written or self._state[POS] < _DROP):
            return
        first = int(self._driver.columns.start[rows]) if written > rows else int(self._state[POS])
        if rows:
            taken = self._driver.copy(0, rows, frozen_bytes(self._chunks.view()))
            self._ready.append(Tape(taken, self._names, self._name))
        self._move_rows(rows, written)
        self._move_bytes(first)

    def _move_rows(self, gone: int, written: int) -> None:
        """Bring the rows of the unfinished unit to the front."""
        c = self._driver.columns
        for column in c[:-1]:
            column[: written - gone] = column[gone:written]
        rest = c.parent[: written - gone]
        rest[rest >= 0] -= gone
        if self._state[CURRENT] >= 0:
            self._state[CURRENT] -= gone
        self._state[[ROWS, UNIT_ROWS]] = written - gone, 0

    def _move_bytes(self, first: int) -> None:
        """Begin new bytes with what the units inherit, then those from `first` on."""
        old, head = self._chunks, len(self._header)
        self._origin.pass_by(old.bytes(head, first))
        self._header = b"".join(self._driver.vocabulary.text(uri) for _, uri in self._inherited)
        self._chunks = Chunks(self._header, max(1 << 16, old.used - first + head))
        moved = first - self._chunks.used
        self._chunks.append(old.view(first))
        self._state[[POS, SCANNED, TEXT_START]] -= moved
        start = self._driver.columns.start[: int(self._state[ROWS])]
        start[start >= head] -= moved  # what is inherited is at the beginning, as before

    # --- above the units ------------------------------------------------------------------

    def _on_ancestor(self) -> None:
        """An element above the units began (its rows are after ROWS) or ended."""
        first, last = int(self._state[ROWS]), int(self._state[ANCESTOR_ROWS])
        depth = int(self._state[DEPTH])
        if last > first:
            tag = self._start_tag(first, last)
            if self.root is None:
                self.root = tag
            if depth > len(self._tags):
                self._tags.append(tag.columns.heap.tobytes())
        del self._tags[depth:]
        inherited = self._bindings()
        if inherited != self._inherited:
            self._inherited = inherited
            self._take_units(anew=True)
            self._set_inherited()

    def _bindings(self) -> list[tuple[int, int]]:
        """(prefix, URI) of what is in scope above the units, as words."""
        count, scope = int(self._state[BINDINGS]), self._driver.scope
        pairs = scope.bindings[:count].tolist()
        found = {EMPTY if prefix == NO_PREFIX else prefix: uri for prefix, uri in pairs}
        return [(prefix, uri) for prefix, uri in found.items() if uri != EMPTY]

    def _set_inherited(self) -> None:
        """Give the tokeniser what units inherit; the URIs are at the beginning of the bytes."""
        rows = np.zeros(len(self._inherited), INHERITED_ROW)
        rows["prefix"] = [prefix for prefix, _ in self._inherited]
        rows["uri"] = [uri for _, uri in self._inherited]
        rows["length"] = self._driver.vocabulary.tables.words["length"][rows["uri"]]
        rows["start"] = np.cumsum(rows["length"]) - rows["length"]
        self._driver.scope = self._driver.scope._replace(inherited=rows)
        self._state[INHERITED] = len(rows)

    def _start_tag(self, first: int, last: int) -> Tape:
        """The element of a start tag with its namespaces and attributes, and nothing below."""
        begin, end = int(self._driver.columns.start[first]), int(self._state[POS])
        c = self._driver.copy(first, last, frozen_bytes(self._chunks.bytes(begin, end)))
        c.level[0], c.level[1:] = 0, 1
        c.parent[0], c.parent[1:] = -1, 0
        c.size[0], c.length[0] = last - first - 1, -1
        c.start[:] -= begin
        return Tape(c, self._names, self._name)

    # --- errors ---------------------------------------------------------------------------

    def _place(self, pos: int) -> DataPlace:
        head = len(self._header)
        return self._origin.place(self._chunks.bytes(head), pos - head)

    def _ask_expat(self) -> None:
        """Expat says what is wrong with what is kept."""
        refuse(*self._rest())

    def _check_rest(self) -> None:
        """Refuse an end tag that nothing follows if it is wrong: the tokeniser compares it with the
        right one, and waits for more bytes if that is longer.
        """
        wrong = wrong_in(*self._rest())
        if wrong is not None:
            raise wrong

    def _rest(self) -> tuple[bytes, bytes, str | None, Origin, DataPlace]:
        """The tags that are open, and what is kept below them."""
        prefix = b"".join(self._tags)
        kept = self._chunks.bytes(len(self._header))
        return prefix, kept, self._name, self._origin, self._place(int(self._state[POS]))
