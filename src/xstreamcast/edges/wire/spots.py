"""Where on a wire something stands: byte, line and column, counted as bytes pass by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spot:
    """A byte of the wire: its offset from 0, line and column from 1."""

    offset: int = 0
    line: int = 1
    column: int = 1

    def after(self, passed: bytes) -> Spot:
        """The spot that follows these bytes."""
        lines = passed.count(b"\n")
        last = passed[passed.rfind(b"\n") + 1 :]
        column = _characters(last) + (1 if lines else self.column)
        return Spot(self.offset + len(passed), self.line + lines, column)


def _characters(text: bytes) -> int:
    """How many characters of UTF-8 begin in these bytes."""
    return len(text) if text.isascii() else sum(byte & 0xC0 != 0x80 for byte in text)


class Spots:
    """The spots of offsets that never go back; what was passed is kept no longer."""

    def __init__(self) -> None:
        self._last, self._kept = Spot(), bytearray()

    def take(self, data: bytes) -> None:
        """More of the wire has come."""
        self._kept += data

    def at(self, offset: int) -> Spot:
        """The spot of an offset."""
        passed = max(offset - self._last.offset, 0)
        self._last = self._last.after(bytes(self._kept[:passed]))
        del self._kept[:passed]
        return self._last
