"""ws(s)://…: each message of a WebSocket; called again when the connection is lost."""

from __future__ import annotations

import re
import ssl
from collections.abc import Sequence
from typing import Any, Final

from xstreamcast.edges.sources.credentials import ASKING, Credentials
from xstreamcast.edges.sources.extras import needed
from xstreamcast.edges.sources.inbox import Inbox
from xstreamcast.edges.sources.place import SourceAddress
from xstreamcast.edges.sources.retrying import LATER, BackOff, NotYet, cannot_connect, connected
from xstreamcast.edges.sources.trust import trusting
from xstreamcast.errors import error

_LARGEST: Final = 1 << 28  # bytes of a message
_LOOK: Final = 0.5
_OVER: Final = 1000  # the server says that nothing more will come
_REFUSED: Final = (1002, 1003, 1007, 1008)  # or that it never will; as with 4000 and above
_REACHED: Final = re.compile(rb"<\?reached (\d+)\?>\s*\Z")


class WebSocketReceiver:
    """A server of messages."""

    def __init__(self, place: SourceAddress, known: Credentials, once: bool) -> None:
        self._place, self._known, self._once = place, known, once
        self._library = needed("websockets.sync.client")
        self._connection = _for_one_server(self._library.ClientConnection, place)
        self._since = 0  # of a broadcast: the number up to which all has come

    def receive(self, out: Inbox) -> None:
        waiting = BackOff()
        connection = connected(self._called, out, waiting, once=self._once)
        while connection is not None and not self._read(connection, out, waiting):
            if out.closed:
                return
            out.say(f"{self._place.url}: the connection was lost; reconnecting")
            out.wait(waiting.failed())
            connection = connected(self._called, out, waiting, once=False, met=True)

    def resume(self, marks: Sequence[bytes]) -> None:
        self._since = max((int(mark) for mark in marks), default=0)

    def taken(self, where: Sequence[Any]) -> None:
        """Not used."""

    def _called(self) -> Any:
        headers = self._known.http_headers()
        if self._known.user is not None and "Authorization" not in headers:
            headers["Authorization"] = _basic(self._known)
        try:
            connection = self._library.connect(
                self._url(), additional_headers=headers, max_size=_LARGEST, ssl=self._trust(),
                create_connection=self._connection,
            )  # fmt: skip
        except Exception as failed:
            raise self._refused(failed) from None
        return connection

    def _refused(self, failed: Exception) -> Exception:
        """Not a WebSocket, or none for us, will not change; a busy server will."""
        from websockets.exceptions import (
            InvalidHandshake,
            InvalidMessage,
            InvalidStatus,
            InvalidURI,
        )

        why = cannot_connect(self._place.url, failed)
        match failed:
            case InvalidStatus() if failed.response.status_code in LATER:
                return why
            case InvalidStatus() if failed.response.status_code in (401, 403):
                return error("XSCU0003", str(why), hint=ASKING)
            case InvalidMessage() if isinstance(failed.__cause__, EOFError | OSError):
                return why  # it hung up before it had answered
            case InvalidHandshake() | InvalidURI():
                return why.why if isinstance(why, NotYet) else why
        return why

    def _url(self) -> str:
        url = self._place.url
        if not self._since:
            return url
        return f"{url}{'&' if '?' in url else '?'}since={self._since}"

    def _trust(self) -> ssl.SSLContext | None:
        if not self._place.secure:
            return None
        return trusting(self._known.ca)

    def _read(self, connection: Any, out: Inbox, waiting: BackOff) -> bool:
        """Whether the server said that this was all."""
        from websockets.exceptions import ConnectionClosed

        with connection as opened:
            greeting = self._place.options.get("send")
            if greeting is not None:
                opened.send(greeting)
            while not out.closed:
                try:
                    message = opened.recv(timeout=_LOOK)
                except TimeoutError:
                    continue
                except ConnectionClosed as ended:
                    return self._over(ended.rcvd)
                waiting.succeeded()
                data = message.encode() if isinstance(message, str) else message
                out.message(data, mark=self._mark(data))
        return True

    def _over(self, said: Any) -> bool:
        """Whether the server ended it; an error, if it refuses us."""
        if said is not None and (said.code in _REFUSED or said.code >= 4000):
            why = said.reason or f"code {said.code}"
            raise error("XSCU0003", f"{self._place.url} refuses: {why}")
        return said is not None and said.code == _OVER

    def _mark(self, data: bytes) -> bytes:
        """The number that a broadcast has reached with this message."""
        found = _REACHED.search(data, max(0, len(data) - 64))
        if found is None:
            return b""
        self._since = int(found[1])
        return found[1]


def _for_one_server(connection: Any, place: SourceAddress) -> Any:
    """Connections that send the headers of the credentials to one server, and to none that it
    redirects to."""

    def handshake(self: Any, headers: Any = None, *rest: Any, **named: Any) -> None:
        uri = self.protocol.uri
        if (uri.secure, uri.host, uri.port) != (place.secure, place.host, place.port):
            headers = None
        connection.handshake(self, headers, *rest, **named)

    return type("ServerConnection", (connection,), {"handshake": handshake})


def _basic(known: Credentials) -> str:
    from base64 import b64encode

    words = f"{known.user}:{known.password or ''}".encode()
    return f"Basic {b64encode(words).decode()}"
