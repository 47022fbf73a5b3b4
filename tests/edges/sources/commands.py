"""The command `watch` with a checkpoint, killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.edges.sources.roads import QUERY, answered
from tests.edges.sources.servers import LONG, until


def interruptible() -> None:
    """What is started in the background is deaf to interrupts, and so is all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def watch(
    folder: Path, source: str, *more: str, end: int = signal.SIGKILL, ends: bool = False
) -> Iterator[Sink]:
    """`watch` into folder/out with the checkpoint folder/state, while it is needed.

    `ends`: it may have ended by itself before it is killed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "xstreamcast", "watch", "-q", QUERY, "-i", f"roads={source}"]
    words += ["-o", str(folder / "out"), "--format", "changes"]
    words += ["--checkpoint", str(folder / "state"), *more]
    with open(folder / "err", "ab") as err:
        running = subprocess.Popen(
            words, stderr=err, stdin=subprocess.DEVNULL, env=os.environ, preexec_fn=interruptible
        )
    try:
        yield Sink(folder, running)
    finally:
        running.send_signal(end)
        status = running.wait(LONG)
        assert status in (-end, 130) or (ends and status == 0), (folder / "err").read_text()


class Sink:
    """What a running query has written."""

    def __init__(self, folder: Path, running: subprocess.Popen[bytes]) -> None:
        self._folder, self._running = folder, running

    def lines(self) -> list[str]:
        path = self._folder / "out"
        text = path.read_text() if path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def answer(self) -> list[str]:
        return answered(self.lines())

    def until(self, wanted: list[str]) -> None:
        def there() -> bool:
            assert self._running.poll() is None, (self._folder / "err").read_text()
            return self.answer() == wanted

        until(there, f"the answer {wanted}")

    def until_counted(self, messages: int) -> None:
        """Until so many messages are in the sink for good."""
        path = self._folder / "state" / "journal"

        def there() -> bool:
            ended = self._running.poll() is not None
            counted = path.exists() and path.read_text().count(",-1]") >= messages
            assert counted or not ended, (self._folder / "err").read_text()
            return counted

        until(there, f"{messages} messages that count")
