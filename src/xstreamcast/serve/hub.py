"""All streams that are cast and all listeners, in one event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import Arrival, Refused
from xstreamcast.serve.carousel import Carousel
from xstreamcast.serve.channel import Channel, Rhythm, wire

_STUCK: Final = 30.0  # seconds after which a listener that reads nothing is disconnected

Send = Callable[[list[bytes]], Awaitable[None]]


@dataclass(slots=True)
class Hub:
    """Streams by name; wakes the listeners that wait for them."""

    streams: Mapping[str, Carousel]
    rhythm: Rhythm = field(default_factory=Rhythm)
    listening: int = 0
    most: int = 0  # listeners at once
    stuck: int = 0
    refused: list[Refused] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _reading: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._reading = set(self.streams)

    def named(self, word: str) -> str | None:
        """The stream that a listener names; without a name, the only stream."""
        name = word.strip("/")
        if not name and len(self.streams) == 1:
            return next(iter(self.streams))
        return name if name in self.streams else None

    def take(self, name: str, arrivals: list[Arrival], ids: Ids) -> None:
        """What arrived on a stream."""
        for arrival in arrivals:
            if isinstance(arrival, Refused):
                self.refused.append(arrival)
            self.streams[name].take(arrival, ids)
        self.wake()

    def read(self, name: str) -> None:
        """A source was read to its end."""
        self._reading.discard(name)
        self.streams[name].ended = True
        self.wake()

    @property
    def done(self) -> bool:
        """Whether all sources have ended."""
        return not self._reading

    def wake(self) -> None:
        """Let everybody look again."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def changed(self, seconds: float | None) -> None:
        """Wait for something new, or for so long."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return

    def arrived(self) -> None:
        """Somebody listens."""
        self.listening += 1
        self.most = max(self.most, self.listening)

    async def feed(self, channel: Channel, send: Send) -> None:
        """Send a channel all that it wants, to the end of the stream; others do not wait."""
        self.arrived()
        try:
            while True:
                batch = channel.next(time.monotonic())
                if batch:
                    await asyncio.wait_for(send([wire(one) for one in batch]), _STUCK)
                elif channel.over:
                    return
                else:
                    await self.changed(channel.wait(time.monotonic()))
        except TimeoutError:
            self.stuck += 1
        finally:
            self.listening -= 1
