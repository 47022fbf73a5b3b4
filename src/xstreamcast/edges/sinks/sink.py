"""The file, pipe or terminal that changes are written to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from xstreamcast.edges.disk import GrowingFile
from xstreamcast.errors import error


class Sink:
    """Takes text; a checkpoint records how many bytes are on disk, and truncates it."""

    def __init__(self, path: str | None, fresh: bool) -> None:
        """A file by its path, or standard output; `fresh`: what the file held is forgotten."""
        self.name = "standard output" if path is None else path
        self._handle = os.dup(sys.stdout.fileno()) if path is None else None
        self._file = GrowingFile(path or "the output", self._handle)
        if fresh and path is not None:
            self._file.cut(0)

    def write(self, text: str) -> None:
        self._file.add(text.encode())

    def writelines(self, texts: Iterable[str]) -> None:
        self.write("".join(texts))

    def flush(self) -> None:
        """Make written text visible to readers of the sink."""
        self._file.flush()

    def isatty(self) -> bool:
        return self._handle is not None and os.isatty(self._handle)

    @property
    def goes_on(self) -> bool:
        """Whether it is written behind what the file held: standard output may be one."""
        return self._handle is not None and self._file.is_regular

    def reached(self) -> int:
        """How many bytes are on disk; 0 of what is no file."""
        self._file.sync()
        return self._file.length

    def go_back(self, position: int) -> None:
        """Forget what was written behind the last tick that counts."""
        if self._file.is_regular and self._file.length < position:
            raise error(
                "XSCU0004",
                f"{self.name} holds {self._file.length} bytes, where the checkpoint counts "
                f"{position}: it is not the output that was written",
                hint="put it back (with -o OUT or >> OUT), or begin with an empty checkpoint",
            )
        self._file.cut(position)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
