"""What is compressed, read as what it holds: gzip, bzip2 and Zstandard.

A file is known by its name or its first bytes, all else by its name.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from xstreamcast.edges.sources.extras import needed
from xstreamcast.errors import error

ENDINGS: Final = (".gz", ".bz2", ".zst")
MARKS: Final = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
_CHUNK: Final = 1 << 18
_BROKEN: Final = ("BadGzipFile", "ZstdError", "OSError")  # what the libraries raise


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


def opened_compressed(name: str) -> BinaryIO:
    """A compressed file, open for reading what it holds; several parts in a row are read as one."""
    ending = _ending(name)
    if ending == ".gz":
        return cast(BinaryIO, gzip.open(name, "rb"))
    if ending == ".bz2":
        return cast(BinaryIO, bz2.open(name, "rb"))
    library = needed("zstandard").ZstdDecompressor
    return cast(BinaryIO, io.BufferedReader(_Unpacked(open(name, "rb"), library), 1 << 18))


class _Unpacked(io.RawIOBase):
    """A .zst file: frames one after another, and an error where the last one is cut off."""

    def __init__(self, file: BinaryIO, library: Any) -> None:
        self._file, self._library = file, library
        self._frame: Any = None
        self._rest = b""  # what is left of the file's bytes
        self._held = b""  # what is left of what they hold

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._held:
            data = self._rest or self._file.read(_CHUNK)
            self._rest = b""
            if not data:
                if self._frame is not None:
                    raise EOFError("the last frame is cut off")
                return 0
            self._frame = self._frame or self._library().decompressobj()
            self._held = self._frame.decompress(data)
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        size = min(len(buffer), len(self._held))
        buffer[:size], self._held = self._held[:size], self._held[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def reading_compressed(name: str) -> Iterator[None]:
    """Whatever a library says of compressed bytes that it cannot read, said in our words."""
    try:
        yield
    except Exception as failed:
        if not isinstance(failed, EOFError | zlib.error) and type(failed).__name__ not in _BROKEN:
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
        if ending == ".gz":
            return gzip.decompress(data)
        if ending == ".bz2":
            return bz2.decompress(data)
        library = needed("zstandard").ZstdDecompressor
        return io.BufferedReader(_Unpacked(io.BytesIO(data), library)).read()
