"""Files whose state after a crash is well-defined.

A file that grows keeps what was synced, and may keep some of what was not. A file that is put whole
is there with all its bytes, or not at all. Neither counts before its folder is synced as well.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from xstreamcast.edges.disk.calls import calls
from xstreamcast.errors import error

FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PART: Final = ".part"


class GrowingFile:
    """A file that is added to at its end; what was added is on disk after `sync`.

    What was there before may never have been synced: its writer may have been killed.
    """

    def __init__(self, path: str | os.PathLike[str], handle: int | None = None) -> None:
        self.path = os.fspath(path)
        self._listed = handle is not None  # whether its folder need not be synced for it
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with naming(self.path):
            self._handle = calls().open(self.path, flags) if handle is None else handle
        there = os.fstat(self._handle)
        self._regular = stat.S_ISREG(there.st_mode)
        self._length = there.st_size if self._regular else 0
        self._synced, self._open = False, True
        self._pending = bytearray()

    @property
    def is_regular(self) -> bool:
        """Whether it is a file, and no pipe or terminal."""
        return self._regular

    @property
    def length(self) -> int:
        """How many bytes it holds, those included that are not written yet; 0 of a pipe."""
        return self._length if self._regular else 0

    def add(self, data: bytes) -> None:
        """Add bytes; they are written with the next `flush` or `sync`."""
        self._pending += data
        self._length += len(data)
        self._synced = False

    def flush(self) -> None:
        """Hand the bytes to the system."""
        with naming(self.path):
            while self._pending:
                written = calls().write(self._handle, bytes(self._pending))
                del self._pending[:written]

    def sync(self) -> None:
        """All that was added is on disk when this returns, and so is the file's name."""
        self.flush()
        if self._synced or not self._regular:
            return
        with naming(self.path):
            calls().sync(self._handle)
        if not self._listed:
            sync_folder(os.path.dirname(self.path))
            self._listed = True
        self._synced = True

    def cut(self, length: int) -> None:
        """Truncate to this length."""
        self.flush()
        if self._regular and self._length != length:
            with naming(self.path):
                calls().truncate(self._handle, length)
            os.lseek(self._handle, 0, os.SEEK_END)  # of a handle that another caller opened
            self._length, self._synced = length, False

    def close(self) -> None:
        """Write the remaining bytes, and close."""
        if self._open:
            self._open = False
            try:
                self.flush()
            finally:
                calls().close(self._handle)


def put_whole(
    path: str | os.PathLike[str], data: bytes | memoryview, suffix: str = _PART
) -> None:  # fmt: skip
    """Write a file that is there with all its bytes, or not at all; on disk when this returns.

    Until then it has another name: processes that may write the same file give their own suffix.
    """
    name = os.fspath(path)
    part = name + suffix
    with naming(name):
        _put(part, data, os.O_TRUNC)
        calls().replace(part, name)
    sync_folder(os.path.dirname(name))


def put_new(path: str | os.PathLike[str], data: bytes | memoryview) -> None:
    """Write a file whose name is not used yet; its folder is for the caller to sync."""
    with naming(os.fspath(path)):
        _put(os.fspath(path), data, os.O_EXCL)


def _put(path: str, data: bytes | memoryview, how: int) -> None:
    handle = calls().open(path, os.O_WRONLY | os.O_CREAT | how)
    left = memoryview(data)
    try:
        while left:
            left = left[calls().write(handle, left) :]
        calls().sync(handle)
    finally:
        calls().close(handle)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """A write that fails is an error that names the file."""
    try:
        yield
    except (FileExistsError, FileNotFoundError, BrokenPipeError):
        raise
    except OSError as failed:
        if failed.errno in FULL:  # the caller needs to know what to do next
            failed.filename = path
            raise
        closed = failed.errno == errno.EBADF
        why = "it is closed" if closed else (failed.strerror or str(failed)).lower()
        raise error("XSCU0004", f"{path} cannot be written: {why}") from None


def take_away(path: str | os.PathLike[str]) -> None:
    """Delete a file, if it is there; it may reappear after a crash."""
    try:
        with naming(os.fspath(path)):
            calls().unlink(os.fspath(path))
    except FileNotFoundError:
        return  # another process deleted it


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder and those above it; their names are on disk when this returns."""
    name = os.path.abspath(path)
    if os.path.isdir(name):
        return
    above = os.path.dirname(name)
    make_folder(above)
    try:
        with naming(name):
            calls().mkdir(name)
    except FileExistsError:
        if not os.path.isdir(name):
            raise
    sync_folder(above)


def sync_folder(path: str | os.PathLike[str]) -> None:
    """What a folder lists is on disk when this returns."""
    name = os.fspath(path) or "."
    with naming(name):
        handle = calls().open(name, os.O_RDONLY)
        try:
            calls().sync(handle)
        finally:
            calls().close(handle)


class FolderLock:
    """A folder that one process writes to; the lock of a dead process is released."""

    def __init__(self, folder: Path, what: str) -> None:
        self._file: BinaryIO = open(folder / "lock", "ab")  # noqa: SIM115  # held until close()
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as failed:
            self._file.close()
            if failed.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            raise error(
                "XSCU0005", f"{what} {folder} is in use by another process",
                hint="wait until that one has ended, or give another folder",
            ) from None  # fmt: skip

    def close(self) -> None:
        self._file.close()
