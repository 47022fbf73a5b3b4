"""Positions on a wire: byte, line and column, counted as bytes arrive."""

from __future__ import annotations

import numpy as np

from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Spot:
    """A byte of the wire: its offset from 0, line and column from 1, or None where unknown."""

    offset: int = 0
    line: int | None = 1
    column: int | None = 1

    def after(self, passed: bytes) -> Spot:
        """The spot that follows these bytes."""
        lines = int(np.count_nonzero(np.frombuffer(passed, np.uint8) == _LINE_FEED))
        last = passed[passed.rfind(b"\n") + 1 :]
        assert self.line is not None
        assert self.column is not None
        column = _characters(last) + (1 if lines else self.column)
        return Spot(self.offset + len(passed), self.line + lines, column)


_LINE_FEED = 10


def _characters(text: bytes) -> int:
    """How many characters of UTF-8 begin in these bytes."""
    return len(text) if text.isascii() else sum(byte & 0xC0 != 0x80 for byte in text)


@dataclass(frozen=True, slots=True)
class UncountedSpot:
    """An offset whose line is counted on first use."""

    offset: int
    chunk: Spot  # of the first byte of `data`
    data: bytes

    def spot(self) -> Spot:
        """Its line and column too."""
        return self.chunk.after(self.data[: self.offset - self.chunk.offset])


class Spots:
    """Positions of ascending offsets; chunks that were passed are kept no longer."""

    def __init__(self) -> None:
        self._end = Spot()
        self._chunks: list[tuple[Spot, bytes]] = [(self._end, b"")]

    def take(self, data: bytes) -> None:
        """More of the wire has come."""
        self._chunks.append((self._end, data))
        self._end = self._end.after(data)

    def at(self, offset: int, since: int | None = None) -> UncountedSpot:
        """The position of an offset; offsets from `since` on may follow."""
        first = offset if since is None else min(since, offset)
        while len(self._chunks) > 1 and self._chunks[1][0].offset <= first:
            del self._chunks[0]
        k = len(self._chunks) - 1
        while k and self._chunks[k][0].offset > offset:
            k -= 1
        return UncountedSpot(offset, *self._chunks[k])
