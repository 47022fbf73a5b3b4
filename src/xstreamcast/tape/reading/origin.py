"""Where in an endless input the kept bytes begin."""

from __future__ import annotations

import numpy as np

from xstreamcast.errors import DataPlace
from xstreamcast.tape.expat.expat_errors import place
from xstreamcast.tape.layout import U8


class Origin:
    """Byte offset, line and column of the first byte that is kept, counted as bytes pass by."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.offset, self.line, self._column = 0, 1, 1

    @property
    def column(self) -> int:
        """The column of the first byte that is kept."""
        return self._column

    def continue_at(self, line: int, column: int, offset: int) -> None:
        """The first byte that is kept is there."""
        self.line, self._column, self.offset = line, column, offset

    def pass_by(self, gone: bytes | U8) -> None:
        """Note that these bytes are kept no longer."""
        self.offset += len(gone)
        seen = np.frombuffer(gone, np.uint8)
        lines = int(np.count_nonzero(seen == _LINE_FEED))
        after = seen[_last_line(seen) :].tobytes() if lines else seen.tobytes()
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


def _last_line(seen: U8) -> int:
    """Where the last line begins; lines are short, so it is looked for from the end."""
    step, begin = 1 << 12, len(seen)
    while begin:
        begin = max(0, begin - step)
        found = np.flatnonzero(seen[begin:] == _LINE_FEED)
        if len(found):
            return begin + int(found[-1]) + 1
        step *= 2
    return 0


_LINE_FEED = 10
_CONTINUATION = [bytes([value]) for value in range(0x80, 0xC0)]
