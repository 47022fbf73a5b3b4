"""The `xstreamcast watch` that an input is played to: how it starts, and when it is ready."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench import processes
from bench.linear_road.files import PAST, ROAD, TOLLS

_READY = 3.0  # seconds for a process to start before the clock does
_IDLE = 1.0  # seconds without work after which a process that started again is ready
_WAITING = 0.12  # of a core, which a process may take that looks for input now and then
_LOOK = 0.1  # seconds between two looks at a checkpoint


@dataclass(frozen=True, slots=True)
class WatchCommand:
    """`partitions`: of each stage on Spark; None: as many as tasks run at once."""

    query: Path
    folder: Path
    checkpoint: Path | None = None
    on_spark: bool = False
    partitions: int | None = None

    def start(self) -> subprocess.Popen[bytes]:
        folder = self.folder
        return subprocess.Popen(
            [
                sys.executable, "-m", "xstreamcast", "watch", str(self.query), "--format", "lines",
                "-i", "road=-", "-i", f"tolls={folder / TOLLS}", "-i", f"past={folder / PAST}",
                *self._kept(), *self._placed(),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def _placed(self) -> list[str]:
        if not self.on_spark:
            return []
        many = [] if self.partitions is None else ["--partitions", str(self.partitions)]
        return ["--runner", "spark", *many]

    def _kept(self) -> list[str]:
        if self.checkpoint is None:
            return []
        kept = ["--checkpoint", str(self.checkpoint)]
        if self.on_spark:
            return kept
        once = str(2 * (self.folder / ROAD).stat().st_size)  # bytes: no snapshot but when it stops
        return [*kept, "--snapshot-every", once]

    def await_ready(self, process: subprocess.Popen[bytes], restarted: bool) -> float:
        """Wait until a process that has begun only waits for input → the seconds that it took."""
        begun = time.monotonic()
        if self.on_spark and not restarted:
            self._await_batch(process)
            return time.monotonic() - begun
        time.sleep(_READY)
        if not restarted:
            return time.monotonic() - begun
        self.await_idle(process)
        return time.monotonic() - begun - _IDLE

    def await_idle(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until a process does nothing but look for input, or has ended."""
        before = 0.0
        while process.poll() is None:
            used = processes.used(process.pid)
            if used - before < _WAITING * _IDLE:
                return
            before = used
            time.sleep(_IDLE)

    def _await_batch(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until Spark has counted its first batch: the histories, and that a road begins."""
        assert self.checkpoint is not None
        while process.poll() is None and not (self.checkpoint / "spark/commits/0").exists():
            time.sleep(_LOOK)

    def await_counted(self, process: subprocess.Popen[bytes], written: int) -> None:
        """Wait until the journal tells of everything that was written, and of the files beside."""
        from xstreamcast.edges.watching.journal_lines import read_lines

        assert self.checkpoint is not None
        journal, kept = self.checkpoint / "journal", self.checkpoint / "road.bytes"
        files = {"tolls": self.folder / TOLLS, "past": self.folder / PAST}
        wanted = {name: path.stat().st_size for name, path in files.items()}
        wanted["road"] = written
        while process.poll() is None:
            time.sleep(_IDLE)
            lines = read_lines(journal, 0)[1] if journal.exists() else []
            counted: dict[str, int] = dict.fromkeys(wanted, 0)
            for name, count in (one for line in lines for one in line.read):
                counted[name] += max(count, 0)
            if counted == wanted and kept.stat().st_size == written:
                return
        raise RuntimeError("watch ended while its state was being prepared")
