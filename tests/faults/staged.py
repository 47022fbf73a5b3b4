"""The command, with a note of how far it has come that outlives a kill.

    python -m tests.faults.staged NOTE INPUTS OUTPUTS -- WORDS...

It is run as it is; a hook of the interpreter sees which files it opens and renames, and notes the
stage in the first byte of NOTE, and when it began to read in the others.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any, Final

STAGES: Final = ("start", "reading", "snapshotting", "after")
_START, _READING, _SNAPSHOTTING, _AFTER = range(len(STAGES))
_SIZE: Final = 9
_WHOLE: Final = (".part", ".snapshot", ".parquet")  # files that are put whole


def clear(note: Path) -> None:
    """Nothing has begun."""
    note.write_bytes(b"\0" * _SIZE)


def stage_of(note: Path) -> str:
    """How far the command had come."""
    return STAGES[note.read_bytes()[0]]


def began_to_read(note: Path) -> float:
    """When the command began to read, by the monotonic clock; 0 if it did not."""
    found: float = struct.unpack("<d", note.read_bytes()[1:])[0]
    return found


class _Noted:
    """Notes the stage as files are opened and renamed."""

    def __init__(self, note: str, inputs: str, outputs: str) -> None:
        with open(note, "r+b") as file:
            self._byte = mmap.mmap(file.fileno(), _SIZE)
        self._inputs, self._outputs = os.path.abspath(inputs), os.path.abspath(outputs)

    def note(self, stage: int) -> None:
        self._byte[0] = stage

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(given[0], str):
            self._opened(given[0], given[2])
        elif event == "os.rename" and self._byte[0] == _SNAPSHOTTING:
            self.note(_READING)

    def _opened(self, path: str, flags: int) -> None:
        if not path.startswith(self._inputs):
            return
        if not path.startswith(self._outputs):
            if self._byte[0] == _START:
                self._byte[1:] = struct.pack("<d", time.monotonic())
                self.note(_READING)
        elif flags & (os.O_WRONLY | os.O_RDWR) and path.endswith(_WHOLE):
            self.note(_SNAPSHOTTING)


def main() -> int:
    note, inputs, outputs, _, *words = sys.argv[1:]
    noted = _Noted(note, inputs, outputs)
    sys.addaudithook(noted)
    from xstreamcast.cli.main import main as command

    status = command(words)
    noted.note(_AFTER)
    return status


if __name__ == "__main__":
    sys.exit(main())
