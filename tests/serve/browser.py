"""A real browser for a test: a page is opened in it, and asked what it shows."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.edges.sources.servers import LONG, free_port, until


class Page:
    """One page of a browser, by its debugging protocol."""

    def __init__(self, connection: Any) -> None:
        self._connection, self._number = connection, 0
        self.mistakes: list[str] = []  # what the browser complained about
        for domain in ("Runtime", "Log", "Page"):
            self._call(f"{domain}.enable")

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        sent = {"id": self._number, "method": method, "params": parameters}
        self._connection.send(json.dumps(sent))
        while True:
            said = json.loads(self._connection.recv(LONG))
            if said.get("id") == self._number:
                return said["result"]
            if said.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.mistakes.append(json.dumps(said["params"]))

    def open(self, url: str) -> None:
        self._call("Page.navigate", url=url)

    def value(self, script: str) -> Any:
        """What an expression is in the page."""
        return self._call("Runtime.evaluate", expression=script)["result"].get("value")

    def until(self, script: str) -> None:
        until(lambda: bool(self.value(script)), script)

    def text(self, id: str) -> str:
        return str(self.value(f"document.getElementById('{id}').innerText"))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A page of Chromium, if it is installed."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("chromium is not installed")
    from websockets.sync.client import connect

    port = free_port()
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/browser"]
    words += [f"--remote-debugging-port={port}", "about:blank"]
    running = subprocess.Popen([program, *words], stderr=subprocess.DEVNULL)
    try:
        found: list[str] = []

        def listens() -> bool:
            try:
                tabs = httpx.get(f"http://127.0.0.1:{port}/json").json()
            except httpx.HTTPError:
                return False
            found[:] = [one["webSocketDebuggerUrl"] for one in tabs if one["type"] == "page"]
            return bool(found)

        until(listens, "a browser that listens")
        with connect(found[0], max_size=None, proxy=None, origin=None) as connection:
            yield Page(connection)
    finally:
        running.terminate()
        running.wait(LONG)
