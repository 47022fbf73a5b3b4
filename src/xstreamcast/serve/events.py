"""Server-sent events: what a channel has for its listener, as a response that does not end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final

from xstreamcast.serve.listeners import ListenerChannel, Listeners

UNSTORED: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def event_stream(
    listeners: Listeners, channel: ListenerChannel, event: Callable[[list[bytes]], bytes]
) -> AsyncIterator[bytes]:
    """Events, one for each batch of a channel, in the form that `event` gives them."""
    events: asyncio.Queue[bytes | None] = asyncio.Queue(1)

    async def send(lines: list[bytes]) -> None:
        await events.put(event(lines))  # now: its number must not be that of a later batch

    async def feed() -> None:
        try:
            await listeners.feed(channel, send)
        finally:
            with suppress(asyncio.CancelledError):
                await events.put(None)

    feeding = asyncio.create_task(feed())
    try:
        while (one := await events.get()) is not None:
            yield one
    finally:
        feeding.cancel()
