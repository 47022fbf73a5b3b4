"""mqtt(s)://HOST/TOPIC: messages of a broker, at least once each; what came twice counts once.

The session, if it has a name, is kept by the broker while no client is connected. A message is
acknowledged when it is on disk; one that the broker sends again because it never heard so is known
by its number and content.
"""

from __future__ import annotations

import threading
import zlib
from collections import deque
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote

from xstreamcast.edges.sources.credentials import Credentials
from xstreamcast.edges.sources.extras import needed
from xstreamcast.edges.sources.inbox import Inbox
from xstreamcast.edges.sources.place import SourceAddress
from xstreamcast.edges.sources.retrying import BackOff, cannot_connect, connected
from xstreamcast.errors import Error, error

_KEEP_ALIVE: Final = 60
_FIRST: Final = 20.0  # seconds in which a broker must answer
_KNOWN: Final = 4096


class MqttReceiver:
    """A broker's messages on some topics."""

    def __init__(
        self, place: SourceAddress, known: Credentials, session: str | None, once: bool
    ) -> None:
        self._place, self._credentials, self._once = place, known, once
        self._library = needed("paho.mqtt.client")
        self._session = place.options.get("session") or session
        self._topics = [unquote(topic) for topic in place.path[1:].split(",") if topic]
        if not self._topics:
            raise error("XSCU0003", f"{place.url} names no topic", hint="mqtt://HOST/TOPIC/#")
        for topic in self._topics:
            _check_filter(topic, place.url)
        self._qos = _quality(place)
        self._known: deque[bytes] = deque(maxlen=_KNOWN)
        self._met = False  # whether it was connected before
        self._refused: Error | None = None
        self._answered = False  # whether what is there speaks MQTT
        self._over = threading.Event()

    def receive(self, out: Inbox) -> None:
        client = self._client(out)
        out.on_close(self._over.set)
        if connected(lambda: self._called(client), out, BackOff(), once=self._once) is None:
            return
        client.loop_start()
        try:
            if not self._over.wait(_FIRST) and not self._answered:
                raise self._no_broker(f"no answer within {_FIRST:.0f} s")
            self._over.wait()
        finally:
            client.disconnect()
            client.loop_stop()
        if self._refused is not None:
            raise self._refused

    def _called(self, client: Any) -> Any:
        try:
            client.connect(self._place.host, self._place.port, _KEEP_ALIVE)
        except (OSError, UnicodeError) as failed:
            raise cannot_connect(self._place.url, failed) from None
        return client

    def resume(self, marks: Sequence[bytes]) -> None:
        self._known.extend(marks)
        self._met = bool(marks)

    def taken(self, where: Sequence[Any]) -> None:
        """It was acknowledged when it was on disk."""

    def _client(self, out: Inbox) -> Any:
        library = self._library
        client = library.Client(
            library.CallbackAPIVersion.VERSION2, client_id=self._session or "",
            clean_session=self._session is None, manual_ack=True,
        )  # fmt: skip
        if self._credentials.user is not None:
            client.username_pw_set(self._credentials.user, self._credentials.password)
        if self._place.secure:
            client.tls_set(ca_certs=self._credentials.ca)
        client.reconnect_delay_set(1, 30)
        client.on_connect = self._connected(out)
        client.on_subscribe = self._subscribed
        client.on_message = self._received(out)
        client.on_disconnect = self._lost(out)
        return client

    def _connected(self, out: Inbox) -> Any:
        def connected(client: Any, _: Any, flags: Any, reason: Any, __: Any) -> None:
            self._answered = True
            if reason.is_failure:
                self._refuse(error("XSCU0003", f"{self._place.url} refuses: {str(reason).lower()}"))
                return
            if flags.session_present:
                return  # the broker knows what we read; it would send retained messages again
            if self._met and self._session is not None:
                out.say(f"{self._place.url}: the broker kept no session; messages may be missing")
            self._met = True
            client.subscribe([(topic, self._qos) for topic in self._topics])

        return connected

    def _subscribed(self, _: Any, __: Any, ___: Any, reasons: Any, ____: Any) -> None:
        """The broker's word on each topic."""
        for topic, reason in zip(self._topics, reasons, strict=True):
            if reason.is_failure:
                said = str(reason).lower()
                self._refuse(error("XSCU0003", f"{self._place.url} refuses {topic}: {said}"))

    def _refuse(self, why: Error) -> None:
        self._refused = self._refused or why
        self._over.set()

    def _no_broker(self, why: str) -> Error:
        return error(
            "XSCU0003", f"{self._place.url} does not answer as a broker of MQTT does: {why}",
            hint="mqtts:// if it speaks TLS" if not self._place.secure else None,
        )  # fmt: skip

    def _received(self, out: Inbox) -> Any:
        def received(client: Any, _: Any, message: Any) -> None:
            def done() -> None:
                client.ack(message.mid, message.qos)

            content = zlib.crc32(message.payload, zlib.crc32(message.topic.encode()))
            mark = f"{message.mid}:{content}".encode() if message.qos else b""
            if message.dup and mark in self._known:
                done()
                return
            if mark:
                self._known.append(mark)
            if message.payload:  # an empty one takes a retained message away
                out.message(bytes(message.payload), done=done, mark=mark)
            else:
                done()

        return received

    def _lost(self, out: Inbox) -> Any:
        def lost(_: Any, __: Any, ___: Any, reason: Any, ____: Any) -> None:
            if not self._answered and not self._over.is_set():
                self._refuse(self._no_broker("the connection was closed"))
            elif reason.is_failure and not self._over.is_set() and self._refused is None:
                out.say(f"{self._place.url}: the connection was lost; reconnecting")

        return lost


def _quality(place: SourceAddress) -> int:
    word = place.options.get("qos", "1")
    if word not in ("0", "1", "2"):
        raise error("XSCU0003", f"qos must be 0, 1 or 2; got {word} ({place.url})")
    return int(word)


def _check_filter(topic: str, url: str) -> None:
    """The wildcard + matches one whole level, and # all levels after it."""
    levels = topic.split("/")
    if any("#" in level for level in levels[:-1]) or any(
        len(level) > 1 and ("+" in level or "#" in level) for level in levels
    ):
        raise error(
            "XSCU0003", f"{url}: {topic} is not a topic: + is a whole level, # the last one"
        )
