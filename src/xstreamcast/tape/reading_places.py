"""Units of a stream together with the start tags of the elements around them."""

from __future__ import annotations

from typing import NamedTuple

from xstreamcast.tape.layout import Tape
from xstreamcast.tape.limits import DEFAULT, Limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading_units import UnitReading
from xstreamcast.tape.tokenize_state import ANCESTOR_ROWS, DEPTH, ROWS, UNIT_ROWS

Spine = tuple[Tape, ...]  # start tags of the open elements above a unit, the root's first


class Run(NamedTuple):
    """Units that follow each other below the same open elements: rows [first, last) of the tape."""

    spine: Spine
    first: int
    last: int


class PlacedReading(UnitReading):
    """Units as they are completed, in runs: where the elements around them change, a run ends."""

    def __init__(
        self, level: int, names: Names, name: str | None = None, limits: Limits | None = None
    ) -> None:
        super().__init__(level, limits or DEFAULT, names, name)
        self._spine: list[Tape] = []
        self._marks: list[tuple[int, Spine]] = [(0, ())]
        self.closed = False  # the root has ended

    @property
    def spine(self) -> Spine:
        """The start tags of the elements that are open now, above the units."""
        return tuple(self._spine)

    @property
    def held(self) -> int:
        """Bytes of input that are kept for the unfinished unit."""
        return self._chunks.used

    def runs(self, chunk: bytes) -> tuple[Tape | None, list[Run]]:
        """Take a chunk in → the units that it completed, and around what they stand."""
        tape = self.feed(chunk)
        marks, self._marks = self._marks, [(0, self.spine)]
        if tape is None:
            return None, []
        ends = [*(row for row, _ in marks[1:]), len(tape)]
        return tape, [
            Run(spine, first, last)
            for (first, spine), last in zip(marks, ends, strict=True)
            if last > first
        ]

    def _on_ancestor(self) -> None:
        first, last = int(self._state[ROWS]), int(self._state[ANCESTOR_ROWS])
        depth = int(self._state[DEPTH])
        if last > first and depth > len(self._spine):
            self._spine.append(self._start_tag(first, last))
        del self._spine[depth:]
        self.closed = self.closed or (depth == 0 and last <= first)
        rows = sum(map(len, self._ready)) + int(self._state[UNIT_ROWS])
        self._marks.append((rows, self.spine))
        super()._on_ancestor()
