"""Units of a stream together with the start tags of the elements around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xstreamcast.tape.layout import KIND, NAMESPACE, Tape
from xstreamcast.tape.limits import Limits, default_limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.resumption import Resumption
from xstreamcast.tape.reading.units import UnitReading
from xstreamcast.tape.tokenize.state import ANCESTOR_ROWS, DEPTH, POS, ROWS, UNIT_ROWS

Spine = tuple[Tape, ...]  # start tags of the open elements above a unit, the root's first


class Run(NamedTuple):
    """Units that follow each other below the same open elements: rows [first, last) of a tape."""

    spine: Spine
    tape: Tape
    first: int
    last: int


class _Mark(NamedTuple):
    """From this row on: what is open, or None where units are part of something larger."""

    row: int
    spine: Spine | None
    whole: Tape | None = None  # what ended here, as a unit of its own


class PlacedReading(UnitReading):
    """Units as they are completed, in runs: where the elements around them change, a run ends.

    An element above the units for which `is_unit` holds is a unit itself, with all it contains.
    """

    def __init__(
        self,
        level: int,
        names: Names,
        name: str | None = None,
        limits: Limits | None = None,
        is_unit: Callable[[str, str], bool] = lambda uri, local: False,
    ) -> None:
        super().__init__(level, limits or default_limits(), names, name)
        self._is_unit = is_unit
        self._spine: list[Tape] = []
        self._marks = [_Mark(0, ())]
        self._inside: tuple[int, int] | None = None  # where a larger unit began, and its depth
        self._passed = b""  # what has passed of it

    @property
    def held(self) -> int:
        """Bytes of input that are kept for the unfinished unit."""
        return self._chunks.used + len(self._passed)

    @property
    def begun(self) -> bool:
        """Whether it can be left: the beginning has come, and no larger unit is open."""
        return self._begun and self._inside is None

    def resume(self, there: Resumption) -> None:
        """Continue where another reading was; what it handed out is not handed out again."""
        self.runs(there.tags)
        if self._begun:
            self._take_units(anew=True)
        self._origin.continue_at(there.line, there.column, there.offset)
        self.runs(there.rest)

    def runs(self, chunk: bytes) -> list[Run]:
        """Read a chunk → the units that it completed, and around what they are."""
        tape = self.feed(chunk)
        marks = self._marks
        self._marks = [_Mark(0, None if self._inside else tuple(self._spine))]
        ends = [*(mark.row for mark in marks[1:]), 0 if tape is None else len(tape)]
        found: list[Run] = []
        for mark, last in zip(marks, ends, strict=True):
            if mark.whole is not None:
                found.append(Run(mark.spine or (), mark.whole, 0, len(mark.whole)))
            if mark.spine is not None and tape is not None and last > mark.row:
                found.append(Run(mark.spine, tape, mark.row, last))
        return found

    # --- above the units ------------------------------------------------------------------

    def _on_ancestor(self) -> None:
        first, last = int(self._state[ROWS]), int(self._state[ANCESTOR_ROWS])
        depth, whole = int(self._state[DEPTH]), None
        if last > first:
            tag = self._start_tag(first, last)
            if self._inside is None and self._is_unit(*_name(tag)):
                begin = self._at(int(self._driver.columns.start[first]))
                self._inside = begin, len(self._spine)
            if depth > len(self._spine):
                self._spine.append(tag)
        del self._spine[depth:]
        if self._inside is not None and depth <= self._inside[1]:
            whole = self._taken(self._at(int(self._state[POS])))
        rows = sum(map(len, self._ready)) + int(self._state[UNIT_ROWS])
        self._marks.append(_Mark(rows, None if self._inside else tuple(self._spine), whole))
        super()._on_ancestor()

    def _at(self, pos: int) -> int:
        """A position in the bytes that are kept, in the whole input."""
        return self._origin.offset + pos - len(self._header)

    def _move_bytes(self, first: int) -> None:
        if self._inside is not None:
            self._passed += self._kept(self._inside[0] + len(self._passed), self._at(first))
        super()._move_bytes(first)

    def _kept(self, begin: int, end: int) -> bytes:
        shift = len(self._header) - self._origin.offset
        return bytes(self._chunks.bytes(begin + shift, end + shift)) if end > begin else b""

    def _taken(self, end: int) -> Tape:
        """The larger unit that has ended, read once more, now as one."""
        assert self._inside is not None
        raw = self._passed + self._kept(self._inside[0] + len(self._passed), end)
        self._inside, self._passed = None, b""
        again = UnitReading(1, self._limits, self._names, self._name)
        tape = again.feed(b"<u" + _bindings(self._spine) + b">" + raw + b"</u>")
        assert tape is not None
        return tape


def _name(tag: Tape) -> tuple[str, str]:
    _, local, uri = tag.names.qname(int(tag.columns.name[0]))
    return uri, local


def _bindings(spine: list[Tape]) -> bytes:
    """The namespaces in scope, as attributes; inner ones hide outer ones."""
    found: dict[str, bytes] = {}
    for tag in spine:
        c = tag.columns
        for row in range(1, len(tag)):
            if (c.kind[row] & KIND) == NAMESPACE:
                prefix = tag.names.qname(int(c.name[row]))[1]
                start = int(c.start[row])
                found[prefix] = c.heap[start : start + int(c.length[row])].tobytes()
    return b"".join(
        b" xmlns%s=%s%s%s" % (f":{p}".encode() if p else b"", q, value, q)
        for p, value in found.items()
        for q in (b"'" if b'"' in value else b'"',)
    )
