"""Keys as they are pressed, without waiting for them and without a line end."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class PressedKeys(Protocol):
    """The keys pressed since the last call."""

    def __call__(self) -> str: ...


@contextmanager
def keyboard(path: str = "/dev/tty") -> Iterator[PressedKeys]:
    """The keyboard of the terminal, whatever stdin is; where there is none, no key is ever pressed.

    The terminal is as it was when this ends; Ctrl-C interrupts as ever.
    """
    if sys.platform == "win32":
        yield lambda: ""
        return
    import termios
    import tty

    try:
        file = os.open(path, os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        yield lambda: ""
        return
    if not os.isatty(file):
        os.close(file)
        yield lambda: ""
        return
    before = termios.tcgetattr(file)
    try:
        tty.setcbreak(file)
        yield lambda: _pressed(file)
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)
        os.close(file)


def _pressed(file: int) -> str:
    ready, _, _ = select.select([file], [], [], 0)
    return os.read(file, 64).decode(errors="replace") if ready else ""
