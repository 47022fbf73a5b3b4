"""Chunks of a document to pieces of it: each a document with what is new, below what is open.

    <a><b>1 | 2</b><b>3 | 4</b></a>  →  <a><b>1</b></a>, <a><b>2</b><b>3</b></a>, <a><b>4</b></a>

Elements at a given depth, and those for which `is_whole` holds, are never cut apart: a piece ends
before the outermost of them that is open. Memory holds what is unfinished and no more, and what a
piece costs, tokenising aside, does not depend on how many elements it has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from xstreamcast.errors import DataPlace, Error
from xstreamcast.tape.expat.expat_errors import refuse, wrong_in
from xstreamcast.tape.expat.transcoding import Transcoder
from xstreamcast.tape.layout import (
    ATTRIBUTE,
    ELEMENT,
    I64,
    KIND,
    NAMESPACE,
    Columns,
    Tape,
    frozen_bytes,
)
from xstreamcast.tape.limits import Limits, default_limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.chunks import Chunks, begins_document
from xstreamcast.tape.reading.origin import Origin
from xstreamcast.tape.reading.refusals import BEYOND, beyond, too_large
from xstreamcast.tape.reading.resumption import CLOSED, Resumption
from xstreamcast.tape.tokenize.driver import Driver
from xstreamcast.tape.tokenize.state import (
    CURRENT,
    IN_TEXT,
    MORE,
    PENDING,
    POS,
    ROOT_SEEN,
    ROWS,
    SCANNED,
    TEXT_START,
)


class Piece(NamedTuple):
    """A document; the rows of its elements that were open before it, and that stay open behind."""

    tape: Tape
    before: I64
    behind: I64
    fresh: int  # the first row that no piece had before


class PieceReading:
    """A document on its way in; `depth` 1 is that of the root."""

    def __init__(
        self,
        depth: int,
        names: Names,
        name: str | None = None,
        limits: Limits | None = None,
        is_whole: Callable[[str, str], bool] = lambda uri, local: False,
        is_held: Callable[[str, str], bool] = lambda uri, local: False,
    ) -> None:
        self._depth, self._names, self._name = depth, names, name
        self._limits = limits or default_limits()
        self._driver = Driver(self._limits, names, unit=None, several=False)
        self._state = self._driver.state
        self._transcoder, self._origin = Transcoder(name), Origin(name or "input")
        self._begun = False
        self._chunks, self._header = Chunks(), b""
        self._spine = np.zeros(0, np.int64)  # rows of the elements open before the next piece
        self._first = 1  # the rows of the spine end here
        self._is_whole, self._is_held = is_whole, is_held
        self._whole = np.zeros(0, np.bool_)  # by name: an element of it is never cut apart
        self._held = np.zeros(0, np.bool_)  # by name: children of it stay together
        self._refused: Error | None = None

    @property
    def held(self) -> int:
        """Bytes of input that are kept for what is unfinished."""
        return self._chunks.used

    def feed(self, chunk: bytes) -> Piece | None:
        """Read a chunk → what it completed. An error after it comes with the next one."""
        self._raise_refused()
        decoded = self._transcoder.feed(chunk)
        if decoded is None:
            return None
        if not self._begun:
            self._begun = True
            self._driver.begin(self._transcoder.prolog)
        self._chunks.append(decoded)
        answer = self._driver.run(self._chunks.base, self._chunks.used, self._chunks.used)
        try:
            self._check(answer)
        except Error as refused:
            self._refused = refused
        piece = self._cut()
        if piece is None and not self.behind():
            self._raise_refused()
        return piece

    def close(self) -> None:
        """End the input; elements may be open."""
        self._raise_refused()
        self._transcoder.close()
        if self._begun and b">" in self._chunks.bytes(int(self._state[POS])):
            self._check_rest()

    def behind(self) -> bytes:
        """The bytes of another document, which follow the root that has closed; b"" if none do."""
        at = int(self._state[POS])
        ended = int(self._state[CURRENT]) == 0 and bool(self._state[ROOT_SEEN])
        closed = self._refused is not None and ended
        return begins_document(self._chunks.bytes(at)) if closed else b""

    # --- starting again --------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Whether enough has come to know how the document is written."""
        return self._begun

    def resumption(self) -> Resumption | None:
        """Where it is; None if it was refused, is not in UTF-8, or has not begun."""
        if self._refused is not None or self._transcoder.transcodes or not self._begun:
            return None
        closed = not len(self._spine) and bool(self._state[ROOT_SEEN]) and not self._state[CURRENT]
        tags = CLOSED if closed else b"".join(self._tag(int(row)) for row in self._spine)
        rest, there = self._chunks.bytes(len(self._header)), self._origin
        return Resumption(tags, rest, there.line, there.column, there.offset)

    def resume(self, there: Resumption) -> None:
        """Continue where another reading was; what it handed out is not handed out again."""
        self.feed(there.tags)
        self._origin.continue_at(there.line, there.column, there.offset)
        self.feed(there.rest)

    def _raise_refused(self) -> None:
        if self._refused is not None:
            raise self._refused

    # --- cutting --------------------------------------------------------------------------

    def _cut(self) -> Piece | None:
        """What is complete becomes a piece; the rest moves to the front, below what is open."""
        written = int(self._state[ROWS])
        chain, last = self._open(written)
        if last <= self._first:
            return None
        before, first, heap = self._spine, self._first, frozen_bytes(self._chunks.view())
        rows = self._carry(chain, last, written)
        taken = self._driver.named(Columns._make([*(one[:last] for one in rows[:-1]), heap]))
        taken.length[before] = -1  # their start tags are not in these bytes
        taken.length[chain] = -1
        taken.size[chain] = last - chain - 1
        taken.size[0] = last - 1
        return Piece(Tape(taken, self._names, self._name), before, chain, first)

    def _open(self, written: int) -> tuple[I64, int]:
        """The rows of open elements that may be cut apart, and the first row behind the cut."""
        parent, at = self._driver.columns.parent, int(self._state[CURRENT])
        chain = []
        while at > 0:
            chain.append(at)
            at = int(parent[at])
        chain.reverse()
        self._learn()
        for depth, row in enumerate(chain, start=1):
            if depth >= self._depth or self._whole[self._driver.columns.name[row]]:
                return self._together(chain[: depth - 1], row)
        return self._together(chain, written)

    def _together(self, chain: list[int], last: int) -> tuple[I64, int]:
        """The same, cut before the first child of an open element that is held."""
        open_ = np.array(chain, np.int64)
        if not self._held.any():
            return open_, last
        c = self._driver.columns
        children = np.flatnonzero(self._held[c.name[self._first : last]]) + self._first
        children = children[(c.kind[children] & KIND) == ELEMENT]
        found = children[np.isin(c.parent[children], open_)]
        if len(found) == 0:
            return open_, last
        last = int(found[0])
        return open_[open_ <= c.parent[last]], last

    def _learn(self) -> None:
        """Ask of the names that are new whether they are whole, or held; the last is for none."""
        known = len(self._driver.vocabulary.ids(self._names)) - 1
        if len(self._whole) == known + 1:
            return
        names = [
            self._names.qname(int(one)) for one in self._driver.vocabulary.ids(self._names)[:-1]
        ]
        self._whole = np.array([*(self._is_whole(u, n) for _, n, u in names), False], np.bool_)
        self._held = np.array([*(self._is_held(u, n) for _, n, u in names), False], np.bool_)

    def _carry(self, chain: I64, last: int, written: int) -> Columns:
        """New columns with the spine and what is left over → those that there were."""
        c = self._driver.columns
        rows = [0]
        places = []
        for row in chain.tolist():
            places.append(len(rows))
            rows.append(row)
            row += 1
            while row < last and (c.kind[row] & KIND) in (ATTRIBUTE, NAMESPACE):
                rows.append(row)
                row += 1
        spine, first = np.array(places, np.int64), len(rows)
        values = [b"" if r in chain or r == 0 else self._value(r) for r in rows]
        lengths = np.array([len(value) for value in values], np.int64)
        now = first + written - last
        given = self._driver.renew()
        c = self._driver.columns
        for name in c._fields[:-1]:
            old, new = getattr(given, name), getattr(c, name)
            new[:first], new[first:now] = old[rows], old[last:written]
        innermost = int(spine[-1]) if len(spine) else 0
        rest = c.parent[first:now]
        rest[:] = np.where(rest >= last, rest - last + first, innermost)
        c.parent[:first] = self._above(spine, first)
        current = int(self._state[CURRENT])
        self._state[CURRENT] = current - last + first if current >= last else innermost
        self._state[ROWS] = now
        begin = int(c.start[first]) if now > first else self._needed()
        self._move_bytes(begin, b"".join(values), first, now)
        c.start[:first] = np.cumsum(lengths) - lengths
        self._spine, self._first = spine, first
        return given

    def _above(self, spine: I64, first: int) -> I64:
        """The parents of the rows of the spine."""
        element = np.zeros(first, np.int64)
        element[spine] = 1
        own = np.concatenate([[0], spine])[np.cumsum(element)]
        parents = np.where(element == 1, np.concatenate([[0, 0], spine])[np.cumsum(element)], own)
        parents[0] = -1
        return parents

    def _value(self, row: int) -> bytes:
        start = int(self._driver.columns.start[row])
        return self._chunks.bytes(start, start + int(self._driver.columns.length[row]))

    def _needed(self) -> int:
        """The first byte that is still needed when no row is left over."""
        pos = int(self._state[POS])
        return min(pos, int(self._state[TEXT_START])) if self._state[PENDING] == IN_TEXT else pos

    def _move_bytes(self, begin: int, header: bytes, first: int, rows: int) -> None:
        """New bytes: the values of the spine's attributes, then those from `begin` on."""
        old, head = self._chunks, len(self._header)
        self._origin.pass_by(old.view(head, begin))
        self._header = header
        self._chunks = Chunks(header, max(1 << 16, old.used - begin + len(header)))
        moved = begin - self._chunks.used
        self._chunks.append(old.view(begin))
        self._state[[POS, SCANNED, TEXT_START]] -= moved
        self._driver.columns.start[first:rows] -= moved

    # --- errors ---------------------------------------------------------------------------

    def _check(self, answer: int) -> None:
        if answer in BEYOND:
            raise beyond(answer, self._limits, self._place(int(self._state[POS])))
        if answer != MORE:
            self._ask_expat()
        kept = self._chunks.used - len(self._header)
        if kept > self._limits.max_document_size:
            raise too_large(kept, self._limits, self._name, "a unit")

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
        prefix = b"".join(self._tag(int(row)) for row in self._spine)
        kept = self._chunks.bytes(len(self._header))
        return prefix, kept, self._name, self._origin, self._place(int(self._state[POS]))

    def _tag(self, row: int) -> bytes:
        """The start tag of an element of the spine."""
        c, out = self._driver.columns, b"<" + self._word(row)
        row += 1
        while row < self._first and (c.kind[row] & KIND) in (ATTRIBUTE, NAMESPACE):
            value, word = self._value(row), self._word(row)
            if (c.kind[row] & KIND) == NAMESPACE:
                word = b"xmlns:" + word if word else b"xmlns"
            quote = b"'" if b'"' in value else b'"'
            out += b" " + word + b"=" + quote + value + quote
            row += 1
        return out + b">"

    def _word(self, row: int) -> bytes:
        """The name of a row as it was written in the input."""
        pairs = self._driver.vocabulary.tables.pairs
        return self._driver.vocabulary.text(int(pairs[int(self._driver.columns.name[row])]["word"]))
