"""http(s)://…: a document that is fetched again, server-sent events, or a response without end.

A document is requested at an interval (#every=30s) with the validators of the last response (ETag,
Last-Modified), and is a message when it is another. A response that does not end within a second is
read as it comes.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from xstreamcast.edges.sources.compressed import decompressed, named_compressed
from xstreamcast.edges.sources.credentials import ASKING, Credentials
from xstreamcast.edges.sources.events import EventReader
from xstreamcast.edges.sources.extras import needed
from xstreamcast.edges.sources.inbox import Inbox
from xstreamcast.edges.sources.place import SourceAddress
from xstreamcast.edges.sources.retrying import LATER, BackOff, never_works
from xstreamcast.edges.sources.trust import hint_of, trusting, why_of
from xstreamcast.errors import Error, error

_EVERY: Final = 30.0  # seconds between two polls
_WHOLE: Final = 1.0  # seconds in which a document must end to be one
_LARGEST: Final = 1 << 26  # bytes that are held back until it ends
_ACCEPT: Final = "application/xml, text/xml, text/event-stream, */*;q=0.5"


class HttpReceiver:
    """One address of a server."""

    def __init__(self, place: SourceAddress, known: Credentials, once: bool) -> None:
        self._place, self._known, self._once = place, known, once
        self._library = needed("httpx")
        self._every = place.seconds("every", _EVERY)
        self._asking = {"Accept": _ACCEPT, **known.http_headers()}
        self._seen: bytes | None = None  # what the last document was
        self._events = EventReader()
        self._met = False
        self._waiting = BackOff(max(self._every, 30.0))

    def receive(self, out: Inbox) -> None:
        with self._client() as client:
            out.on_close(client.close)
            while not out.closed:
                wait = self._polled(client, out)
                if wait is None or out.wait(wait):
                    return

    def resume(self, marks: Sequence[bytes]) -> None:
        """The events that came are not sent again by a server that numbers them."""
        kind, _, last = (marks[-1] if marks else b"").partition(b":")
        if kind == b"event":
            self._events.id = last
        elif kind == b"document":
            self._seen = last

    def taken(self, where: Sequence[Any]) -> None:
        """Not used."""

    def _client(self) -> Any:
        known, library = self._known, self._library
        auth = None if known.user is None else (known.user, known.password or "")
        verify: Any = True if known.ca is None else trusting(known.ca)
        timeout = library.Timeout(self._place.seconds("timeout", 30.0))
        return library.Client(
            auth=auth, verify=verify, timeout=timeout, follow_redirects=True,
            event_hooks={"request": [self._without_secrets]},
        )  # fmt: skip

    def _without_secrets(self, request: Any) -> None:
        """The headers of the credentials are for this server, and for none that it redirects to."""
        place, url = self._place, request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        secure = url.scheme == "https" or not place.secure
        upgraded = (place.port, port) == (80, 443)
        if url.host == place.host and secure and (port == place.port or upgraded):
            return
        for word in (*self._known.http_headers(), "Authorization"):
            request.headers.pop(word, None)

    def _polled(self, client: Any, out: Inbox) -> float | None:
        """Send one request → seconds to wait before the next, None if there is none."""
        try:
            with client.stream("GET", self._place.url, headers=self._headers()) as response:
                # What has begun may be silent for long: events, a response without end.
                response.request.extensions["timeout"]["read"] = None
                return self._answered(response, out)
        except Error:
            raise
        except Exception as failed:  # the network: of many kinds, and of ssl's
            if out.closed:
                return None
            return self._failed(
                out, why_of(failed), fatal=never_works(failed), hint=hint_of(failed)
            )

    def _headers(self) -> dict[str, str]:
        more = {"Last-Event-ID": self._events.id.decode()} if self._events.id else {}
        return {**self._asking, **more}

    def _answered(self, response: Any, out: Inbox) -> float | None:
        status = response.status_code
        if status == 304:
            return self._next()
        if status == 204:
            return None if self._events.id or self._once else self._next()
        if status >= 400:
            later = status in LATER
            hint = ASKING if status in (401, 403) else None
            said = f"{status} {response.reason_phrase}"
            wait = self._failed(out, said, fatal=not later, hint=hint)
            return max(wait or 0.0, _retry_after(response.headers.get("retry-after")))
        self._met = True
        self._waiting.succeeded()
        if "text/event-stream" in response.headers.get("content-type", ""):
            return self._read_events(response, out)
        self._read_document(response, out)
        return self._next()

    def _next(self) -> float | None:
        self._met = True
        return None if self._once else self._every

    def _failed(self, out: Inbox, why: str, fatal: bool = False, hint: str | None = None) -> float:
        """What can never work is a mistake at first; all else, and later, is to be waited out."""
        if not self._met and (fatal or self._once):
            raise error("XSCU0003", f"{self._place.url}: {why}", hint=hint)
        if self._waiting.failures == 0:
            out.say(f"{self._place.url}: {why}; trying again")
        return self._waiting.failed()

    def _read_events(self, response: Any, out: Inbox) -> float:
        for chunk in response.iter_bytes():
            for event in self._events.feed(chunk):
                out.message(event.data, mark=b"event:" + event.id if event.id else b"")
            if out.closed:
                break
        return self._waiting.failed() if self._events.retry is None else self._events.retry

    def _read_document(self, response: Any, out: Inbox) -> None:
        body = _Body(out)
        try:
            for chunk in response.iter_bytes():
                body.add(chunk)
        finally:
            body.over()
        if body.flows:
            out.end()
            return
        for header, said in (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified")):
            if said in response.headers:
                self._asking[header] = response.headers[said]
        path = self._place.path.partition("?")[0]
        data = decompressed(body.data, path) if named_compressed(path) else body.data
        digest = hashlib.sha256(data).hexdigest().encode()
        if digest != self._seen:
            self._seen = digest
            out.message(data, mark=b"document:" + digest)


class _Body:
    """A response: held back until it ends, but no longer than a document takes."""

    def __init__(self, out: Inbox) -> None:
        self._out, self._held = out, bytearray()
        self._lock = threading.Lock()
        self.flows = False
        self._timer = threading.Timer(_WHOLE, self._flow)
        self._timer.daemon = True
        self._timer.start()

    @property
    def data(self) -> bytes:
        return bytes(self._held)

    def add(self, chunk: bytes) -> None:
        with self._lock:
            self._held += chunk
            if self.flows or len(self._held) > _LARGEST:
                self._hand_on()

    def over(self) -> None:
        self._timer.cancel()

    def _flow(self) -> None:
        with self._lock:
            self._hand_on()

    def _hand_on(self) -> None:
        self.flows = True
        if self._held:
            self._out.piece(bytes(self._held))
            self._held.clear()


def _retry_after(word: str | None) -> float:
    """The Retry-After of the server: seconds, or a date."""
    if word is None:
        return 0.0
    if word.strip().isdigit():
        return float(word)
    try:
        until = parsedate_to_datetime(word)
    except ValueError:
        return 0.0
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)
