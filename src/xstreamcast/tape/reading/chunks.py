"""The bytes that a reader keeps: appended to, padded for the tokeniser, cut from the front."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.layout import U8
from xstreamcast.tape.tokenize.lexicon import address
from xstreamcast.tape.tokenize.load_bytes import PADDING

_FIRST = 1 << 16


class Chunks:
    """A growing byte array; it doubles, so that appending is linear however the input is cut."""

    def __init__(self, begin: bytes = b"", room: int = _FIRST) -> None:
        self._array = np.empty(max(room, len(begin)) + PADDING, np.uint8)
        self.used = 0
        self.append(begin)

    def append(self, chunk: bytes | bytearray | memoryview | U8) -> None:
        end = self.used + len(chunk)
        if end + PADDING > len(self._array):
            wider = np.empty(max(2 * len(self._array), end + PADDING), np.uint8)
            wider[: self.used] = self._array[: self.used]
            self._array = wider
        self._array[self.used : end] = np.frombuffer(chunk, np.uint8)
        self._array[end : end + PADDING] = 0
        self.used = end

    @property
    def base(self) -> int:
        """The address of the first byte."""
        return address(self._array)

    def view(self, begin: int = 0, end: int | None = None) -> U8:
        return self._array[begin : self.used if end is None else min(end, self.used)]

    def bytes(self, begin: int = 0, end: int | None = None) -> bytes:
        return self.view(begin, end).tobytes()


def begins_document(rest: bytes) -> bytes:
    """The bytes, if another document may begin there."""
    found = rest.lstrip(b" \t\r\n")
    return found if found[:1] == b"<" and found[:2] != b"</" else b""
