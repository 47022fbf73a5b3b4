"""Notes of inputs: lines on stderr, unless a command writes them in its log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Write = Callable[[str], object]


def _on_stderr(sentence: str) -> None:
    sys.stderr.write(f"note: {sentence}\n")


_writers: list[Write] = [_on_stderr]


def note(sentence: str) -> None:
    """Write a note; sources do so from their own threads."""
    _writers[-1](sentence)


@contextmanager
def notes_by(write: Write) -> Iterator[None]:
    """Until the block ends, notes are written by this."""
    _writers.append(write)
    try:
        yield
    finally:
        _writers.remove(write)
