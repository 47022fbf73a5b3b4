"""ws:// and server-sent events on one port; a plain GET returns the kept fragments as a document.

GET /            the names of the streams
GET /NAME        structure and fragments; with Accept: text/event-stream, as they come
ws /NAME?since=N what is newer than N, then what comes
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from typing import Any

from xstreamcast.edges.sources.extras import needed
from xstreamcast.edges.wire.encoder import CLOSE, OPEN
from xstreamcast.errors import error
from xstreamcast.serve.channel import Channel, wire
from xstreamcast.serve.hub import Hub


class WebServer:
    """A server of a hub's streams."""

    def __init__(self, hub: Hub, host: str, port: int) -> None:
        self._hub, self.host, self.port = hub, host, port
        self._uvicorn = needed("uvicorn")
        self._server: Any = None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen; `port` is the actual port if 0 was requested."""
        try:
            bound = socket.create_server((self.host, self.port), backlog=2048)
        except OSError as failed:
            where = f"{self.host}:{self.port}"
            raise error("XSCU0003", f"cannot listen at {where}: {failed.strerror}") from None
        self.port = bound.getsockname()[1]
        config = self._uvicorn.Config(
            self._app(), log_config=None, lifespan="off", access_log=False, ws="websockets-sansio",
            ws_per_message_deflate=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = self._uvicorn.Server(config)
        self._server.capture_signals = nullcontext  # the caller handles them
        self._running = asyncio.create_task(self._server.serve([bound]))

    async def stop(self) -> None:
        """Close, after listeners have received what was sent."""
        if self._server is not None and self._running is not None:
            self._server.should_exit = True
            await self._running

    def _app(self) -> Any:
        from starlette.applications import Starlette
        from starlette.routing import Route, WebSocketRoute

        return Starlette(
            routes=[WebSocketRoute("/{name:path}", self._socket), Route("/{name:path}", self._get)]
        )

    async def _socket(self, peer: Any) -> None:
        from starlette.websockets import WebSocketDisconnect

        name = self._hub.named(peer.path_params["name"])
        await peer.accept()
        if name is None:
            await peer.close(4404, f"the streams are {', '.join(self._hub.streams)}")
            return
        channel = self._channel(name, peer.query_params.get("since", "0"))
        gone = asyncio.create_task(_gone(peer))

        async def send(lines: list[bytes]) -> None:
            mark = b"<?reached %d?>\n" % channel.reached()
            await peer.send_text(b"".join([*lines, mark]).decode())

        feeding = asyncio.create_task(self._hub.feed(channel, send))
        with suppress(WebSocketDisconnect, RuntimeError, OSError):
            await asyncio.wait({gone, feeding}, return_when=asyncio.FIRST_COMPLETED)
            if feeding.done():
                feeding.result()
                await peer.close(1000 if channel.over else 1013)
        for task in (gone, feeding):
            task.cancel()
        await asyncio.gather(gone, feeding, return_exceptions=True)

    def _channel(self, name: str, since: str) -> Channel:
        number = int(since) if since.isdigit() else 0
        return Channel(self._hub.streams[name], self._hub.rhythm, number)

    async def _get(self, request: Any) -> Any:
        from starlette.responses import PlainTextResponse, Response, StreamingResponse

        name = self._hub.named(request.path_params["name"])
        if name is None:
            listed = "".join(f"/{one}\n" for one in self._hub.streams)
            found = not request.path_params["name"]
            return PlainTextResponse(listed, 200 if found else 404)
        if "text/event-stream" in request.headers.get("accept", ""):
            last = request.headers.get("last-event-id", "0")
            headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
            channel = self._channel(name, last)
            if channel.finished:
                return Response(status_code=204)  # how events say: do not come back
            events = self._events(channel)
            return StreamingResponse(events, media_type="text/event-stream", headers=headers)
        return Response(_document(Channel(self._hub.streams[name])), media_type="application/xml")

    async def _events(self, channel: Channel) -> AsyncIterator[bytes]:
        """Events, one for each batch, whose numbers are resend points."""
        lines: asyncio.Queue[list[bytes] | None] = asyncio.Queue(1)

        async def feed() -> None:
            try:
                await self._hub.feed(channel, lines.put)
            finally:
                with suppress(asyncio.CancelledError):
                    await lines.put(None)

        feeding = asyncio.create_task(feed())
        try:
            while (batch := await lines.get()) is not None:
                text = b"".join(batch)
                data = b"".join(b"data: " + line + b"\n" for line in text.split(b"\n") if line)
                yield b"id: %d\n" % channel.reached() + data + b"\n"
        finally:
            feeding.cancel()


async def _gone(peer: Any) -> None:
    """Return when the listener disconnects; its messages are ignored."""
    while (await peer.receive())["type"] != "websocket.disconnect":
        pass


def _document(channel: Channel) -> bytes:
    """All that is kept, as one document."""
    channel.most = 1 << 62
    parts = [wire(one) for one in channel.next(0.0)]
    return OPEN + b"".join(parts) + CLOSE
