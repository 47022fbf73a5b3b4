"""The log of a table: which files count. A batch is there when its entry is, whole or not at all.

TABLE/_log/0000000007.json   what commit 7 added, or (after compacting) all there is
TABLE/stream=credit/tag=3/…  fragments
TABLE/_refused/stream=…/…    what was refused, with its reason

An entry gets its number by being the first file of that name: of two writers one must try again.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from xstreamcast.edges.disk import calls, make_folder, naming, put_new, sync_folder, take_away
from xstreamcast.errors import Error, error
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import START

FORMAT: Final = 3  # what is written; older ones are read. From 3 on an entry has a check
FOLDER: Final = "_log"
_CHECK: Final = ',"check":"'
REFUSED: Final = "_refused"
DELTA: Final = "delta:"  # before the path of a table that is a Delta table too


@dataclass(frozen=True, slots=True)
class File:
    """A file of the table, by its path from there."""

    path: str
    rows: int
    nbytes: int
    inside: str | None = None  # the file that describes what its fragments contain
    footer: int | None = None  # the CRC-32 of what says where its pages are; pages have their own

    @property
    def stream(self) -> str:
        return unquote(_part(self.path, "stream="))

    @property
    def tag(self) -> int:
        return int(_part(self.path, "tag="))


def _part(path: str, key: str) -> str:
    return next(part[len(key) :] for part in path.split("/") if part.startswith(key))


def place(stream: str, tag: int) -> str:
    """The folder of a stream's fragments of one tag."""
    return f"stream={quote(stream, safe='')}/tag={tag}"


def refused_place(stream: str) -> str:
    return f"{REFUSED}/stream={quote(stream, safe='')}"


