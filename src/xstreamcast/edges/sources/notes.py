"""What a source writes into a checkpoint to read the same again: lines of JSON, only added to.

They are on disk before the tick that counts on them is.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO


class Notes:
    """The notes of one input."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lines: list[Any] = list(_read(path))
        self._file: BinaryIO = open(path, "ab")  # noqa: SIM115  # open until close()

    def cut(self, count: int) -> list[Any]:
        """Keep the first lines: what was noted behind them never counted."""
        self.lines = self.lines[:count]
        self._file.truncate(sum(len(_line(one)) for one in self.lines))
        return self.lines

    def add(self, line: Any) -> None:
        self.lines.append(line)
        self._file.write(_line(line))

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _line(one: Any) -> bytes:
    return json.dumps(one, separators=(",", ":")).encode() + b"\n"


def _read(path: Path) -> list[Any]:
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.truncate(path, len(whole))
    return [json.loads(text) for text in whole.splitlines()]
