"""Where fragments begin in the bytes of a file, and what is said between them.

The bytes are tokenised as the decoder does it, so what is found is no guess; nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from xstreamcast.edges.replay.offset import StreamFacts
from xstreamcast.edges.structures import read_structure, structure_of, write_structure
from xstreamcast.edges.wire.reading import Broken, Read, Stray, WireReading
from xstreamcast.edges.wire.words import EOS, HOLE, MEANING, STRUCTURE, Words
from xstreamcast.errors import Error
from xstreamcast.model.evolution import merged
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.fragments.fragment_kernels import fragments
from xstreamcast.tape.names import Names

STEP: Final = 1 << 20  # bytes between two places where a file may be split


@dataclass(frozen=True, slots=True)
class Mark:
    """A place between fragments: where, the root's tag there, what was said before."""

    position: int
    tag: str
    said: StreamFacts


class Survey:
    """One file on its way in, from a mark on."""

    def __init__(self, begin: Mark) -> None:
        self.said = begin.said
        self._tag = begin.tag
        self._names = Names()
        self._words = Words(self._names)
        self._reading = WireReading("survey", self._names)
        self._shift = begin.position - len(begin.tag.encode())
        self._fresh = True
        self._marked = begin.position

    def feed(self, chunk: bytes, most: int | None = None) -> Iterator[Mark]:
        """Places at which the file may be split; the last one has `most` fragments before it."""
        if self._fresh and self._tag:
            self._fresh, chunk = False, self._tag.encode() + chunk
        for part in self._reading.feed(chunk):
            yield from self._part(part, most)

    def close(self) -> StreamFacts:
        """The file is over → what was said in all of it."""
        for part in self._reading.close():
            for _ in self._part(part, None):
                pass
        return self.said

    def safe(self) -> Mark:
        """The place up to which all fragments are whole."""
        reading = self._reading
        if reading._skipping is not None:
            return self._mark(reading._skipping.at.offset, reading._skipping.tag)
        if reading._units is not None:
            return self._mark(reading._units.passed + reading._shift, reading._units.tag)
        return Mark(self._shift + len(self._tag.encode()), self._tag, self.said)

    def _mark(self, position: int, tag: bytes) -> Mark:
        return Mark(position + self._shift, tag.decode(), self.said)

    def _part(self, part: Read | Broken | Stray, most: int | None) -> Iterator[Mark]:
        if isinstance(part, Stray):  # no fragment
            return
        if isinstance(part, Broken):
            self.said = replace(self.said, read=self.said.read + 1)
            return
        self._words.catch_up()
        units, _ = fragments(part.tape.columns, self._words.elements, self._words.attributes)
        meant = units.word & np.uint8(MEANING)
        counted = (meant < EOS) | (meant == HOLE)
        at = part.base + part.tape.columns.start[units.row].astype(np.int64) + self._shift
        tag = self._reading._units.tag if self._reading._units is not None else b""
        yield from self._units(part.tape, units.row, meant, np.cumsum(counted), at, tag, most)

    def _units(
        self, tape: Any, rows: Any, meant: Any, counted: Any, at: Any, tag: bytes, most: int | None
    ) -> Iterator[Mark]:
        before = self.said.read
        stops = set(np.flatnonzero((meant >= EOS) & (meant != HOLE)).tolist())
        steps = np.flatnonzero(np.diff((at - self._marked) // STEP, prepend=0) > 0).tolist()
        full = -1
        if most is not None and len(counted) and before + int(counted[-1]) > most:
            full = int(np.searchsorted(counted, most - before, side="right"))
        for unit in sorted({*stops, *steps, *([full] if full >= 0 else [])}):
            seen = int(counted[unit - 1]) if unit else 0
            self.said = replace(self.said, read=before + seen)
            if unit in steps or unit == full:
                self._marked = int(at[unit])
                yield Mark(int(at[unit]), tag.decode(), self.said)
            if unit == full:
                return
            if unit in stops:
                self._hear(tape, int(rows[unit]), int(meant[unit]))
        self.said = replace(self.said, read=before + (int(counted[-1]) if len(counted) else 0))

    def _hear(self, tape: Any, row: int, meant: int) -> None:
        if meant == EOS:
            self.said = replace(self.said, ended=True)
        elif meant == STRUCTURE:
            self.said = replace(self.said, structure=merged_text(self.said.structure, tape, row))


def merged_text(known: str | None, tape: Any, row: int) -> str | None:
    """The structure after another one was said; what contradicts is the decoder's to refuse."""
    try:
        new = structure_of(tape, row)
        if known is not None:
            new = merged(read_structure(known.encode()), new)
    except Error:
        return known
    return write_structure(new, None).decode()
