"""What cannot be read twice, a pipe or a socket, is written down first: files that can.

Each connection is a file of its own in the folder, since a stream begins anew with it.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from xstreamcast.errors import error

_CHUNK: Final = 1 << 16


def is_fleeting(source: str | os.PathLike[str]) -> bool:
    """Whether a source is gone once it is read."""
    word = os.fspath(source)
    return word == "-" or word.startswith("tcp://")


class Spool(threading.Thread):
    """Writes what comes from standard input or `tcp://HOST:PORT` into a folder, as it comes."""

    def __init__(self, source: str, folder: Path) -> None:
        super().__init__(name="spool", daemon=True)
        folder.mkdir(parents=True, exist_ok=True)
        number = sum(1 for _ in folder.glob("*.xml"))
        self.path = folder / f"{number:06}.xml"
        self.failed: OSError | None = None
        self._connection = None if source == "-" else _connected(source)

    def run(self) -> None:
        try:
            with open(self.path, "ab", buffering=0) as file:
                for chunk in self._chunks():
                    file.write(chunk)
                    os.fsync(file.fileno())
        except OSError as failed:
            self.failed = failed

    def _chunks(self) -> Iterator[bytes]:
        if self._connection is None:
            handle = sys.stdin.buffer.fileno()
            while chunk := os.read(handle, _CHUNK):
                yield chunk
            return
        with self._connection as connection:
            while chunk := connection.recv(_CHUNK):
                yield chunk


def _connected(source: str) -> socket.socket:
    where = urlsplit(source)
    if where.hostname is None or where.port is None:
        raise error("XSCU0003", f"a socket must be tcp://HOST:PORT; got {source}")
    try:
        return socket.create_connection((where.hostname, where.port))
    except OSError as failed:
        raise error("XSCU0003", f"cannot connect to {source}: {failed.strerror}") from None
