"""What a checkpoint remembers: which bytes were read between ticks, and how far the sink was.

    DIR/lock          held by the one process that writes here
    DIR/query         the text of the query
    DIR/journal       a line for each tick: what was read, what time it was, how long sink and
                      quarantine were
    DIR/NAME.bytes    the bytes of an input that cannot be read a second time (a pipe)
    DIR/NAME.notes    which files, in which order; which records of Kafka
    DIR/NAME.frames   what came from the network, written down before it counts
    DIR/snapshots     what the query had kept at some lines of the journal

A line is written when all that it describes is on disk. A restart reads the same bytes
in between the same ticks, writes nothing, cuts the sink and the quarantine where the last line
says, and continues. With a snapshot, only those behind the line that it was taken at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from xstreamcast.edges.disk import FolderLock, GrowingFile, make_folder, put_whole
from xstreamcast.edges.sources.notes import Notes, file_name
from xstreamcast.edges.watching.journal_lines import (
    Covered,
    JournalHead,
    Line,
    line_bytes,
    read_lines,
)
from xstreamcast.errors import error

__all__ = ["Covered", "Journal", "Line"]

_PIECE: Final = 1 << 20  # bytes of a pipe that are passed by at once
_HINT: Final = "give another folder, or empty this one"


class Journal:
    """The folder of a checkpoint; `find` returns what a snapshot covers of a journal.

    `output` names the form in which changes are written, if it matters.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        query: str,
        find: Callable[[int], Covered | None] = lambda length: None,
        output: str = "",
    ) -> None:
        self.folder = Path(folder)
        make_folder(self.folder)
        self._lock = FolderLock(self.folder, "the checkpoint")
        try:
            self._check(query)
            self._path = self.folder / "journal"
            self._head = JournalHead(output=output)
            length = self._path.stat().st_size if self._path.exists() else 0
            self.begin_behind(find(length) or Covered())
            self._file = GrowingFile(self._path)
            self._begin_file()
        except BaseException:
            self._lock.close()
            raise
        self._kept: dict[str, GrowingFile] = {}
        self._notes: dict[str, Notes] = {}

    def begin_behind(self, covered: Covered) -> None:
        """Read the lines behind what is covered."""
        self.covered = self._now = covered
        self._known, self.lines, self._whole = read_lines(self._path, covered.offset)
        if self._known is not None and self._known.output not in ("", self._head.output):
            raise error(
                "XSCU0005", f"the checkpoint {self.folder} was begun with "
                f"{_output(self._known.output)}, not {self._head.output or 'another'}", hint=_HINT,
            )  # fmt: skip
        for line in self.lines:
            self._now = self._now.and_then(line, 0)

    def _begin_file(self) -> None:
        """Cut a torn line off, and say how lines are written, if that is not said yet."""
        self._file.cut(self._whole)
        if self._known is None or self._known.format < self._head.format:
            self._file.add(self._head.line())
        self._file.sync()

    def covered_now(self) -> Covered:
        """What is covered by all that was read up to the last line."""
        return replace(self._now, offset=self._file.length)

    @property
    def sink(self) -> int:
        """How long the sink was after the last tick that counts, or before the first one."""
        return max(self._now.sink, 0 if self._known is None else self._known.sink)

    @property
    def quarantine(self) -> int | None:
        """How long the quarantine was then; None: nothing says so."""
        if self._now.quarantine is not None or self._known is None:
            return self._now.quarantine
        return self._known.quarantine

    def begin_quarantine(self, length: int) -> None:
        """Say how long the quarantine is before anything is refused."""
        self._begin_with(replace(self._known or self._head, quarantine=length))

    @property
    def is_new(self) -> bool:
        """Whether nothing was said before this process."""
        return self._known is None

    def begin_sink(self, length: int) -> None:
        """Say how long the sink is before anything is written."""
        self._begin_with(replace(self._head, sink=length))

    def _begin_with(self, head: JournalHead) -> None:
        self._known = head
        self._file.add(head.line())
        self._file.sync()

    def _check(self, query: str) -> None:
        """A checkpoint belongs to one query."""
        path = self.folder / "query"
        if not path.exists():
            put_whole(path, query.encode())
        elif path.read_bytes() != query.encode():
            raise error(
                "XSCU0005", f"the checkpoint {self.folder} is that of another query", hint=_HINT
            )

    def keep(self, name: str, piece: bytes) -> None:
        """Keep the bytes of a pipe."""
        if name not in self._kept:
            self._kept[name] = GrowingFile(self._bytes(name))
        self._kept[name].add(piece)

    def kept(self, name: str) -> Iterator[bytes | None]:
        """What ticks that count read from a pipe, piece by piece; None where it ended."""
        read, ends = self.covered.counts.get(name, (0, 0))
        counts = [min(_PIECE, read - at) for at in range(0, read, _PIECE)] + [-1] * ends
        counts += [n for line in self.lines for who, n in line.read if who == name]
        path = self._bytes(name)
        if not path.exists():
            return
        if path.stat().st_size > sum(n for n in counts if n > 0):
            file = GrowingFile(path)
            file.cut(sum(n for n in counts if n > 0))
            file.close()
        with open(path, "rb") as opened:
            for count in counts:
                yield None if count < 0 else opened.read(count)

    def notes(self, name: str) -> Notes:
        """What an input wrote down to read the same again."""
        if name not in self._notes:
            self._notes[name] = Notes(self.folder / f"{file_name(name)}.notes")
        return self._notes[name]

    def ended(self, name: str) -> int:
        """How many files or messages of an input ended in ticks that count."""
        return self._now.counts.get(name, (0, 0))[1]

    def _bytes(self, name: str) -> Path:
        return self.folder / f"{file_name(name)}.bytes"

    def write(self, line: Line) -> None:
        """A tick counts when this returns."""
        for file in self._kept.values():
            file.sync()
        for notes in self._notes.values():
            notes.sync()
        self._file.add(line_bytes(line))
        self._file.sync()
        self._now = self._now.and_then(line, 0)

    def close(self) -> None:
        for file in (self._file, *self._kept.values()):
            file.close()
        for notes in self._notes.values():
            notes.close()
        self._lock.close()


def _output(name: str) -> str:
    """What a form of output is called on the command line."""
    return name if name == "serve" else f"--format {name}"
