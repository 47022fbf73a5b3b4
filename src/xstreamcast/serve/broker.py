"""mqtt(s)://HOST/TOPIC: a stream on a broker, which keeps what late listeners need.

TOPIC/structure and TOPIC/f/ID (…/VALID for events and history) are retained: who subscribes to
TOPIC/# gets structure and state from the broker, then what follows. TOPIC/now and TOPIC/eos pass.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote

from xstreamcast.edges.sources.credentials import Credentials
from xstreamcast.edges.sources.extras import needed
from xstreamcast.edges.sources.place import SourceAddress
from xstreamcast.errors import error
from xstreamcast.model.instant import show_instant
from xstreamcast.serve.carousel import Carousel, SentFragment
from xstreamcast.serve.channel import Channel, wire
from xstreamcast.serve.hub import Hub

_TIME: Final = 30.0  # seconds in which a broker must take a message


class BrokerChannel:
    """One stream on one topic."""

    def __init__(
        self, hub: Hub, name: str, place: SourceAddress, known: Credentials, every: bool
    ) -> None:
        self._hub, self._place, self._every = hub, place, every
        self._carousel: Carousel = hub.streams[name]
        topic = place.path.strip("/")
        if not topic:
            raise error("XSCU0003", f"{place.url} names no topic", hint="mqtt://HOST/TOPIC")
        self._topic = topic if len(hub.streams) == 1 else f"{topic}/{name}"
        self._client = self._connected(known)
        self._last: dict[str, int] = {}  # what a topic retains
        self._gone: list[SentFragment] = []
        self._running: asyncio.Task[None] | None = None
        self._carousel.on_drop = self._gone.append

    def _connected(self, known: Credentials) -> Any:
        library = needed("paho.mqtt.client")
        client = library.Client(library.CallbackAPIVersion.VERSION2)
        if known.user is not None:
            client.username_pw_set(known.user, known.password)
        if self._place.secure:
            client.tls_set(ca_certs=known.ca)
        client.max_inflight_messages_set(1000)
        try:
            client.connect(self._place.host, self._place.port)
        except OSError as failed:
            why = failed.strerror or failed
            raise error("XSCU0003", f"cannot connect to {self._place.url}: {why}") from None
        client.loop_start()
        return client

    async def start(self) -> None:
        self._running = asyncio.create_task(self._feed())

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
        self._client.disconnect()
        self._client.loop_stop()

    async def _feed(self) -> None:
        channel = Channel(self._carousel, self._hub.rhythm)
        self._hub.arrived()
        while not channel.over:
            batch = channel.next(time.monotonic())
            if not batch:
                await self._hub.changed(channel.wait(time.monotonic()))
                continue
            said = [self._client.publish(*one) for one in self._messages(batch)]
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, lambda made: made.wait_for_publish(_TIME), said[-1])
        self._hub.listening -= 1

    def _messages(
        self, batch: list[SentFragment | bytes]
    ) -> Iterator[tuple[str, bytes, int, bool]]:
        """(topic, content, QoS, retained) of a batch, then of what is retained no more."""
        for one in batch:
            if isinstance(one, SentFragment):
                topic = self._topic_of(one)
                self._last[topic] = one.seq
                yield topic, wire(one), 1, True
            else:
                word = "structure" if b"structure" in one[:20] else "now"
                word = "eos" if one == self._carousel.end_bytes else word
                yield f"{self._topic}/{word}", one, 1, word == "structure"
        gone, self._gone[:] = list(self._gone), []
        for item in gone:
            topic = self._topic_of(item)
            if self._last.get(topic) == item.seq:
                del self._last[topic]
                yield topic, b"", 1, True

    def _topic_of(self, item: SentFragment) -> str:
        topic = f"{self._topic}/f/{quote(item.key, safe='')}"
        if self._every or self._carousel.is_event(item):
            return f"{topic}/{quote(show_instant(item.valid), safe='')}"
        return topic
