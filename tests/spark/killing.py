"""Commands that are killed at some moment, all of them or one of the processes they started."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 300.0  # seconds


def ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for a process to end, no longer than this → whether it has ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Job:
    """A command that goes on where it stopped, and the checkpoint of its streaming query."""

    words: tuple[str, ...]
    checkpoint: Path
    module: str = "xstreamcast"  # that is run

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", self.module, *self.words]
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )

    def begun(self) -> int:
        """How many batches Spark has begun."""
        offsets = self.checkpoint / "offsets"
        names = os.listdir(offsets) if offsets.exists() else []
        return max((int(name) + 1 for name in names if name.isdigit()), default=0)

    def wait(self, process: subprocess.Popen[bytes], count: int, rest: float) -> bool:
        """Wait for so many batches and a part of the next one → whether it is still at it."""
        until = time.monotonic() + PATIENCE
        while self.begun() < count and not ends_within(process, 0.02):
            assert time.monotonic() < until, "nothing happens"
        return not ends_within(process, rest)

    def kill(self, count: int, rest: float) -> None:
        """Start it, wait, and kill it with all that it started."""
        process = self.start()
        try:
            self.wait(process, count, rest)
        finally:
            said = _killed(process)
        assert process.returncode == -signal.SIGKILL, f"it ended before it was killed: {said}"

    def kill_worker(self, count: int, rest: float, dice: random.Random) -> int:
        """Start it, wait, kill one of its Python processes, then a bit later all → its exit code.

        It may go on without that one, or end and say so.
        """
        process = self.start()
        try:
            if self.wait(process, count, rest):
                kill_one(process.pid, dice)
                self.wait(process, count + 2, rest)
        finally:
            said = _killed(process)
        assert "Traceback" not in said, said
        assert "\tat " not in said, said
        return int(process.returncode)

    def finish(self, hurt: tuple[tuple[int, float], ...] = ()) -> str:
        """Start it until it ends well, and meanwhile kill some of its workers → what it says."""
        left, said = list(hurt), ""
        for _ in range(len(left) + 1):
            process = self.start()
            try:
                self._hurt(process, left)
                said = process.communicate(timeout=PATIENCE)[1].decode()
            finally:
                _killed(process)
            if process.returncode == 0:
                return said
            assert "error[XSCK0001]" in said, said
        raise AssertionError(said)

    def _hurt(self, process: subprocess.Popen[bytes], left: list[tuple[int, float]]) -> None:
        dice = random.Random(5)
        while left and self.wait(process, *left[0]):
            kill_one(process.pid, dice)
            del left[0]


def _killed(process: subprocess.Popen[bytes]) -> str:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    heard = process.stderr is None or process.stderr.closed
    return "" if heard else process.communicate()[1].decode()


def kill_one(pid: int, dice: random.Random) -> None:
    """Kill a Python process that a process has started, the first of them or one further down."""
    found = [one for one in _below(pid) if b"python" in _command(one).partition(b"\0")[0]]
    if found:
        with suppress(ProcessLookupError):
            os.kill(dice.choice(found), signal.SIGKILL)


def _below(pid: int) -> list[int]:
    parents = {}
    for name in os.listdir("/proc"):
        with suppress(OSError, ValueError, IndexError):
            stat = Path(f"/proc/{int(name)}/stat").read_text()
            parents[int(name)] = int(stat.rpartition(")")[2].split()[1])
    found: list[int] = []
    level = [pid]
    while level:
        level = [child for child, parent in parents.items() if parent in level]
        found += level
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
