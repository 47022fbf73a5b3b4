"""A line on a terminal that shows how far a long piece of work has come."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from xstreamcast.model.counted import counted
from xstreamcast.model.work import WORK

_PATIENCE: Final = 2.0  # seconds that pass before anything is shown
_PAUSE: Final = 0.1  # seconds between two pictures
_WIDTH: Final = 24


class Progress:
    """Draws on a terminal and nowhere else; nothing stays of it when the work is done."""

    def __init__(self, title: str, out: TextIO | None = None, patience: float = _PATIENCE) -> None:
        self._title, self._out = title, sys.stderr if out is None else out
        self.on = self._out.isatty() and os.environ.get("TERM") != "dumb"
        self._began = time.monotonic()
        self._next = self._began + patience
        self._drawn = False

    @property
    def passed(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self._began

    def show(self, done: float, total: float | None = None, said: str = "") -> None:
        """`done` of `total`, if that is known, and what else there is to say."""
        now = time.monotonic()
        if not self.on or now < self._next:
            return
        self._next, self._drawn = now + _PAUSE, True
        parts = [self._title]
        if total:
            share = min(done / total, 1.0)
            parts += [_bar(share), _left(share, now - self._began)]
        line = "  ".join(part for part in (*parts, said) if part)
        self._out.write(f"\r{line}\x1b[K")
        self._out.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            self._out.write("\r\x1b[K")
            self._out.flush()
            self._drawn = False


@contextmanager
def progress(title: str, patience: float = _PATIENCE) -> Iterator[Progress]:
    """Progress that is cleared at the end, whatever happens."""
    shown = Progress(title, patience=patience)
    try:
        yield shown
    finally:
        shown.clear()


@contextmanager
def work_shown() -> Iterator[None]:
    """Show the progress of reading and answering while the block runs, from another thread."""
    shown = Progress("")
    if not shown.on:
        yield
        return
    over = threading.Event()
    drawing = threading.Thread(target=_draw_work, args=(shown, over), daemon=True)
    drawing.start()
    try:
        yield
    finally:
        over.set()
        drawing.join()
        shown.clear()


def _draw_work(shown: Progress, over: threading.Event) -> None:
    while not over.wait(_PAUSE):
        read, total, items = WORK.read, WORK.total, WORK.items
        if items:
            shown.show(0, None, counted(items, "item", form=","))
        elif read < total:
            shown.show(read, total, f"reading: {amount(read)} of {amount(total)}")
        else:
            passed = round(shown.passed)
            shown.show(0, None, f"{amount(read)} read, evaluating for {passed} s" if read else "")


def _bar(share: float) -> str:
    full = round(share * _WIDTH)
    return f"[{'█' * full}{'·' * (_WIDTH - full)}] {share:4.0%}"


def _left(share: float, passed: float) -> str:
    """The estimated time left."""
    if share < 0.02:
        return ""
    seconds = round(passed / share - passed)
    return f"{seconds} s left" if seconds < 120 else f"{seconds // 60} min left"


def amount(count: float) -> str:
    """Bytes in the largest unit that makes them at least 1."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
