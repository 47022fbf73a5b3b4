"""Bytes of a wire, cut anywhere, to tapes of whole fragments; a broken one costs only itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.edges.wire.spots import Spot, Spots, UncountedSpot
from xstreamcast.edges.wire.sync import (
    BARE,
    end_of_element,
    first_markup,
    fragment_bytes,
    next_start,
    opening,
    root_begin,
    sure_start,
)
from xstreamcast.edges.wire.texts import CDATA, MARKUP_BEGIN, end_tags, markup, may_end_tag
from xstreamcast.errors import Error
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.expat.transcoding import Transcoder
from xstreamcast.tape.layout import ELEMENT, KIND, Tape
from xstreamcast.tape.limits import Limits, default_limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.units import UnitReading
from xstreamcast.tape.tokenize.state import DEPTH, POS, ROWS, UNIT_ROWS

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64

_RUNAWAY: Final = 1 << 18  # bytes of one fragment from which on the next one is looked for in it
# White space that an input may end with: enough for the first bytes of a short one to be clear.
_SPACE: Final = 32
ENDING: Final = b"      "
_STEP: Final = 1 << 16  # bytes read at once after an error: there may be another
_LONGEST_START: Final = 4096  # bytes of a start tag that a chunk may have cut


@dataclass(frozen=True, slots=True)
class Read:
    """Whole fragments, a tree each; byte p of the heap is byte `base` + p of the wire.

    `begin`: the place of the first byte that the heap has from the wire.
    """

    tape: Tape
    base: int
    begin: UncountedSpot


@dataclass(frozen=True, slots=True)
class Broken:
    """Bytes that are no well-formed fragment, and why."""

    raw: bytes
    begin: Spot
    reason: str


@dataclass(frozen=True, slots=True)
class Stray:
    """Text between fragments, which is part of none."""

    raw: bytes
    begin: Spot


@dataclass(slots=True)
class _Skipping:
    """A broken fragment whose end is not yet known."""

    tag: bytes  # of the root
    at: Spot
    reason: str
    raw: bytearray = field(default_factory=bytearray)


class _Units(UnitReading):
    """A reader of units that reports what it keeps and why it stopped."""

    def __init__(self, level: int, limits: Limits, names: Names, name: str, tag: bytes) -> None:
        super().__init__(level, limits, names, name)
        self.tag = tag
        self._stray: list[tuple[int, bytes]] = []
        self._tail = b""  # text behind the last unit, of bytes that are no longer kept
        self._gap = 0  # where in the bytes that continues
        self._last: int | None = None  # where the last unit begins, if the bytes hold one
        self.feed(tag)
        self._tail, self._gap = b"", self._chunks.used

    def stray(self) -> list[tuple[int, bytes]]:
        """Texts between units that were met since, and where they began in what was fed."""
        found, self._stray = self._stray, []
        return found

    @property
    def behind_units(self) -> int:
        """Bytes of text that were passed behind the last unit."""
        return len(self._tail)

    def take_tail(self) -> bytes:
        """The text behind the last unit that is no longer kept, to be read with what follows."""
        found, self._tail = self._tail, b""
        return found

    def note_end(self) -> None:
        """Look at the text behind the last unit, too: no more follows."""
        if not int(self._state[ROWS]):
            self.note_before(int(self._state[POS]) - len(self._header))

    def note_before(self, end: int) -> None:
        """Look at the text before one of the bytes that are kept: no unit begins there."""
        end += len(self._header)
        self._note_gap(self._tail + self._chunks.bytes(self._gap, end), end)
        self._tail, self._gap = b"", end

    def _take_units(self, anew: bool = False) -> None:
        rows = int(self._state[UNIT_ROWS])
        if rows:
            c = self._driver.columns
            elements = (c.parent[:rows] < 0) & (c.kind[:rows] & KIND == ELEMENT)
            self._note(c.start[:rows][elements].astype(np.int64))
        super()._take_units(anew)

    def _move_bytes(self, first: int) -> None:
        self._pass_text(first)
        super()._move_bytes(first)
        self._gap = len(self._header)

    def _note(self, starts: I64) -> None:
        """Note the texts between units: before most begins is an end tag."""
        heap = self._chunks.view()
        if not len(starts):
            return
        self._note_gap(self._tail + heap[self._gap : starts[0]].tobytes(), int(starts[0]))
        last = starts[1:] - 1
        spaces = np.flatnonzero(heap[last] <= _SPACE)
        while len(spaces):
            last[spaces] -= 1
            spaces = spaces[heap[last[spaces]] <= _SPACE]
        plain = end_tags(heap, last)
        for k in np.flatnonzero(~plain).tolist():
            seen = heap[starts[k] : starts[k + 1]].tobytes()
            self._note_gap(seen[end_of_element(seen) :], int(starts[k + 1]))
        self._tail, self._last = b"", int(starts[-1])

    def _pass_text(self, end: int) -> None:
        """Note texts before markup that ends here, and keep the one behind it: it may continue."""
        if self._last is None:
            seen = self._tail + self._chunks.bytes(self._gap, max(end, self._gap))
        else:
            seen = self._chunks.bytes(self._last, end)
            plain = seen.rstrip()
            alone = not self.ended and may_end_tag(plain)
            alone = alone and plain.rfind(b"<") > plain.rfind(b">", 0, -1) and CDATA not in seen
            seen = seen[len(plain) if alone else end_of_element(seen) :]
            self._last = None
        last = max((last for _, last in markup(seen)), default=0)
        self._note_gap(seen[:last], end - len(seen) + last)
        self._tail = seen[last:]

    def _note_gap(self, seen: bytes, end: int) -> None:
        """Note the texts of the bytes up to `end`, between units."""
        base = end - len(self._header) - len(seen) + self._origin.offset
        begin = 0
        for first, last in (*markup(seen), (len(seen),) * 2):
            text = seen[begin:first]
            if text.strip():
                self._stray.append((base + first - len(text.lstrip()), text.strip()))
            begin = last

    def feed_quietly(self, chunk: bytes) -> Tape | None:
        """`feed`, where an error is only noted."""
        try:
            return self.feed(chunk)
        except Error as refused:
            self._refused = refused
            return None

    @property
    def refused(self) -> Error | None:
        return self._refused

    @property
    def kept(self) -> bytes:
        """The bytes from the first unfinished unit on."""
        return self._chunks.bytes(len(self._header))

    @property
    def keeps(self) -> int:
        return self._chunks.used - len(self._header)

    @property
    def reached(self) -> int:
        """How many of the kept bytes were read before it stopped."""
        return int(self._state[POS]) - len(self._header)

    @property
    def passed(self) -> int:
        """Bytes that came before those that are kept."""
        return self._origin.offset

    @property
    def base(self) -> int:
        """What byte 0 of the next tape's heap is in the bytes that were fed."""
        return self._origin.offset - len(self._header)

    @property
    def unfinished(self) -> bool:
        """Whether a fragment or other markup is open."""
        rest = self._chunks.bytes(int(self._state[POS]))
        return int(self._state[DEPTH]) > 1 or bool(rest.strip())

    @property
    def ended(self) -> bool:
        """Whether the root has closed."""
        return int(self._state[DEPTH]) == 0


