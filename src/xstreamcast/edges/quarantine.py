"""Where refused fragments go: a file of their own, each with its reason, only ever added to.

    <!-- XSCF0006 credit:14:1 (fragment 8, byte 514): the valid time is no dateTime and no date -->
    <stream:filler id="8" …>…</stream:filler>

The bytes stand as they came, so that a corrected copy of the file can be sent again.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import BinaryIO, Self

from xstreamcast.errors import error
from xstreamcast.model.fragment import Refused


class Quarantine:
    """A file of refused fragments; it is made when the first one comes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.count = 0
        self._file: BinaryIO | None = None

    def add(self, refused: Refused) -> None:
        """Keep one, on disk when this returns."""
        self.count += 1
        try:
            if self._file is None:
                self._file = open(self.path, "ab")  # noqa: SIM115  # kept open until close()
            self._file.write(entry(refused))
            self._file.flush()
        except OSError as failed:
            raise error("XSCU0004", f"cannot write {self.path}: {failed.strerror}") from None

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
