"""What a checkpoint remembers: which bytes were taken in between ticks, and how far the sink was.

    DIR/journal       a line for each tick: what was read, what time it was, where the sink stood
    DIR/NAME.bytes    the bytes of an input that cannot be read a second time (a pipe)
    DIR/NAME.notes    which files, in which order; which records of Kafka
    DIR/NAME.frames   what came from the network, written down before it counts
    DIR/snapshots     what the query had kept at some lines of the journal

A line is written when the changes of its tick are in the sink. Whoever starts again takes the same
bytes in between the same ticks, tells nothing, cuts the sink where the last line says, and goes on.
With a snapshot, only those behind the line that it was taken at.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from xstreamcast.edges.sources.notes import Notes
from xstreamcast.errors import error

_PIECE: Final = 1 << 20  # bytes of a pipe that are passed by at once


@dataclass(frozen=True, slots=True)
class Line:
    """One tick: (input, number of bytes; -1: one of its files ended), the clock, the sink."""

    read: list[tuple[str, int]]
    now: tuple[int, bool]
    sink: int


@dataclass(frozen=True, slots=True)
class Covered:
    """What a snapshot covers: bytes of the journal, where the sink stood then, which input was
    read last, and of each input how many bytes and how many ends of files.
    """

    offset: int = 0
    sink: int = 0
    last: str | None = None  # None: nothing was read
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """It, as JSON has it."""
        return {name: getattr(self, name) for name in ("offset", "sink", "last", "counts")}

    @staticmethod
    def of(facts: Mapping[str, Any]) -> Covered:
        """It again."""
        counts = {name: (read, ends) for name, (read, ends) in facts["counts"].items()}
        return Covered(facts["offset"], facts["sink"], facts["last"], counts)

    def and_then(self, line: Line, offset: int) -> Covered:
        """With one more line."""
        counts = dict(self.counts)
        for name, count in line.read:
            read, ends = counts.get(name, (0, 0))
            counts[name] = (read + max(count, 0), ends + (count < 0))
        return Covered(offset, line.sink, line.read[-1][0], counts)


class Journal:
    """The folder of a checkpoint; `find` is asked what a snapshot covers of so long a journal."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        query: str,
        find: Callable[[int], Covered | None] = lambda length: None,
    ) -> None:
        self._folder = self.folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._check(query)
        self._path = self._folder / "journal"
        length = self._path.stat().st_size if self._path.exists() else 0
        self.begin_behind(find(length) or Covered())
        self._file: BinaryIO = open(self._path, "ab")  # noqa: SIM115  # open until close()
        self._kept: dict[str, BinaryIO] = {}
        self._notes: dict[str, Notes] = {}

    def begin_behind(self, covered: Covered) -> None:
        """Read the lines behind what is covered."""
        self.covered = self._now = covered
        self.lines = list(self._told())
        for line in self.lines:
            self._now = self._now.and_then(line, 0)

    def covered_now(self) -> Covered:
        """What is covered by all that was taken in up to the last line."""
        return replace(self._now, offset=self._file.tell())

    @property
    def sink(self) -> int:
        """Where the sink stood after the last tick that counts."""
        return self._now.sink

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
        with open(self._path, "rb") as file:
            file.seek(self.covered.offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self._path, self.covered.offset + len(whole))
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
        read, ends = self.covered.counts.get(name, (0, 0))
        counts = [min(_PIECE, read - at) for at in range(0, read, _PIECE)] + [-1] * ends
        counts += [n for line in self.lines for who, n in line.read if who == name]
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
        return self._now.counts.get(name, (0, 0))[1]

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
        self._now = self._now.and_then(line, 0)

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
