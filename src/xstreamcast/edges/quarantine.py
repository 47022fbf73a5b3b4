"""Where refused fragments go: a file of their own, each with its reason, only ever added to.

    <!-- XSCF0006 credit:14:1 (fragment 8, byte 514): the valid time is no dateTime and no date -->
    <stream:filler id="8" …>…</stream:filler>

The bytes are written as they came, so that a corrected copy of the file can be sent again.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from xstreamcast.edges.disk import GrowingFile
from xstreamcast.errors import error
from xstreamcast.model.fragment import Refused


class Quarantine:
    """A file of refused fragments; it is made when the first one comes.

    A checkpoint counts its bytes, and cuts it back to those that count when a query starts again.
    """

    def __init__(self, path: str | os.PathLike[str], most: int | None = None) -> None:
        """`most`: bytes that the file may have; what does not fit is counted, and not kept."""
        self.path = os.fspath(path)
        self.count = self.left_out = 0
        self._most = most
        self._file: GrowingFile | None = None
        folder = os.path.dirname(self.path) or "."
        if not os.path.isdir(folder):  # said now, and not when the first fragment is refused
            raise error("XSCU0004", f"{self.path} cannot be written: there is no folder {folder}")

    def add(self, refused: Refused) -> None:
        """Keep one; readers of the file see it when this returns."""
        self.count += 1
        file, written = self._opened(), entry(refused)
        if self._most is not None and file.length + len(written) > self._most:
            self.left_out += 1
            return
        file.add(written)
        file.flush()

    def reached(self) -> int:
        """How many bytes are on disk."""
        if self._file is None:
            return os.path.getsize(self.path) if os.path.isfile(self.path) else 0
        self._file.sync()
        return self._file.length

    def go_back(self, position: int) -> None:
        """Forget what came behind the last tick that counts: it comes again."""
        there = os.path.getsize(self.path) if os.path.isfile(self.path) else 0
        if there < position:
            raise error(
                "XSCU0004", f"{self.path} holds {there} bytes, where the checkpoint counts "
                f"{position}: it is not the quarantine that was written",
                hint="put it back, or begin with an empty checkpoint",
            )  # fmt: skip
        if there > position:
            self._opened().cut(position)

    def _opened(self) -> GrowingFile:
        if self._file is None:
            self._file = GrowingFile(self.path)
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def entry(refused: Refused) -> bytes:
    """How a refused fragment is kept."""
    said = str(refused).replace("--", "- -")
    return f"<!-- {said} -->\n".encode() + refused.raw + b"\n"
