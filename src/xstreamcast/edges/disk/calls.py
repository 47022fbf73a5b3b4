"""The system calls through which everything is written that must survive a crash.

They are one object, so that tests can let any of them fail, be cut short, or be the last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


class SystemCalls:
    """The calls of this machine."""

    def open(self, path: str, flags: int) -> int:
        """A handle of a file; `flags` as os.open has them."""
        return os.open(path, flags | os.O_CLOEXEC, 0o666)

    def close(self, handle: int) -> None:
        os.close(handle)

    def write(self, handle: int, data: bytes | memoryview) -> int:
        """How many bytes were written: perhaps not all."""
        return os.write(handle, data)

    def truncate(self, handle: int, length: int) -> None:
        os.ftruncate(handle, length)

    def sync(self, handle: int) -> None:
        """What was written, or what a folder lists, is on disk when this returns."""
        os.fsync(handle)

    def replace(self, old: str, new: str) -> None:
        os.replace(old, new)

    def link(self, old: str, new: str) -> None:
        os.link(old, new)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def mkdir(self, path: str) -> None:
        os.mkdir(path)


_used = SystemCalls()


def calls() -> SystemCalls:
    """The calls that are used now."""
    return _used


@contextmanager
def using(others: SystemCalls) -> Iterator[None]:
    """Let other calls be used for a while."""
    global _used  # one object for the process, as the file system is
    before, _used = _used, others
    try:
        yield
    finally:
        _used = before
