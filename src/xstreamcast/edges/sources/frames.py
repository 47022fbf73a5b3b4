"""What came from the network, written down before it counts: frames in a file that only grows.

A frame is a head (kind, length of the mark, length of the data, checksum), the mark and the data.
The mark is what the receiver wants to know when it starts again: the number of an event, say.
"""

from __future__ import annotations

import secrets
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xstreamcast.edges.disk import GrowingFile, make_folder, put_whole

MESSAGE, PIECE, END = 1, 2, 3

_HEAD: Final = struct.Struct(">BHII")
_MARKS: Final = 4096  # marks that a receiver is shown again


@dataclass(frozen=True, slots=True)
class MessageFrame:
    """A whole message, a piece of something longer, or the end of that."""

    kind: int
    data: bytes = b""
    mark: bytes = b""


class FrameLog:
    """The frames of one input in the folder of a checkpoint."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self._path = path
        self.marks: deque[bytes] = deque(maxlen=_MARKS)
        whole = 0
        for frame, end in self._read():
            whole = end
            if frame.mark:
                self.marks.append(frame.mark)
        self._file = GrowingFile(path)
        self._file.cut(whole)  # a frame that a crash tore
        self._whole = whole

    def identity(self) -> str:
        """A name for readers of this input, the same after every restart."""
        path = self._path.with_suffix(".session")
        if not path.exists():
            put_whole(path, f"xstreamcast-{secrets.token_hex(8)}".encode())
        return path.read_text("utf-8")

    def frames(self) -> Iterator[MessageFrame]:
        """What was written before this log was opened."""
        for frame, end in self._read():
            if end > self._whole:
                return
            yield frame

    def write(self, frames: list[MessageFrame]) -> None:
        """They are on disk when this returns."""
        for frame in frames:
            self._file.add(_head(frame) + frame.mark + frame.data)
        self._file.sync()

    def close(self) -> None:
        self._file.close()

    def _read(self) -> Iterator[tuple[MessageFrame, int]]:
        """The frames that are whole, each with the place where it ends."""
        if not self._path.exists():
            return
        with open(self._path, "rb") as file:
            end = 0
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                kind, mark, data, check = _HEAD.unpack(head)
                if kind not in (MESSAGE, PIECE, END):  # zeros: a length that outlived its bytes
                    return
                body = file.read(mark + data)
                if len(body) < mark + data or zlib.crc32(body) != check:
                    return
                end += _HEAD.size + len(body)
                yield MessageFrame(kind, body[mark:], body[:mark]), end


def _head(frame: MessageFrame) -> bytes:
    check = zlib.crc32(frame.data, zlib.crc32(frame.mark))
    return _HEAD.pack(frame.kind, len(frame.mark), len(frame.data), check)
