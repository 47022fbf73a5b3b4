"""Servers of answers: in a thread of the test, or as a command; and clients that follow them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx

from tests.edges.sources.commands import interruptible
from tests.edges.sources.servers import LONG, until
from xstreamcast.cli import serve
from xstreamcast.cli.arguments import parser
from xstreamcast.cli.log import CommandLog
from xstreamcast.edges.changes import ChangeReader
from xstreamcast.edges.sources.events import EventReader
from xstreamcast.serve.serving import Serving

COUNT = 'count(stream("roads")//incident?[now])'


class Server:
    """A server, as its clients see it."""

    def __init__(self, url: str, serving: Serving | None = None) -> None:
        self.url, self.serving = url.rstrip("/"), serving

    def get(self, path: str, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.get(self.url + path, headers=named, timeout=LONG)

    def items(self, name: str) -> list[str]:
        """The current answer."""
        response = self.get(f"/queries/{name}?format=json")
        return list(response.json()) if response.status_code == 200 else [response.text]

    def until(self, name: str, wanted: list[str]) -> None:
        until(lambda: self.items(name) == wanted, f"the answer {wanted}")

    def state(self, name: str) -> Any:
        listed = self.get("/queries").json()["queries"]
        return next(one for one in listed if one["name"] == name)


class Growing:
    """A file that grows while it is followed."""

    def __init__(self, folder: Path, *messages: bytes) -> None:
        self.path = folder / "roads.xml"
        self.path.write_bytes(b"".join(messages))

    def say(self, *messages: bytes) -> None:
        with open(self.path, "ab") as file:
            file.write(b"".join(messages))

    @property
    def words(self) -> list[str]:
        return ["-i", f"roads={self.path}", "--follow"]


def queries(folder: Path, **texts: str) -> list[str]:
    """Files with queries."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.xq").write_text(text)
    return [str(folder / f"{name}.xq") for name in texts]


@contextmanager
def served(*words: str) -> Iterator[Server]:
    """The command in a thread, without its signals."""
    arguments = parser("serve", "")
    serve.add_arguments(arguments)
    parsed = arguments.parse_args(["--listen", "127.0.0.1:0", *words])
    serving = serve._serving(parsed, None, CommandLog("text"))
    said: list[str] = []
    failed: list[BaseException] = []
    serving.say = said.append

    def run() -> None:
        try:
            asyncio.run(serving.run(LONG))
        except BaseException as caught:
            failed.append(caught)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        until(lambda: bool(failed or said), "a server that listens")
        if failed:
            raise failed[0]
        yield Server(said[0].split()[-1], serving)
    except httpx.HTTPError as lost:
        raise (failed or [lost])[0] from lost
    finally:
        serving.stop()
        thread.join(LONG)
    assert not thread.is_alive()
    if failed:
        raise failed[0]


class Command:
    """The command as a process."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._log = folder / f"log-{len(list(folder.glob('log-*')))}"
        line = [sys.executable, "-m", "xstreamcast", "serve", "--listen", "127.0.0.1:0", *words]
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                line, stderr=log, stdin=subprocess.DEVNULL, env=os.environ,
                preexec_fn=interruptible,
            )  # fmt: skip

    def said(self) -> str:
        return self._log.read_text()

    def server(self) -> Server:
        """Where it listens, once it does."""

        def listens() -> bool:
            assert self.process.poll() is None, self.said()
            return " at http://" in self.said()

        until(listens, "a server that listens")
        return Server(self.said().partition(" at ")[2].split()[0])

    def end(self, number: int = signal.SIGKILL) -> int:
        self.process.send_signal(number)
        return self.process.wait(LONG)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(LONG)


class Client:
    """Follows an answer; what it knows survives its connections."""

    def __init__(self, name: str) -> None:
        self.name, self.answer, self._events = name, ChangeReader(), EventReader()
        self.restarts = self.connections = self.changes = 0

    @property
    def last(self) -> str:
        return self._events.id.decode()

    def items(self) -> list[str]:
        return self.answer.items()

    @contextmanager
    def connected(self, server: Server) -> Iterator[Iterator[None]]:
        """Something that can be advanced to the next event."""
        headers = {"Last-Event-ID": self.last} if self.last else {}
        url = f"{server.url}/queries/{self.name}/changes"
        with httpx.stream("GET", url, headers=headers, timeout=LONG) as response:
            self.connections += 1
            assert response.status_code in (200, 204), response.read()
            with closing(self._took(response)) as events:
                yield events

    def _took(self, response: httpx.Response) -> Generator[None]:
        for chunk in response.iter_bytes():
            for event in self._events.feed(chunk):
                self._take(event.data)
                yield

    def _take(self, data: bytes) -> None:
        for line in data.split(b"\n"):
            self.restarts += json.loads(line)["diff"] == 0
            self.changes += len(self.answer.changes(line))

    def until(self, server: Server, wanted: list[str]) -> None:
        """Follow until the answer is this one."""
        with self.connected(server) as events:
            while not (self.connections and self.last and self.items() == wanted):
                assert next(events, "end") is None, f"it ended with {self.items()}"
