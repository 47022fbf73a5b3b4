"""What a checkpoint remembers: which bytes were taken in between ticks, and how far the sink was.

    DIR/journal       a line for each tick: what was read, what time it was, where the sink stood
    DIR/NAME.bytes    the bytes of an input that cannot be read a second time (a pipe)
    DIR/NAME.notes    which files, in which order; which records of Kafka
    DIR/NAME.frames   what came from the network, written down before it counts

A line is written when the changes of its tick are in the sink. Whoever starts again takes the same
bytes in between the same ticks, tells nothing, cuts the sink where the last line says, and goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from xstreamcast.edges.sources.notes import Notes
from xstreamcast.errors import error


@dataclass(frozen=True, slots=True)
class Line:
    """One tick: (input, number of bytes; -1: one of its files ended), the clock, the sink."""

    read: list[tuple[str, int]]
    now: tuple[int, bool]
    sink: int


class Journal:
    """The folder of a checkpoint."""

    def __init__(self, folder: str | os.PathLike[str], query: str) -> None:
        self._folder = self.folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._check(query)
        self._path = self._folder / "journal"
        self.lines = list(self._told())
        self._file: BinaryIO = open(self._path, "ab")  # noqa: SIM115  # open until close()
        self._kept: dict[str, BinaryIO] = {}
        self._notes: dict[str, Notes] = {}

    @property
    def sink(self) -> int:
        """Where the sink stood after the last tick that counts."""
        return self.lines[-1].sink if self.lines else 0

    def _check(self, query: str) -> None:
        """A checkpoint belongs to one query."""
        path = self._folder / "query"
        if not path.exists():
            _replace(path, query.encode())
        elif path.read_text("utf-8") != query:
            raise error(
                "XSCU0005", f"the checkpoint {self._folder} is that of another query",
                hint="give another folder, or empty this one",
            )  # fmt: skip

    def _told(self) -> Iterator[Line]:
        """The lines that were written whole; a torn one at the end is cut off."""
        if not self._path.exists():
            return
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self._path, len(whole))
        for text in whole.decode().splitlines():
            read, now, sink = json.loads(text)
            yield Line([(name, count) for name, count in read], (now[0], now[1]), sink)

    def keep(self, name: str, piece: bytes) -> None:
        """Keep the bytes of a pipe."""
        if name not in self._kept:
            self._kept[name] = open(self._bytes(name), "ab")  # noqa: SIM115  # open until close()
        self._kept[name].write(piece)

    def kept(self, name: str) -> Iterator[bytes | None]:
        """What ticks that count took in from a pipe, piece by piece; None where it ended."""
        counts = [n for line in self.lines for who, n in line.read if who == name]
        path = self._bytes(name)
        if not path.exists():
            return
        if path.stat().st_size > sum(n for n in counts if n > 0):
            os.truncate(path, sum(n for n in counts if n > 0))
        with open(path, "rb") as file:
            for count in counts:
                yield None if count < 0 else file.read(count)

    def notes(self, name: str) -> Notes:
        """What an input wrote down to read the same again."""
        if name not in self._notes:
            self._notes[name] = Notes(self._folder / f"{name or 'input'}.notes")
        return self._notes[name]

    def ended(self, name: str) -> int:
        """How many files or messages of an input ended in ticks that count."""
        return sum(n < 0 for line in self.lines for who, n in line.read if who == name)

    def _bytes(self, name: str) -> Path:
        return self._folder / f"{name or 'input'}.bytes"

    def write(self, line: Line) -> None:
        """A tick counts when this returns."""
        for file in self._kept.values():
            _synced(file)
        for notes in self._notes.values():
            notes.sync()
        text = json.dumps([line.read, line.now, line.sink], separators=(",", ":"))
        self._file.write(text.encode() + b"\n")
        _synced(self._file)

    def close(self) -> None:
        for file in (self._file, *self._kept.values()):
            file.close()
        for notes in self._notes.values():
            notes.close()


def _synced(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_suffix(".part")
    part.write_bytes(data)
    os.replace(part, path)


def sink_position(file: Any) -> int:
    """How many bytes a sink holds, if it is a file; 0 for a pipe."""
    try:
        file.flush()
        return os.lseek(file.fileno(), 0, os.SEEK_END)
    except (OSError, ValueError):
        return 0


def cut_sink(file: Any, position: int) -> None:
    """Cut a sink back to where the last tick that counts left it, if it is a file."""
    try:
        os.ftruncate(file.fileno(), position)
        os.lseek(file.fileno(), position, os.SEEK_SET)
    except (OSError, ValueError):
        return  # a pipe has no place to go back to
