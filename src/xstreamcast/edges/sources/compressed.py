"""What is compressed, read as what it holds: gzip, bzip2 and Zstandard.

A file is known by its name or its first bytes, all else by its name.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from xstreamcast.edges.sources.compressed_parts import Part, part_reader
from xstreamcast.errors import error

ENDINGS: Final = (".gz", ".bz2", ".zst")
MARKS: Final = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
_CHUNK: Final = 1 << 18
_BROKEN: Final = ("ZstdError", "OSError")  # what the libraries raise


def named_compressed(name: str) -> bool:
    """Whether a name says so."""
    return name.endswith(ENDINGS)


def is_compressed(name: str) -> bool:
    """Whether the name of a file or its first bytes say so; a pipe has a name alone."""
    return _ending(name) is not None


def _ending(name: str) -> str | None:
    """The ending that a file has, or that its first bytes should have given it."""
    for ending in ENDINGS:
        if name.endswith(ending):
            return ending
    if not os.path.isfile(name):
        return None
    try:
        with open(name, "rb") as file:
            head = file.read(4)
    except OSError:
        return None  # who reads it says why
    return next((ending for mark, ending in MARKS.items() if head.startswith(mark)), None)


def plain_name(name: str) -> str:
    """A name without the ending that says so."""
    return name.rpartition(".")[0] if named_compressed(name) else name


def open_plain(name: str) -> BinaryIO:
    """A file that is not."""
    return open(name, "rb")


def opened_compressed(name: str, growing: bool = False) -> BinaryIO:
    """A compressed file, open for reading what it holds; several parts in a row are read as one.

    `growing`: its last part may still be written; what there is of it is read, and more later.
    """
    ending = _ending(name)
    assert ending is not None
    return _decompressing(open(name, "rb"), ending, growing)


def _decompressing(file: BinaryIO, ending: str, growing: bool = False) -> BinaryIO:
    raw = Decompressing(file, part_reader(ending), growing)
    return cast(BinaryIO, io.BufferedReader(raw, _CHUNK))


def place_in(file: BinaryIO) -> int:
    """How many bytes of the file on the disk have been read for what was handed out."""
    raw = getattr(file, "raw", None)
    return raw.taken if isinstance(raw, Decompressing) else file.tell()


def is_cut_off(file: BinaryIO) -> bool:
    """Whether the last part that was read of a compressed file has no end."""
    raw = getattr(file, "raw", None)
    return isinstance(raw, Decompressing) and raw.is_open


def broken_in(file: BinaryIO) -> str | None:
    """Why a compressed file that may grow could not be read on; None if it could."""
    raw = getattr(file, "raw", None)
    return raw.broken if isinstance(raw, Decompressing) else None


class Decompressing(io.RawIOBase):
    """What compressed bytes hold: parts one after another, and an error where the last is cut off.

    A file that grows has no error: what is added to it is read later, and it ends where it is
    `broken`.
    """

    def __init__(self, file: BinaryIO, begin: Callable[[], Part], growing: bool = False) -> None:
        self._file, self._begin, self._growing = file, begin, growing
        self._part: Part | None = None
        self._rest = b""  # what is left of the file's bytes
        self._held = b""  # what is left of what they hold
        self.taken = 0  # bytes of the file
        self.broken: str | None = None
        self._place = 0  # bytes of what they hold that were handed out

    @property
    def is_open(self) -> bool:
        """Whether a part has begun and not ended."""
        return self._part is not None and self.broken is None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._held and self._next():
            pass
        size = min(len(buffer), len(self._held))
        buffer[:size], self._held = self._held[:size], self._held[size:]
        self._place += size
        return size

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Pass by what is before this place; from the beginning, if it has been passed."""
        wanted = offset + (self._place if whence == io.SEEK_CUR else 0)
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("where it ends is not known")
        if wanted < self._place:
            self._file.seek(0)
            self._part, self._rest, self._held = None, b"", b""
            self.taken, self._place, self.broken = 0, 0, None
        while self._place < wanted and self.read(min(wanted - self._place, _CHUNK)):
            pass
        return self._place

    def _next(self) -> bool:
        """Read a little more; false at the end of the file, or of what there is of it now."""
        if self.broken is not None:
            return False
        if self._part is not None and not self._part.hungry:
            self._take(self._part, b"")
            return True
        data, self._rest = self._rest or self._read(), b""
        if self._part is None:
            if not data:
                return False
            self._part = self._begin()
        self._take(self._part, data)
        if data or self._held or self._part is None:
            return True
        if not self._growing:
            raise EOFError("the compressed data is cut off")
        return False

    def _take(self, part: Part, data: bytes) -> None:
        try:
            self._held = part.feed(data)
        except Exception as failed:
            if not (self._growing and _is_broken(failed)):
                raise
            self.broken = str(failed)
            return
        if part.eof:
            self._rest, self._part = part.rest, None

    def _read(self) -> bytes:
        data = self._file.read(_CHUNK)
        self.taken += len(data)
        return data

    def close(self) -> None:
        self._file.close()
        super().close()


def _is_broken(failed: Exception) -> bool:
    """Whether this is what a library says of bytes that it cannot read."""
    return isinstance(failed, EOFError | zlib.error) or type(failed).__name__ in _BROKEN


@contextmanager
def reading_compressed(name: str) -> Iterator[None]:
    """Whatever a library says of compressed bytes that it cannot read, said in our words."""
    try:
        yield
    except Exception as failed:
        if not _is_broken(failed):
            raise
        raise error("XSCU0003", f"{name} cannot be decompressed: {failed}") from None


def unpacked(data: bytes) -> bytes:
    """A message, decompressed if its first bytes say that it is compressed."""
    ending = next((one for mark, one in MARKS.items() if data.startswith(mark)), None)
    return data if ending is None else _held(data, ending, "the message")


def decompressed(data: bytes, name: str) -> bytes:
    """What compressed bytes hold; the name says how they are compressed."""
    return _held(data, name[name.rfind(".") :], name)


def _held(data: bytes, ending: str, name: str) -> bytes:
    with reading_compressed(name):
        return _decompressing(io.BytesIO(data), ending).read()
