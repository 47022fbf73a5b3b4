"""ws:// and server-sent events on one port; a plain GET returns the kept fragments as a document.

GET /            the names of the streams
GET /NAME        structure and fragments; with Accept: text/event-stream, as they come
ws /NAME?since=N what is newer than N, then what comes
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from xstreamcast.edges.wire.encoder import CLOSE, OPEN
from xstreamcast.serve.channel import Channel, wire
from xstreamcast.serve.events import UNSTORED, event_stream
from xstreamcast.serve.http_server import HttpServer
from xstreamcast.serve.hub import Hub


class WebServer(HttpServer):
    """A server of a hub's streams."""

    def __init__(self, hub: Hub, host: str, port: int) -> None:
        super().__init__(host, port)
        self._hub = hub

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
            channel = self._channel(name, last)
            if channel.finished:
                return Response(status_code=204)  # how events say: do not come back
            events = event_stream(self._hub, channel, partial(_event, channel))
            return StreamingResponse(events, media_type="text/event-stream", headers=UNSTORED)
        return Response(_document(Channel(self._hub.streams[name])), media_type="application/xml")


def _event(channel: Channel, lines: list[bytes]) -> bytes:
    """An event for a batch, whose number is a resend point."""
    data = b"".join(b"data: " + line + b"\n" for line in b"".join(lines).split(b"\n") if line)
    return b"id: %d\n" % channel.reached() + data + b"\n"


async def _gone(peer: Any) -> None:
    """Return when the listener disconnects; its messages are ignored."""
    while (await peer.receive())["type"] != "websocket.disconnect":
        pass


def _document(channel: Channel) -> bytes:
    """All that is kept, as one document."""
    channel.most = 1 << 62
    parts = [wire(one) for one in channel.next(0.0)]
    return OPEN + b"".join(parts) + CLOSE
