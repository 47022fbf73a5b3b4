"""What cannot be read twice, a pipe or a socket, is written down first: files that can.

Each connection is a file of its own in the folder, since a stream of fragments restarts with it;
a document continues in the file that it began in.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from xstreamcast.edges.disk import GrowingFile, make_folder
from xstreamcast.edges.inputs import kind_of, opened
from xstreamcast.edges.sources import is_place
from xstreamcast.edges.sources.network import written_down
from xstreamcast.edges.sources.place import shown
from xstreamcast.edges.sources.xml_log import XmlLog
from xstreamcast.edges.wire.sync import first_markup
from xstreamcast.errors import Error, error

_CHUNK: Final = 1 << 16
_HEAD: Final = 1 << 16
_LOOK: Final = 0.05  # seconds between two looks at what has come
_LONGEST: Final = 2.0  # seconds between two calls at a peer that is not there


def is_fleeting(source: Any) -> bool:
    """Whether a source is gone once it is read: standard input, a socket, a named pipe."""
    if not isinstance(source, str | os.PathLike):
        return False
    word = os.fspath(source)
    if word == "-" or is_place(word):
        return True
    return os.path.exists(word) and stat.S_ISFIFO(os.stat(word).st_mode)


class Spool(threading.Thread):
    """Writes what comes from standard input, the network or a named pipe into a folder.

    `again`: call a peer that went away again, until `close`. `feed`: these are messages for a
    mapping, whatever they look like. `stream`: whose credentials a server is given.
    """

    def __init__(
        self, source: str, folder: Path, stream: str | None = None, *, again: bool = False,
        feed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name="spool", daemon=True)
        make_folder(folder)
        self.source, self.folder, self._stream = source, folder, stream
        self.failed: BaseException | None = None
        self._socket = source.startswith("tcp://") and "?" not in source
        self.again = again and is_place(source)
        self._over = threading.Event()
        self._feed = feed
        self.path = self._next_file()
        self._connection = _connected(source) if self._socket else None

    def run(self) -> None:
        try:
            if is_place(self.source) and not self._socket:
                with closing(XmlLog(self.folder, alone=self._feed)) as log:
                    written_down(
                        self.source, log, self._stream, follow=self.again,
                        closed=self._over.is_set,
                    )  # fmt: skip
                return
            self._write()
            while self.again and (peer := self._called_again()) is not None:
                self._connection, self.path = peer, self._next_file()
                self._write()
        except (OSError, Error) as failed:
            self.failed = failed

    def _next_file(self) -> Path:
        """A new file; or the one that is there, if that is a document."""
        there = sorted(self.folder.glob("*.xml"))
        begun = first_bytes(self.folder)
        if there and not self._feed and (not begun.strip() or kind_of(begun) != "fragments"):
            return there[0]
        return self.folder / f"{len(there):06}.xml"

    def _write(self) -> None:
        with closing(GrowingFile(self.path)) as file:
            for chunk in self._chunks():
                file.add(chunk)
                file.sync()

    def _chunks(self) -> Iterator[bytes]:
        if self._connection is not None:
            with self._connection as connection:
                while chunk := connection.recv(_CHUNK):
                    yield chunk
            return
        handle = sys.stdin.buffer.fileno() if self.source == "-" else os.open(self.source, 0)
        while chunk := os.read(handle, _CHUNK):
            yield chunk

    def _called_again(self) -> socket.socket | None:
        wait = _LOOK
        while not self._over.wait(wait):
            try:
                return socket.create_connection(_address(self.source))
            except OSError:
                wait = min(2 * wait, _LONGEST)
        return None

    def close(self) -> None:
        """Do not reconnect."""
        self._over.set()


class SpooledPieces(threading.Thread):
    """Writes pieces of bytes that a program hands over into a file; what it has is passed by."""

    def __init__(self, pieces: Iterable[bytes], folder: Path) -> None:
        super().__init__(name="handed", daemon=True)
        make_folder(folder)
        self.folder, self.path = folder, folder / "000000.xml"
        self.failed: BaseException | None = None
        self.again = False
        self._pieces = pieces

    def run(self) -> None:
        try:
            with closing(GrowingFile(self.path)) as file:
                passed = file.length
                for piece in map(bytes, self._pieces):
                    file.add(piece[passed:])
                    file.flush()
                    passed = max(passed - len(piece), 0)
        except BaseException as failed:  # a failure of the program: raised where the end is awaited
            self.failed = failed

    def close(self) -> None:
        """There is nothing to reconnect to."""


def head(written: Spool | SpooledPieces) -> bytes:
    """The first bytes of all; waits until they identify the kind of input."""
    while True:
        over = not written.is_alive()
        found = first_bytes(written.folder)
        if over or shows_kind(found):
            return found
        time.sleep(_LOOK)


def first_bytes(folder: Path) -> bytes:
    """The beginning of the first file of a folder."""
    there = sorted(folder.glob("*.xml"))
    if not there:
        return b""
    with opened(str(there[0])) as file:
        return file.read(_HEAD)


def shows_kind(head: bytes) -> bool:
    """Whether enough has come to see what an input is: a start tag, or a line of JSON."""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        return b"\n" in head
    return b">" in head[first_markup(head) :]


def _address(source: str) -> tuple[str, int]:
    try:
        where = urlsplit(source)
        host, port = where.hostname, where.port
    except ValueError:  # a port that is no number, an open bracket
        host = port = None
    if host is None or port is None:
        raise error("XSCU0003", f"a socket must be tcp://HOST:PORT; got {shown(source)}")
    return host, port


def _connected(source: str) -> socket.socket:
    try:
        return socket.create_connection(_address(source))
    except OSError as failed:
        raise error("XSCU0003", f"cannot connect to {source}: {failed.strerror}") from None
