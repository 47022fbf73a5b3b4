"""A terminal, or a substitute for one: where to write, how large it is, what it understands."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"  # a screen of its own
CLEAR, CLEAR_LINE = "\x1b[H\x1b[2J", "\x1b[K"
_SGR: Final = {"+": "32", "-": "31", "dim": "2", "bold": "1"}


class TextOutput(Protocol):
    """The file that a terminal is written to."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...

    def isatty(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Terminal:
    """`moves`: it can be drawn on; `color`: and painted. Otherwise it takes lines only."""

    write: Callable[[str], object]
    size: Callable[[], tuple[int, int]]  # columns, lines
    moves: bool = True
    color: bool = True

    @staticmethod
    def of(stream: TextOutput, environ: Mapping[str, str] | None = None) -> Terminal:
        """What a stream leads to."""
        known = os.environ if environ is None else environ
        moves = stream.isatty() and known.get("TERM", "") not in ("", "dumb")

        def write(text: str) -> None:
            stream.write(text)
            stream.flush()

        def size() -> tuple[int, int]:
            found = shutil.get_terminal_size((80, 24))
            return found.columns, found.lines

        return Terminal(write, size, moves, moves and not known.get("NO_COLOR"))

    def paint(self, text: str, how: str) -> str:
        """The text in the colour of a sign, or plain."""
        return f"\x1b[{_SGR[how]}m{text}\x1b[0m" if self.color and how in _SGR else text


def to(row: int) -> str:
    """Move to the start of a line, from 1."""
    return f"\x1b[{row};1H"