def _first_tag(kept: bytes) -> int:
    """Where texts, comments and PIs end, before a tag."""
    first = first_markup(kept)
    while first < len(kept) and kept[first] != MARKUP_BEGIN:
        first = kept.find(b"<", first) if b"<" in kept[first:] else len(kept)
        first += first_markup(kept[first:])
    return first


class WireReading:
    """A wire on its way in."""

    def __init__(self, name: str, names: Names) -> None:
        self._name, self._names = name, names
        self._transcoder = Transcoder(name)
        self._spots = Spots()
        self._head = b""
        self._at = 0  # where on the wire the head begins
        self._units: _Units | None = None
        self._shift = 0  # byte p that the units were fed is byte p + shift of the wire
        self._searched = 0
        self._skipping: _Skipping | None = None

    @property
    def identifiers(self) -> frozenset[tuple[str, str, str]]:
        """(element, attribute, ID or IDREF) of what a DTD before the fragments declares."""
        return self._transcoder.identifiers

    def feed(self, chunk: bytes) -> Iterator[Read | Broken | Stray]:
        """Read a chunk → what it completed, in order."""
        decoded = self._transcoder.feed(chunk)
        if decoded:
            self._spots.take(decoded)
            yield from self._take(decoded)

    def close(self) -> Iterator[Read | Broken | Stray]:
        """End the wire; a root that is still open is no error, a fragment is one."""
        if self._units is None and self._skipping is None:
            yield from self.feed(ENDING)
        self._transcoder.close()
        if self._units is None and self._head.strip():
            yield from self._begin(b"", final=True)
        if self._skipping is not None:
            yield self._given_up(self._skipping, len(self._skipping.raw))
        while self._units is not None and self._units.unfinished:
            if self._units.ended:
                yield from self._again(final=True)
            else:
                yield from self._skip("the input ends inside the fragment")
            if self._skipping is not None:
                yield self._given_up(self._skipping, len(self._skipping.raw))
        if self._units is not None:
            self._units.note_end()
            yield from self._strays(self._units)

    def _take(self, data: bytes) -> Iterator[Read | Broken | Stray]:
        if self._skipping is not None:
            yield from self._go_on(data)
            return
        if self._units is None:
            yield from self._begin(data, final=False)
            return
        yield from self._read(self._units, data)
        if self._units is not None and self._units.keeps > _RUNAWAY and self._runs_away():
            yield from self._skip("the fragment does not end before the next one begins")

    def _runs_away(self) -> bool:
        """Whether a fragment begins inside the unfinished one: then that was never closed."""
        assert self._units is not None
        kept = self._units.kept
        begin = max(self._searched - _LONGEST_START, first_markup(kept) + 1)
        self._searched = len(kept)
        return sure_start(kept, self._units.tag, begin) >= 0

    def _begin(self, data: bytes, final: bool) -> Iterator[Read | Broken | Stray]:
        """Find the root, or give the wire one."""
        self._head += data
        found = opening(self._head, final)
        if found is None:
            return
        tag = found.tag
        try:
            self._units = _Units(1, default_limits(), self._names, self._name, tag)
        except Error as refused:
            raw = self._head[: found.begin]
            begin = self._spots.at(self._at + root_begin(raw)).spot()
            yield Broken(raw[root_begin(raw) :], begin, refused.message)
            tag = BARE
            self._units = _Units(1, default_limits(), self._names, self._name, tag)
        self._shift = self._at + found.begin - len(tag)
        rest, self._head = self._head[found.begin :], b""
        if rest and not found.empty:
            yield from self._read(self._units, rest)

    def _read(self, units: _Units, data: bytes) -> Iterator[Read | Broken | Stray]:
        base, passed = units.base + self._shift, units.passed + self._shift
        begin = self._spots.at(passed, passed - units.behind_units)
        tape = units.feed_quietly(data)
        if tape is not None:
            self._searched = 0
            yield Read(tape, base, begin)
        yield from self._strays(units)
        if units.refused is not None:
            if units.ended:
                yield from self._again(final=False)
            else:
                yield from self._skip(units.refused.message)

    def _strays(self, units: _Units) -> Iterator[Stray]:
        for at, raw in units.stray():
            begin = self._spots.at(at + self._shift, at + self._shift)
            yield Stray(raw, begin.spot())

    def _again(self, final: bool) -> Iterator[Read | Broken | Stray]:
        """The root has closed and something follows: another root, or fragments without one."""
        assert self._units is not None
        self._units.note_end()
        yield from self._strays(self._units)
        kept, self._at = self._units.kept, self._units.passed + self._shift
        self._units, self._head = None, b""
        yield from self._begin(kept, final)

    def _skip(self, reason: str) -> Iterator[Read | Broken | Stray]:
        """Give up the fragment that is being read; continue where the next one begins."""
        assert self._units is not None
        kept, at = self._units.kept, self._units.passed + self._shift
        if b"<" not in kept[: self._units.reached + 1]:  # the text itself is broken, all of it
            before = self._units.take_tail()
            kept, at = before + kept, at - len(before)
            first = first_markup(kept)
        else:
            first = _first_tag(kept)
            start = next_start(kept, self._units.tag, first)
            if first < start <= self._units.reached:  # text between fragments is no part of them
                first = start
            self._units.note_before(first)
        yield from self._strays(self._units)
        self._skipping = _Skipping(self._units.tag, self._spots.at(at + first).spot(), reason)
        yield from self._go_on(kept[first:])

    def _go_on(self, more: bytes) -> Iterator[Read | Broken | Stray]:
        """Look for the next fragment; until it comes, all belongs to the broken one."""
        skipping = self._skipping
        assert skipping is not None
        begin = max(len(skipping.raw) - _LONGEST_START, 1)
        skipping.raw += more
        start = next_start(bytes(skipping.raw), skipping.tag, begin)
        if start >= 0:
            rest = bytes(skipping.raw[start:])
            yield self._given_up(skipping, start)
            for at in range(0, len(rest), _STEP):
                yield from self._take(rest[at : at + _STEP])

    def _given_up(self, skipping: _Skipping, end: int) -> Broken:
        """Restart below the same root after the first `end` bytes."""
        self._skipping = None
        self._units = _Units(1, default_limits(), self._names, self._name, skipping.tag)
        self._shift, self._searched = skipping.at.offset + end - len(skipping.tag), 0
        return Broken(fragment_bytes(bytes(skipping.raw[:end])), skipping.at, skipping.reason)
