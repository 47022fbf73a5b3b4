"""One part of a compressed file: a member of gzip, a stream of bzip2, a frame of Zstandard."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

from xstreamcast.edges.sources.extras import needed

_MOST: Final = 1 << 18  # bytes that are handed out at once, however well they were compressed


class Part(Protocol):
    """What reads a part; it has ended at `eof`, and `rest` is what was read behind it."""

    eof: bool
    rest: bytes
    hungry: bool  # whether it needs more to hand out more

    def feed(self, data: bytes) -> bytes:
        """Some of what these bytes hold; b"" hands out what is left of earlier ones."""


def part_reader(ending: str) -> Callable[[], Part]:
    """What makes readers of parts for files with this ending."""
    match ending:
        case ".gz":
            return _GzipPart
        case ".bz2":
            return _Bzip2Part
        case _:
            return partial(_ZstandardPart, needed("zstandard"))


class _GzipPart:
    """A member; zeros between members are padding."""

    def __init__(self) -> None:
        self._library = zlib.decompressobj(31)  # with the head and the checksum of gzip
        self._begun, self._waiting = False, b""
        self.eof, self.rest, self.hungry = False, b"", True

    def feed(self, data: bytes) -> bytes:
        given = self._waiting + data
        if not self._begun:
            given = given.lstrip(b"\0")
            self._begun = bool(given)
            if not given:
                self.eof = True  # nothing but padding
                return b""
        found = self._library.decompress(given, _MOST)
        self._waiting = self._library.unconsumed_tail
        self.hungry = not self._waiting
        self.eof, self.rest = self._library.eof, self._library.unused_data
        return found


class _Bzip2Part:
    """A stream."""

    def __init__(self) -> None:
        self._library = bz2.BZ2Decompressor()
        self.eof, self.rest, self.hungry = False, b"", True

    def feed(self, data: bytes) -> bytes:
        found = self._library.decompress(data, _MOST)
        self.eof, self.rest = self._library.eof, self._library.unused_data
        self.hungry = self.eof or self._library.needs_input
        return found


class _ZstandardPart:
    """A frame."""

    def __init__(self, library: Any) -> None:
        self._frame = library.ZstdDecompressor().decompressobj()
        self.eof, self.rest, self.hungry = False, b"", True

    def feed(self, data: bytes) -> bytes:
        found: bytes = self._frame.decompress(data) if data else b""
        self.eof, self.rest = self._frame.eof, self._frame.unused_data
        return found
