"""Queries left running in a thread, and a server of their answers in an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import Error
from xstreamcast.serve.answering import AnswerServer, is_loopback
from xstreamcast.serve.circuits import circuit_text
from xstreamcast.serve.served import Served

if TYPE_CHECKING:
    from xstreamcast.edges.watching import Watching
    from xstreamcast.operators.watching.query_set import QuerySet


_PATIENCE: Final = 5.0  # seconds for what is at hand; an input that never begins may hold it up


@dataclass(slots=True)
class Serving:
    """Answers that are served at a host and a port while their inputs are read, and after that.

    `watching` is set before it runs; its options name `release`, `fail` and `measure`.
    """

    served: Served
    host: str
    port: int
    clients: int
    queries: QuerySet
    say: Callable[[str], None] = lambda _: None
    began: Callable[[Watching], None] = lambda _: None  # the inputs have begun, and nothing came
    watching: Watching | None = None
    failed: BaseException | None = None
    _stopped: asyncio.Event | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _closed: threading.Event = field(default_factory=threading.Event)
    _waking: bool = False

    async def run(self, seconds: float | None = None) -> None:
        """Serve until stopped, until the time limit, or until the inputs fail."""
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        server = AnswerServer(
            self.served, self.host, self.port, self.clients, self._circuit
        )  # fmt: skip
        await server.start()
        self.port = server.port
        count = len(self.served.texts)
        queries = "1 query" if count == 1 else f"{count} queries"
        self.say(f"serving {queries} at http://{self._shown_host}:{self.port}/")
        if not is_loopback(self.host):
            self.say("everyone who can connect to this address can read the answers")
        thread = threading.Thread(target=self._read, daemon=True)
        thread.start()
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._closed.set()
            if self.watching is not None:
                self.watching.stop()
            self.served.answers.closing = True
            self.served.listeners.wake()
            await server.stop()
            await asyncio.shield(asyncio.to_thread(thread.join, _PATIENCE))
        if self.failed is not None:
            raise self.failed

    def _circuit(self, name: str) -> str:
        assert self.watching is not None
        return circuit_text(self.watching, self.queries, name)

    @property
    def _shown_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    def stop(self) -> None:
        """From any thread, or from a signal."""
        if self._loop is not None and self._stopped is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopped.set)

    # -- the thread that reads --------------------------------------------------------------------

    def _read(self) -> None:
        """Run the queries to the end of their inputs, or until stopped."""
        assert self.watching is not None
        answers = self.served.answers
        try:
            with closing(self.watching), closing(self.watching.ticks()) as ticks:
                self.watching.begin()
                self.began(self.watching)
                answers.started = True
                self._wake()
                for changes in ticks:
                    if answers.take(changes):
                        self._wake()
            assert self.watching.options.metrics is not None
            self.watching.options.metrics.write(self.watching)
            if not self._closed.is_set():
                answers.release()
                answers.ended = True
                self._wake()
        except BaseException as failed:
            if not self._closed.is_set():
                self.failed = failed
                self.stop()

    def release(self) -> None:
        """What was emitted counts: clients may see it."""
        if self.served.answers.release():
            self._wake()

    def fail(self, program: str, why: Error) -> None:
        """A program stopped, and the queries that it answers have failed."""
        own = self.queries.answered.get(program)
        with self.served.answers.lock:
            for name in () if own is None else own.names:
                self.served.answers.of[name].failed = why
        for name in () if own is None else own.names:
            self.say(f"{name} failed: {why}")
        self._wake()

    def measure(self, numbers: dict[str, Any]) -> None:
        """The numbers of the queries as they are now."""
        self.served.measured = numbers

    def _wake(self) -> None:
        """Let clients look, once for all that came since they last did."""
        if self._waking or self._loop is None or self._loop.is_closed():
            return
        self._waking = True
        self._loop.call_soon_threadsafe(self._woken)

    def _woken(self) -> None:
        self._waking = False
        self.served.listeners.wake()
