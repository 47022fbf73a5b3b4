"""Sources, each read by its own thread, and cast to all listeners."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from xstreamcast.edges.sources.credentials import credentials
from xstreamcast.edges.sources.place import is_place, place_of, shown
from xstreamcast.errors import error
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import Arrival
from xstreamcast.serve.broker import BrokerChannel
from xstreamcast.serve.carousel import Carousel, Keep
from xstreamcast.serve.channel import Rhythm
from xstreamcast.serve.hub import Hub
from xstreamcast.serve.reading import read_into
from xstreamcast.serve.sockets import SocketServer
from xstreamcast.serve.web import WebServer

_SSE: Final = "sse"
_HOST, _PORT = "127.0.0.1", 8090


class CastTarget(Protocol):
    """Something that a stream is cast to."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


@dataclass(slots=True)
class Casting:
    """Sources by name, cast to targets: ws://HOST:PORT, sse, tcp://HOST:PORT, mqtt://HOST/TOPIC."""

    sources: Mapping[str, Any]
    targets: list[str]
    rhythm: Rhythm = field(default_factory=Rhythm)
    keep: Keep = "current"
    priorities: Mapping[str, int] = field(default_factory=dict)
    structure: str | None = None
    follow: bool = False
    stay: bool = True  # for late listeners, after the sources have ended and all were served
    say: Callable[[str], None] = lambda _: None
    hub: Hub = field(init=False)
    failed: BaseException | None = None
    _closed: threading.Event = field(default_factory=threading.Event)
    _loop: asyncio.AbstractEventLoop | None = None

    async def run(self, seconds: float | None = None) -> None:
        """Cast until stopped, until the time limit, or until everything was sent."""
        self._loop = asyncio.get_running_loop()
        made = {name: Carousel(self.keep, self.priorities) for name in self.sources}
        self.hub = Hub(streams=made, rhythm=self.rhythm)
        targets = self._targets()
        started: list[CastTarget] = []
        try:
            for target in targets:
                await target.start()
                started.append(target)
            for line in self._addresses(targets):
                self.say(line)
            for name in self.sources:
                threading.Thread(target=self._read, args=(name,), daemon=True).start()
            await self._until_done(seconds)
        finally:
            self._closed.set()
            for target in started:
                await target.stop()
        if self.failed is not None:
            raise self.failed

    def stop(self) -> None:
        """From any thread."""
        self._closed.set()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.hub.wake)

    # -- sources ----------------------------------------------------------------------------------

    def _read(self, name: str) -> None:
        """In a thread: pass arrivals to the event loop, and wait for it."""

        def receive(arrivals: list[Arrival], ids: Ids) -> None:
            self._in_loop(lambda: self.hub.take(name, arrivals, ids))

        try:
            read_into(
                receive, name, self.sources[name], follow=self.follow, structure=self.structure,
                closed=self._closed.is_set,
            )  # fmt: skip
            self._in_loop(lambda: self.hub.read(name))
        except BaseException as failed:
            if not self._closed.is_set():
                self.failed = failed
                self.stop()

    def _in_loop(self, action: Callable[[], None]) -> None:
        """Run a function in the event loop, and return when it is done."""
        assert self._loop is not None
        done: Future[None] = Future()

        def act() -> None:
            try:
                action()
                done.set_result(None)
            except BaseException as failed:
                done.set_exception(failed)

        self._loop.call_soon_threadsafe(act)
        while not self._closed.is_set():
            with suppress(TimeoutError):
                return done.result(1.0)

    async def _until_done(self, seconds: float | None) -> None:
        end = None if seconds is None else asyncio.get_running_loop().time() + seconds
        while not self._closed.is_set():
            left = None if end is None else end - asyncio.get_running_loop().time()
            if left is not None and left <= 0:
                return
            if self.hub.done and not self.stay and self.hub.most and not self.hub.listening:
                return
            await self.hub.changed(0.25 if left is None else min(left, 0.25))

    # -- targets ----------------------------------------------------------------------------------

    def _targets(self) -> list[CastTarget]:
        made: list[CastTarget] = []
        web: dict[tuple[str, int], WebServer] = {}
        for word in self.targets:
            match _target(word):
                case ("web", host, port):
                    if (host, port) not in web:
                        web[host, port] = WebServer(self.hub, host, port)
                        made.append(web[host, port])
                case ("tcp", host, port):
                    made.append(SocketServer(self.hub, host, port))
                case _:
                    place = place_of(word)
                    made += [
                        BrokerChannel(self.hub, n, place, credentials(place, n), self.keep == "all")
                        for n in self.sources
                    ]
        return made

    def _addresses(self, targets: list[CastTarget]) -> list[str]:
        said = []
        for target in targets:
            for name in self.sources if not isinstance(target, BrokerChannel) else ():
                if isinstance(target, WebServer):
                    at = f"{target.host}:{target.port}/{name}"
                    said.append(f"casting {name} at ws://{at} and http://{at}")
                elif isinstance(target, SocketServer):
                    said.append(f"casting {name} at tcp://{target.host}:{target.port}/{name}")
        said += [f"casting to {shown(word)}" for word in self.targets if word.startswith("mqtt")]
        return said


def _target(word: str) -> tuple[str, str, int]:
    """What a word of --to means: a kind of server, and where it listens."""
    if word == _SSE:
        return "web", _HOST, _PORT
    plain = f"http://{word.removeprefix('sse://')}" if word.startswith("sse://") else word
    if not is_place(plain) or plain.startswith("kafka"):
        raise error(
            "XSCU0001", f"--to must be ws://HOST:PORT, sse, tcp://HOST:PORT or mqtt://HOST/TOPIC; "
            f"got {shown(word)}",
        )  # fmt: skip
    place = place_of(plain)
    if place.scheme == "mqtt":
        return "mqtt", place.host, place.port
    if place.secure:
        raise error(
            "XSCU0001", f"{shown(word)}: put a proxy that speaks TLS before ws:// or tcp://"
        )
    return ("tcp" if place.scheme == "tcp" else "web"), place.host, place.port
