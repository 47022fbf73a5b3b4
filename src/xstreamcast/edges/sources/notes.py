"""What a source writes into a checkpoint to read the same again: lines of JSON, only added to.

They are on disk before the tick that counts on them is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from xstreamcast.edges.disk import GrowingFile


class Notes:
    """The notes of one input."""

    def __init__(self, path: Path) -> None:
        self.lines: list[Any] = list(_read(path))
        self._file = GrowingFile(path)
        self.cut(len(self.lines))

    def cut(self, count: int) -> list[Any]:
        """Keep the first lines: what was noted behind them never counted."""
        self.lines = self.lines[:count]
        self._file.cut(sum(len(_line(one)) for one in self.lines))
        return self.lines

    def add(self, line: Any) -> None:
        self.lines.append(line)
        self._file.add(_line(line))

    def sync(self) -> None:
        self._file.sync()

    def close(self) -> None:
        self._file.close()


def file_name(input: str) -> str:
    """The name of an input as that of a file: whatever it is called, it stays in its folder."""
    return quote(input, safe="") or "input"


def _line(one: Any) -> bytes:
    return json.dumps(one, separators=(",", ":")).encode() + b"\n"


def _read(path: Path) -> list[Any]:
    """The lines up to the first that is torn: what stands behind it never counted."""
    found: list[Any] = []
    for text in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        try:
            found.append(json.loads(text) if text.endswith(b"\n") else None)
        except ValueError:
            break
        if found[-1] is None:
            return found[:-1]
    return found
