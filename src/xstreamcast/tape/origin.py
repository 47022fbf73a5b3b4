"""Where in an endless input the kept bytes begin."""

from __future__ import annotations

from xstreamcast.errors import DataPlace
from xstreamcast.tape.expat_errors import place


class Origin:
    """Byte offset, line and column of the first byte that is kept, counted as bytes pass by."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.offset, self.line, self._column = 0, 1, 1

    def pass_by(self, gone: bytes) -> None:
        """Note that these bytes are kept no longer."""
        self.offset += len(gone)
        lines = gone.count(b"\n")
        after = gone[gone.rfind(b"\n") + 1 :]
        # Continuation bytes of UTF-8 begin no character.
        characters = (
            len(after) - sum(map(after.count, _CONTINUATION)) if not after.isascii() else len(after)
        )
        self._column = characters + (1 if lines else self._column)
        self.line += lines

    def place(self, kept: bytes, pos: int) -> DataPlace:
        """Byte `pos` of what is kept, placed in the whole input."""
        near = place(kept, pos, self._name)
        line, column = near.line or 1, near.column or 1
        passed = self._column - 1 if line == 1 else 0
        return DataPlace(
            self._name,
            None,
            self.offset + pos,
            line + self.line - 1,
            column + passed,
            near.source_line,
            near.shown_from + passed,
        )


_CONTINUATION = [bytes([value]) for value in range(0x80, 0xC0)]
