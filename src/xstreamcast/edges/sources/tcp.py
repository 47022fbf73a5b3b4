"""tcp://HOST:PORT: the bytes that a peer sends; ?listen: those of peers that connect

to us. A stream of fragments starts again with each connection.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any, Final

from xstreamcast.edges.sources.inbox import Inbox
from xstreamcast.edges.sources.place import SourceAddress
from xstreamcast.edges.sources.retrying import BackOff, cannot_connect, connected
from xstreamcast.errors import error

_CHUNK: Final = 1 << 18
_LOOK: Final = 0.5  # seconds between two checks for a reader


class TcpReceiver:
    """A peer that is called, again if `follow`; or peers that call, `once`: the first one."""

    def __init__(self, place: SourceAddress, follow: bool, once: bool) -> None:
        self._place, self._follow, self._once = place, follow, once

    def receive(self, out: Inbox) -> None:
        if "listen" in self._place.options:
            self._listen(out)
            return
        connection = connected(self._called, out, BackOff(), once=self._once)
        while connection is not None:
            self._read(connection, out)
            connection = None
            if self._follow and not out.wait(BackOff().failed()):
                connection = connected(self._called, out, BackOff(), once=False, met=True)

    def resume(self, marks: Sequence[bytes]) -> None:
        """A socket knows nothing of what it sent before."""

    def taken(self, where: Sequence[Any]) -> None:
        """Not used."""

    def _called(self) -> socket.socket:
        place = self._place
        try:
            connection = socket.create_connection((place.host, place.port), timeout=10)
        except (OSError, UnicodeError) as failed:
            raise cannot_connect(place.url, failed) from None
        name = place.path.strip("/")
        if name:  # names the stream for a server of several
            connection.sendall(f"tune {name}\n".encode())
        return connection

    def _listen(self, out: Inbox) -> None:
        place = self._place
        try:
            server = socket.create_server((place.host, place.port))
        except OSError as failed:
            why = os.strerror(failed.errno) if failed.errno else failed
            raise error("XSCU0003", f"cannot listen at {place.url}: {why}") from None
        with server:
            server.settimeout(_LOOK)
            out.say(f"listening at tcp://{place.host}:{server.getsockname()[1]}")
            while not out.closed:
                try:
                    connection = server.accept()[0]
                except TimeoutError:
                    continue
                self._read(connection, out)
                if self._once:
                    return

    def _read(self, connection: socket.socket, out: Inbox) -> None:
        with connection:
            connection.settimeout(_LOOK)
            while not out.closed:
                try:
                    chunk = connection.recv(_CHUNK)
                except TimeoutError:
                    continue
                except OSError as failed:
                    out.say(f"{self._place.url}: {failed.strerror or failed}")
                    break
                if not chunk:
                    break
                out.piece(chunk)
        out.end()