@dataclass(frozen=True, slots=True)
class Stream:
    """What is known of a stream besides its fragments."""

    structure: str | None = None
    newest: int = START  # the largest valid time, heartbeats included
    zoned: bool = False
    read: int = 0  # fragments, refused ones included
    shortened: int = 0
    ended: bool = False

    def after(self, more: Stream) -> Stream:
        """This and what came later."""
        last = more if more.newest >= self.newest else self
        return Stream(
            more.structure or self.structure,
            last.newest,
            last.zoned,
            self.read + more.read,
            self.shortened + more.shortened,
            self.ended or more.ended,
        )


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One commit. `whole`: it replaces all before it. `writer` and `epoch` name the batch."""

    writer: str
    epoch: int
    files: tuple[File, ...] = ()
    refused: tuple[File, ...] = ()
    streams: dict[str, Stream] = field(default_factory=dict)
    offset: Any = None  # how far the writer has read its source, if it does not keep that itself
    whole: bool = False
    writers: dict[str, tuple[int, Any]] = field(default_factory=dict)  # only where whole


@dataclass(frozen=True, slots=True)
class State:
    """What a table holds after its first `number` commits."""

    number: int = 0
    files: tuple[File, ...] = ()
    refused: tuple[File, ...] = ()
    streams: dict[str, Stream] = field(default_factory=dict)
    writers: dict[str, tuple[int, Any]] = field(default_factory=dict)  # last epoch, offset

    def after(self, entry: LogEntry) -> State:
        """The table with one more commit."""
        number = self.number + 1
        if entry.whole:
            return State(number, entry.files, entry.refused, entry.streams, entry.writers)
        streams = dict(self.streams)
        for name, more in entry.streams.items():
            streams[name] = streams.get(name, Stream()).after(more)
        writers = {**self.writers, entry.writer: (entry.epoch, entry.offset)}
        files, refused = self.files + entry.files, self.refused + entry.refused
        return State(number, files, refused, streams, writers)

    def has(self, writer: str, epoch: int) -> bool:
        """Whether a batch has been written."""
        return writer in self.writers and epoch <= self.writers[writer][0]

    def files_of(self, stream: str, tags: frozenset[int] | None = None) -> list[File]:
        """The files of a stream, or of some of its tags and of removals that name none."""
        wanted = None if tags is None else tags | {-1}
        return [f for f in self.files if f.stream == stream and (wanted is None or f.tag in wanted)]


class Log:
    """The log of the table at a path."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        word = os.fspath(path)
        self.path = Path(word.removeprefix(DELTA))
        self.folder = self.path / FOLDER
        self._wants_delta = word.startswith(DELTA)

    @property
    def delta(self) -> bool:
        """Whether Delta's log receives each commit."""
        return self._wants_delta or (self.path / "_delta_log").is_dir()

    def exists(self) -> bool:
        return self.folder.is_dir()

    def numbers(self) -> list[int]:
        if not self.exists():
            return []
        names = (entry.name for entry in os.scandir(self.folder))
        return sorted(int(name[:-5]) for name in names if name.endswith(".json"))

    def state(self, before: int | None = None) -> State:
        """All that is committed now, or was before a commit."""
        numbers = self.numbers() if before is None else list(range(before))
        entries: list[LogEntry] = []
        for number in range(numbers[-1], -1, -1) if numbers else ():
            entries.append(self.entry(number))
            if entries[-1].whole:
                break
        first = numbers[-1] - len(entries) if entries else -1
        found = replace(State(), number=first + 1)
        for one in reversed(entries):
            found = found.after(one)
        return found

    def needed(self) -> State:
        """`state`, of a table that must be there."""
        if not self.exists():
            raise error("XSCU0003", f"there is no fragment table at {self.path}")
        return self.state()

    def commit(self, number: int, entry: LogEntry) -> bool:
        """Add an entry as commit `number` → whether it is the one; then it is on disk."""
        make_folder(self.folder)
        fields = _checked(json.dumps({"format": FORMAT, **asdict(entry)}, separators=(",", ":")))
        part = self.folder / f"{number:010}.{secrets.token_hex(4)}"
        name = self.folder / f"{number:010}.json"
        try:
            put_new(part, fields.encode())
            with naming(str(name)):
                calls().link(str(part), str(name))
        except FileExistsError:
            return False
        finally:
            take_away(part)
        sync_folder(self.folder)
        return True

    def entry(self, number: int) -> LogEntry:
        """Commit `number`."""
        path = self.folder / f"{number:010}.json"
        try:
            text = path.read_text("utf-8")
            fields = json.loads(text)
            version = fields.pop("format", None)
            fields.pop("check", None)
        except FileNotFoundError:
            raise _damaged(path, "it is missing, though later commits are there") from None
        except (ValueError, AttributeError, TypeError):
            raise _damaged(path, "it is incomplete") from None
        if isinstance(version, int) and version > FORMAT:
            raise error(
                "XSCU0003",
                f"{path}: written in format {version} by a newer xstreamcast; this one reads "
                f"formats up to {FORMAT}",
                hint="read the table with that version: nothing was changed",
            )
        if version not in (1, 2) and _checked(text.rpartition(_CHECK)[0] + "}") != text:
            raise _damaged(path, "its checksum does not match")
        try:
            return _entry(fields)
        except (KeyError, TypeError, IndexError, AttributeError):
            raise _damaged(path, "its fields are not those of a commit") from None


def _checked(fields: str) -> str:
    """An entry with the CRC-32 of its text."""
    return f'{fields[:-1]}{_CHECK}{zlib.crc32(fields.encode()):08x}"}}'


def _entry(fields: dict[str, Any]) -> LogEntry:
    fields["files"] = tuple(File(**one) for one in fields["files"])
    fields["refused"] = tuple(File(**one) for one in fields["refused"])
    fields["streams"] = {name: Stream(**one) for name, one in fields["streams"].items()}
    fields["writers"] = {name: (one[0], one[1]) for name, one in fields["writers"].items()}
    return LogEntry(**fields)


def _damaged(path: Path, why: str) -> Error:
    return error(
        "XSCU0003",
        f"the log of the table is damaged: {path}: {why}",
        hint="put the file back from a copy: without it the files of the table are unknown",
    )
