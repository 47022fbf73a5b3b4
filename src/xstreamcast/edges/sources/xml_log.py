"""What came from the network as files of XML: what reads files can read it, now and again.

Messages that are fragments follow each other in one file; any other message is a file of its own.
"""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from xstreamcast.edges.inputs import kind_of
from xstreamcast.edges.sources.frames import END, MESSAGE, Frame

_MARKS: Final = 4096
_OWN_ROOT: Final = (b"<?xml", b"<!DOCTYPE", b"<fragments", b"<stream:fragments")


class XmlLog:
    """A folder of files that grow; marks of what is in them, in a file whose name is hidden."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._marks = folder / ".marks"
        self._number = len(sorted(folder.glob("*.xml")))
        self._begun: Path | None = None
        self._latest: dict[bytes, bytes] = {}  # of records that are numbered by partition
        self._last: deque[bytes] = deque(maxlen=_MARKS)
        for mark in self._marks.read_bytes().splitlines() if self._marks.exists() else ():
            self._remember(mark)

    @property
    def marks(self) -> list[bytes]:
        return [*self._latest.values(), *self._last]

    def identity(self) -> str:
        """A name for whoever reads this input, the same after every restart."""
        path = self._folder / ".session"
        if not path.exists():
            path.write_text(f"xstreamcast-{secrets.token_hex(8)}", "utf-8")
        return path.read_text("utf-8")

    def frames(self) -> Iterator[Frame]:
        """What was written is read as files."""
        return iter(())

    def write(self, frames: list[Frame]) -> None:
        """They are on disk when this returns."""
        for frame in frames:
            self._write(frame)
        marks = [frame.mark for frame in frames if frame.mark]
        if marks:
            _appended(self._marks, b"".join(mark + b"\n" for mark in marks))
            for mark in marks:
                self._remember(mark)

    def close(self) -> None:
        """Every file is closed after each write."""

    def _write(self, frame: Frame) -> None:
        if frame.kind == END:
            self._begun = None
            return
        alone = frame.kind == MESSAGE and not _joins(frame.data)
        if alone or self._begun is None:
            self._begun = self._folder / f"{self._number:06}.xml"
            self._number += 1
        _appended(self._begun, frame.data + (b"\n" if frame.kind == MESSAGE else b""))
        if alone:
            self._begun = None

    def _remember(self, mark: bytes) -> None:
        if mark.startswith(b"kafka:"):
            self._latest[mark.rpartition(b":")[0]] = mark
        else:
            self._last.append(mark)


def _joins(message: bytes) -> bool:
    """Whether a message may stand behind another in one file: fragments without a root."""
    head = message[: 1 << 12].lstrip()
    return not head.startswith(_OWN_ROOT) and kind_of(head) == "fragments"


def _appended(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
