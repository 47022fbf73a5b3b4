"""A server of HTTP and WebSockets on one port, in the event loop of its caller."""

from __future__ import annotations

import asyncio
import socket
from abc import ABC, abstractmethod
from contextlib import nullcontext
from typing import Any, Final

from xstreamcast.edges.sources.extras import needed
from xstreamcast.errors import error
from xstreamcast.serve.listeners import STUCK

_UNREAD: Final = "TCP_USER_TIMEOUT"  # not every system has it


class HttpServer(ABC):
    """Listens at a host and a port; `_app` answers."""

    def __init__(self, host: str, port: int, most: int | None = None) -> None:
        """`most`: connections at once."""
        self.host, self.port, self._most = host, port, most
        self._uvicorn = needed("uvicorn")
        self._server: Any = None
        self._running: asyncio.Task[None] | None = None

    @abstractmethod
    def _app(self) -> Any:
        """The application."""

    async def start(self) -> None:
        """Listen; `port` is the actual port if 0 was requested."""
        bound = self._bound()
        self.port = bound.getsockname()[1]
        config = self._uvicorn.Config(
            self._app(), log_config=None, lifespan="off", access_log=False, ws="websockets-sansio",
            ws_per_message_deflate=False, timeout_graceful_shutdown=1, server_header=False,
            limit_concurrency=self._most,
        )  # fmt: skip
        self._server = self._uvicorn.Server(config)
        self._server.capture_signals = nullcontext  # the caller handles them
        self._running = asyncio.create_task(self._server.serve([bound]))

    def _bound(self) -> socket.socket:
        try:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            bound = socket.create_server((self.host, self.port), family=family, backlog=2048)
        except OSError as failed:
            where = f"{self.host}:{self.port}"
            raise error("XSCU0003", f"cannot listen at {where}: {failed.strerror}") from None
        if hasattr(socket, _UNREAD):  # connections whose peer reads nothing are closed
            bound.setsockopt(socket.IPPROTO_TCP, getattr(socket, _UNREAD), int(2000 * STUCK))
        return bound

    async def stop(self) -> None:
        """Close, after listeners have received what was sent."""
        if self._server is not None and self._running is not None:
            self._server.should_exit = True
            await self._running
