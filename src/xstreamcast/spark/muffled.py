"""What a process that we start says on stderr: kept while it starts, passed on afterwards."""

from __future__ import annotations

import os
import threading
from typing import Final

_STDERR: Final = 2


class Muffled:
    """While the block lasts, what is written to stderr is kept; children keep that stderr.

    with Muffled() as said: start()  →  it has started: what children say is passed on as it comes
    it failed: `said.text` is why, and nothing else reports it
    """

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._lock = threading.Lock()
        self._passing = False

    def __enter__(self) -> Muffled:
        self._real = os.dup(_STDERR)
        source, sink = os.pipe()
        os.dup2(sink, _STDERR)
        os.close(sink)
        self._reader = threading.Thread(target=self._read, args=(source,), daemon=True)
        self._reader.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        os.dup2(self._real, _STDERR)
        if kind is not None:
            self._reader.join(1.0)  # children that are gone have closed their end
            return
        with self._lock:
            self._passing = True
            self._pass(b"".join(self._kept))

    @property
    def text(self) -> str:
        with self._lock:
            return b"".join(self._kept).decode(errors="replace")

    def _read(self, source: int) -> None:
        while piece := os.read(source, 1 << 16):
            with self._lock:
                if self._passing:
                    self._pass(piece)
                else:
                    self._kept.append(piece)
        os.close(source)

    def _pass(self, piece: bytes) -> None:
        while piece:
            piece = piece[os.write(self._real, piece) :]
