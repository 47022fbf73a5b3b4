"""The lines of a journal.

    {"format":2,"output":"changes","quarantine":null,"check":"9be5…"}     how lines are written
    1c291ca3 [[["roads",262144]],[1763197200000000,true],5120,0,1763197200123456]     CRC-32, a tick

A journal of format 1 has lines without a check, and none of a quarantine. It is read, and what is
added follows a head of the newer format.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from xstreamcast.errors import Error, error

FORMAT: Final = 2


@dataclass(frozen=True, slots=True)
class JournalHead:
    """The format of the lines behind it, the form in which changes are written, and how long the
    quarantine was before anything was refused, and the sink before anything was written.
    """

    format: int = FORMAT
    output: str = ""
    quarantine: int | None = None
    sink: int = 0

    def line(self) -> bytes:
        fields = {"format": self.format, "output": self.output, "quarantine": self.quarantine}
        if self.sink:
            fields["sink"] = self.sink
        return json.dumps(fields | {"check": self.check}, separators=(",", ":")).encode() + b"\n"

    @property
    def check(self) -> str:
        """The CRC-32 of what it says."""
        fields = [self.format, self.output, self.quarantine]
        if self.sink:
            fields.append(self.sink)
        return f"{zlib.crc32(json.dumps(fields, separators=(',', ':')).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Line:
    """One tick: (input, number of bytes; -1: one of its files ended), the clock, how long the sink
    was, and the quarantine; and when it was read, for what has no valid time of its own.
    """

    read: list[tuple[str, int]]
    now: tuple[int, bool]
    sink: int
    quarantine: int | None = None
    arrived: int | None = None


@dataclass(frozen=True, slots=True)
class Covered:
    """What a snapshot covers: bytes of the journal, how long sink and quarantine were then, which
    input was read last, and of each input how many bytes and how many ends of files.
    """

    offset: int = 0
    sink: int = 0
    last: str | None = None  # None: nothing was read
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    quarantine: int | None = None

    def facts(self) -> dict[str, Any]:
        """It, as JSON has it."""
        names = ("offset", "sink", "last", "counts", "quarantine")
        return {name: getattr(self, name) for name in names}

    @staticmethod
    def of(facts: Mapping[str, Any]) -> Covered:
        """It again."""
        counts = {name: (read, ends) for name, (read, ends) in facts["counts"].items()}
        quarantine = facts.get("quarantine")
        return Covered(facts["offset"], facts["sink"], facts["last"], counts, quarantine)

    def and_then(self, line: Line, offset: int) -> Covered:
        """With one more line."""
        counts = dict(self.counts)
        for name, count in line.read:
            read, ends = counts.get(name, (0, 0))
            counts[name] = (read + max(count, 0), ends + (count < 0))
        last = line.read[-1][0] if line.read else self.last
        quarantine = self.quarantine if line.quarantine is None else line.quarantine
        return Covered(offset, line.sink, last, counts, quarantine)


def line_bytes(line: Line) -> bytes:
    """A line as it is written."""
    fields = [line.read, line.now, line.sink, line.quarantine, line.arrived]
    text = json.dumps(fields, separators=(",", ":")).encode()
    return f"{zlib.crc32(text):08x} ".encode() + text + b"\n"


def read_lines(path: Path, begin: int) -> tuple[JournalHead | None, list[Line], int]:
    """The last head, the lines behind an offset, and where the last whole line ends.

    Only the last line can be torn: those before it were on disk before it was written.
    """
    if not path.exists():
        return None, [], 0
    with open(path, "rb") as file:
        head = _head(path, file.readline())
        file.seek(begin)
        data = file.read()
    lines: list[Line] = []
    end = begin
    texts = data.splitlines(keepends=True)
    for number, text in enumerate(texts):
        if text.startswith(b"{") and text.endswith(b"\n"):
            head = _head(path, text)
        elif (line := _line(text)) is not None:
            lines.append(line)
        elif number + 1 < len(texts):
            raise _damaged(path, end)
        else:
            break  # torn
        end += len(text)
    return head, lines, end


def _head(path: Path, text: bytes) -> JournalHead | None:
    """The head that a line is; None of one that is torn. A line of format 1 has none."""
    if not text.endswith(b"\n") or text.startswith(b"["):
        return JournalHead(1) if text.startswith(b"[") else None
    try:
        fields = json.loads(text)
        head = JournalHead(
            fields["format"], fields["output"], fields["quarantine"], fields.get("sink", 0)
        )
    except (ValueError, KeyError, TypeError):
        raise _damaged(path, 0) from None
    if not isinstance(head.format, int) or fields.get("check", head.check) != head.check:
        raise _damaged(path, 0)
    if head.format > FORMAT:
        raise error(
            "XSCU0003",
            f"{path} is of format {head.format}, and this version reads up to {FORMAT}",
            hint="continue with the newer xstreamcast: nothing was changed",
        )
    return head


def _damaged(path: Path, at: int) -> Error:
    return error(
        "XSCU0003", f"{path} is damaged at byte {at}: the checksum of a line does not match",
        hint="put the checkpoint back from a copy, or begin with an empty one",
    )  # fmt: skip


def _line(text: bytes) -> Line | None:
    """The tick that a line is; None if it is not whole."""
    if not text.endswith(b"\n"):
        return None
    check, said = (b"", text[:-1]) if text.startswith(b"[") else (text[:8], text[9:-1])
    if check and check != f"{zlib.crc32(said):08x}".encode():
        return None
    try:
        read, now, sink, *more = json.loads(said)
    except ValueError:
        return None
    fields = [(name, count) for name, count in read]
    rest: list[int | None] = [*more, None, None]
    return Line(fields, (now[0], now[1]), sink, rest[0], rest[1])
