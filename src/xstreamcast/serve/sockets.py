"""tcp://HOST:PORT: a plain socket for each listener.

If several streams are cast, a listener first sends the name of one: `tune NAME`, and a line end.
If there is only one, it need not send anything.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from xstreamcast.errors import error
from xstreamcast.serve.channel import Channel
from xstreamcast.serve.hub import Hub

_PATIENCE: Final = 10.0  # seconds in which a listener must send its choice


class SocketServer:
    """A server of a hub's streams."""

    def __init__(self, hub: Hub, host: str, port: int) -> None:
        self._hub, self.host, self.port = hub, host, port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen; `port` is the actual port if 0 was requested."""
        try:
            self._server = await asyncio.start_server(self._met, self.host, self.port, backlog=2048)
        except OSError as failed:
            where = f"{self.host}:{self.port}"
            raise error("XSCU0003", f"cannot listen at {where}: {failed.strerror}") from None
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = self._hub.named("")
        if name is None:
            word = await asyncio.wait_for(reader.readline(), _PATIENCE)
            name = self._hub.named(word.decode(errors="replace").removeprefix("tune ").strip())
        if name is None:
            writer.write(f"<!-- the streams are {', '.join(self._hub.streams)} -->\n".encode())
            await writer.drain()
            return

        async def send(lines: list[bytes]) -> None:
            writer.write(b"".join(lines))
            await writer.drain()

        await self._hub.feed(Channel(self._hub.streams[name], self._hub.rhythm), send)
