"""What a source writes into a checkpoint to read the same again: lines of JSON, only added to.

    5d3b6bd1 ["roads/2.xml",4096]     CRC-32, then the note

They are on disk before the tick that counts on them is. Lines of before have no check.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from xstreamcast.edges.disk import GrowingFile
from xstreamcast.errors import error
from xstreamcast.model.counted import counted

_CHECKED: Final = re.compile(rb"[0-9a-f]{8} ")


class Notes:
    """The notes of one input."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = _read(path)
        self._file = GrowingFile(path)
        self.cut(len(self._read))

    @property
    def lines(self) -> list[Any]:
        """The notes."""
        return [one for one, _ in self._read]

    def cut(self, count: int) -> list[Any]:
        """Keep the first lines: what was noted behind them never counted."""
        self._read = self._read[:count]
        self._file.cut(sum(size for _, size in self._read))
        return self.lines

    def needed(self, there: int, count: int) -> None:
        """So many files must be noted: ticks that count were written behind them."""
        if there < count:
            raise error(
                "XSCU0003", f"{self._path} is damaged: it names {counted(there, 'file')} that "
                f"ended, and the journal counts {count}",
                hint="put the checkpoint back from a copy, or begin with an empty one",
            )  # fmt: skip

    def add(self, line: Any) -> None:
        written = _line(line)
        self._read.append((line, len(written)))
        self._file.add(written)

    def sync(self) -> None:
        self._file.sync()

    def close(self) -> None:
        self._file.close()


def file_name(input: str) -> str:
    """The name of an input as that of a file: whatever it is called, it stays in its folder."""
    return quote(input, safe="") or "input"


def _line(one: Any) -> bytes:
    return _line_of(json.dumps(one, separators=(",", ":")).encode())


def _read(path: Path) -> list[tuple[Any, int]]:
    """The notes and the bytes of each, up to the first that is torn: none behind it counted."""
    found: list[tuple[Any, int]] = []
    for text in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        said = text[9:-1] if _CHECKED.match(text) else text[:-1]
        if not text.endswith(b"\n") or (said != text[:-1] and _line_of(said) != text):
            break
        try:
            found.append((json.loads(said), len(text)))
        except ValueError:
            break
    return found


def _line_of(said: bytes) -> bytes:
    return f"{zlib.crc32(said):08x} ".encode() + said + b"\n"
