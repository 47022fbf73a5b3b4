"""Listeners of an event loop: each is sent what its channel has next; none waits for others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from xstreamcast.serve.carousel import SentFragment
from xstreamcast.serve.channel import wire

STUCK: Final = 30.0  # seconds after which a listener that reads nothing is disconnected

Send = Callable[[list[bytes]], Awaitable[None]]


class ListenerChannel(Protocol):
    """A place in a stream: what its listener is sent next."""

    over: bool

    def next(self, now: float) -> Sequence[SentFragment | bytes]:
        """What to send now; nothing if there is nothing."""

    def wait(self, now: float) -> float | None:
        """Seconds until there may be something to send although nothing arrived."""


@dataclass(slots=True)
class Listeners:
    """Wakes listeners when there may be something for them, and counts them."""

    listening: int = 0
    most: int = 0  # listeners at once
    stuck: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

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
        """A listener has come."""
        self.listening += 1
        self.most = max(self.most, self.listening)

    async def feed(self, channel: ListenerChannel, send: Send) -> None:
        """Send a channel all that it wants, to the end of the stream; others do not wait."""
        self.arrived()
        try:
            while True:
                batch = channel.next(time.monotonic())
                if batch:
                    await asyncio.wait_for(send([wire(one) for one in batch]), STUCK)
                elif channel.over:
                    return
                else:
                    await self.changed(channel.wait(time.monotonic()))
        except TimeoutError:
            self.stuck += 1
        finally:
            self.listening -= 1
