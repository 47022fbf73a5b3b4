"""A process for each query, ended from outside when a size takes too much processor time.

The limit must not be set in the process itself: while RLIMIT_CPU is set, and after it is lifted,
Linux advances the process's own clock by scheduler ticks (4 ms), and short times read as zero.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

from bench.growth.measure import OUT_OF_MEMORY, Found, from_json

CHECKOUT = Path(__file__).parents[2]
LOOK = 0.2  # seconds between two looks at the clock of the other process


class Watched:
    """A process that writes lines, and may use so many seconds of processor time for each."""

    def __init__(self, words: list[str], seconds: float) -> None:
        command = [sys.executable, "-m", "bench.growth.worker", *words]
        self.seconds = seconds
        self.ended = False  # by us, because a line took too long
        self._allowed = seconds
        self._done = Event()
        self._process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)

    def lines(self) -> Iterator[str]:
        """What it writes until it ends, or is ended."""
        watching = Thread(target=self._watch, daemon=True)
        watching.start()
        with self._process as process:
            assert process.stdout is not None
            for line in process.stdout:
                self._allowed = self._used() + self.seconds
                yield line
            self.status = process.wait()
        self._done.set()
        watching.join()

    def _watch(self) -> None:
        while not self._done.wait(LOOK) and self._process.poll() is None:
            if self._used() > self._allowed:
                self.ended = True
                self._process.kill()

    def _used(self) -> float:
        """Its processor time so far; nothing of a process that has ended meanwhile."""
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return 0.0
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def found(words: list[str], seconds: int, gigabytes: int) -> tuple[list[Found], str]:
    """What a process found out, and why it went no further."""
    watched = Watched(words, seconds)
    results = [from_json(line) for line in watched.lines() if line.strip()]
    if watched.ended:
        return results, f"> {seconds} s"
    reasons = {0: "", OUT_OF_MEMORY: f"> {gigabytes} GB"}
    return results, reasons.get(watched.status, "failed")
