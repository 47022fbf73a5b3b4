"""What came from the network as files of XML: what reads files can read it, now and again.

Messages that are fragments follow each other in one file; any other message is a file of its own.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from xstreamcast.edges.disk import GrowingFile, make_folder, put_whole
from xstreamcast.edges.inputs import kind_of
from xstreamcast.edges.sources.frames import END, MESSAGE, MessageFrame

_MARKS: Final = 4096
_OWN_ROOT: Final = (b"<?xml", b"<!DOCTYPE", b"<fragments", b"<stream:fragments")


class XmlLog:
    """A folder of files that grow; marks of what is in them, in a file whose name is hidden."""

    def __init__(self, folder: Path, *, alone: bool = False) -> None:
        """`alone`: each message is a file of its own, whatever it looks like."""
        make_folder(folder)
        self._alone = alone
        self._folder = folder
        marks = folder / ".marks"
        self._number = len(sorted(folder.glob("*.xml")))
        self._begun: GrowingFile | None = None
        self._latest: dict[bytes, bytes] = {}  # of records that are numbered by partition
        self._last: deque[bytes] = deque(maxlen=_MARKS)
        recorded = marks.read_bytes() if marks.exists() else b""
        whole = recorded[: recorded.rfind(b"\n") + 1]
        self._marks = GrowingFile(marks)
        self._marks.cut(len(whole))
        for mark in whole.splitlines():
            self._remember(mark)

    @property
    def marks(self) -> list[bytes]:
        return [*self._latest.values(), *self._last]

    def identity(self) -> str:
        """A name for readers of this input, the same after every restart."""
        path = self._folder / ".session"
        if not path.exists():
            put_whole(path, f"xstreamcast-{secrets.token_hex(8)}".encode())
        return path.read_text("utf-8")

    def frames(self) -> Iterator[MessageFrame]:
        """What was written is read as files."""
        return iter(())

    def write(self, frames: list[MessageFrame]) -> None:
        """They are on disk when this returns."""
        for frame in frames:
            self._write(frame)
        if self._begun is not None:
            self._begun.sync()
        marks = [frame.mark for frame in frames if frame.mark]
        for mark in marks:
            self._marks.add(mark + b"\n")
            self._remember(mark)
        if marks:
            self._marks.sync()

    def close(self) -> None:
        self._end()
        self._marks.close()

    def _write(self, frame: MessageFrame) -> None:
        if frame.kind == END:
            self._end()
            return
        alone = frame.kind == MESSAGE and (self._alone or not _joins(frame.data))
        if alone:
            self._end()
        if self._begun is None:
            self._begun = GrowingFile(self._folder / f"{self._number:06}.xml")
            self._number += 1
        self._begun.add(frame.data + (b"\n" if frame.kind == MESSAGE else b""))
        if alone:
            self._end()

    def _end(self) -> None:
        """The next message is in another file."""
        if self._begun is not None:
            self._begun.sync()
            self._begun.close()
        self._begun = None

    def _remember(self, mark: bytes) -> None:
        if mark.startswith(b"kafka:"):
            self._latest[mark.rpartition(b":")[0]] = mark
        else:
            self._last.append(mark)


def _joins(message: bytes) -> bool:
    """Whether a message may follow another in one file: fragments without a root."""
    head = message[: 1 << 12].lstrip()
    return not head.startswith(_OWN_ROOT) and kind_of(head) == "fragments"
