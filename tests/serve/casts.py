"""A server that casts, in a thread of the test, and a proxy that loses what it passes on."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.edges.sources.servers import LONG, until, websocket
from xstreamcast.serve.casting import Casting


@contextmanager
def cast(**options: Any) -> Iterator[tuple[Casting, list[str]]]:
    """A server, and the addresses that it says."""
    said: list[str] = []
    casting = Casting(say=said.append, **options)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(casting.run(LONG))
        except BaseException as caught:
            failed.append(caught)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        until(lambda: bool(failed) or len(said) >= len(options["targets"]), "a server that listens")
        if failed:
            raise failed[0]
        yield casting, [address for line in said for address in line.split() if "://" in address]
    finally:
        casting.stop()
        thread.join(LONG)
    assert not thread.is_alive()
    if failed:
        raise failed[0]


class Proxy:
    """Passes on what a server sends, line by line: some of it, some twice, in another order."""

    def __init__(self, url: str, seed: int) -> None:
        self._url, self._chance = url, random.Random(seed)
        self.calm = threading.Event()  # from now on nothing is lost
        self.dropped = self.repeated = self.passed = 0

    def __call__(self, listener: Any) -> None:
        from websockets.exceptions import ConnectionClosed
        from websockets.sync.client import connect

        held: list[str] = []
        with connect(self._url, max_size=None, proxy=None) as server:
            try:
                for message in server:
                    for line in str(message).splitlines(keepends=True):
                        self._hold(held, line)
                    self._pass_on(listener, held, 12 if not self.calm.is_set() else 0)
                self._pass_on(listener, held, 0)
            except ConnectionClosed:
                return

    def _hold(self, held: list[str], line: str) -> None:
        if self.calm.is_set() or not line.startswith("<stream:"):
            held.append(line)
            return
        for _ in range(1 + (self._chance.random() < 0.3)):
            if self._chance.random() < 0.3:
                self.dropped += 1
            else:
                held.insert(self._chance.randint(max(0, len(held) - 10), len(held)), line)

    def _pass_on(self, listener: Any, held: list[str], left: int) -> None:
        while len(held) > left:
            self.passed += 1
            listener.send(held.pop(0))


@contextmanager
def lossy(url: str, seed: int = 1) -> Iterator[tuple[Proxy, str]]:
    proxy = Proxy(url, seed)
    with websocket(proxy) as address:
        yield proxy, address
