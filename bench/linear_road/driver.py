"""Plays an input to `xstreamcast watch` by the clock, and notes when each answer came."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bench import processes
from bench.linear_road.files import CLOSE, OPEN, ROAD
from bench.linear_road.outputs import Output, from_element
from bench.linear_road.watching import WatchCommand

QUERIES = Path(__file__).parents[2] / "examples" / "linear-road"
_SAMPLE = 1.0  # seconds between two readings of memory
_PIPE = 1 << 20  # bytes that wait in the pipe when the system is behind
_TIME = b' time="'
SAMPLES = "elapsed s,input s,resident bytes,processor s\n"


@dataclass(frozen=True, slots=True)
class Sample:
    """What the process used when: seconds since the start, second of the input, bytes, seconds."""

    elapsed: float
    second: int
    resident: int
    processor: float

    def __str__(self) -> str:
        return f"{self.elapsed:.1f},{self.second},{self.resident},{self.processor:.2f}\n"


@dataclass(slots=True)
class Played:
    """The answers with their delays, and what it took."""

    outputs: list[Output] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    retracted: int = 0
    tuples: int = 0
    elapsed: float = 0.0
    processor: float = 0.0
    before: float = 0.0  # of that, until it was ready for the first tuple
    by_kind: dict[str, float] = field(default_factory=dict)  # the same: driver, JVM and workers
    notes: str = ""
    wrong: ValueError | None = None  # an answer of no known form; those behind it are not kept
    prepared: int = 0  # minutes that were played before, as fast as they were taken
    restart: float = 0.0  # seconds from the start of the process to its being ready

    @property
    def timed(self) -> list[Output]:
        """The answers to what was not played before."""
        return [one for one in self.outputs if one.time >= 60 * self.prepared]

    @property
    def by_second(self) -> dict[int, float]:
        """The longest delay of the answers to the tuples of each second played by the clock."""
        out: dict[int, float] = {}
        for one in self.timed:
            out[one.time] = max(out.get(one.time, 0.0), one.delay)
        return out


@dataclass(slots=True)
class Driver:
    """`speed`: seconds of the input in a second of the clock; None gives it as fast as it is taken.

    A tuple is due when its second ends: the system may have it then, and not before. The first
    minutes may be `prepared`: played as fast as they are taken. Then the process stops, and another
    one goes on from its snapshot, by the clock; or the same one does, once it is idle (`stays`).
    """

    folder: Path
    query: Path
    speed: float | None = None
    on_output: Callable[[Output], None] = lambda _: None
    on_second: Callable[[int, bytes], None] = lambda _, __: None
    memory: Path | None = None  # samples are written here as they are taken
    prepared: int = 0
    stays: bool = False
    on_spark: bool = False
    partitions: int | None = None  # on Spark
    _checkpoint: Path | None = None
    _started: float = 0.0
    _clock: float = 0.0  # when the first second that is played by the clock began
    _second: int = 0
    _written: int = 0  # bytes that were written to the pipe

    def play(self) -> Played:
        """Start the process, give it the input, and wait for its end."""
        if self.stays or not (self.prepared or self.on_spark):
            return self._played(Played(), self._seconds(0))
        with tempfile.TemporaryDirectory(dir=self.folder) as state:
            self._checkpoint = Path(state)
            if not self.prepared:  # on Spark: its checkpoint says when it is ready
                return self._played(Played(), self._seconds(0))
            before = self._prepare()
            played = Played(before.outputs, retracted=before.retracted, prepared=self.prepared)
            played = self._played(played, self._seconds(60 * self.prepared))
            played.tuples += before.tuples
            played.processor += before.processor
            played.samples = before.samples + played.samples
            return played

    def _played(self, played: Played, upcoming: Iterator[tuple[int, bytes]]) -> Played:
        command = self._command()
        with command.start() as process:
            assert process.stdin is not None
            if not played.prepared:
                process.stdin.write(OPEN)
                process.stdin.flush()
            upcoming = itertools.chain([next(upcoming)], upcoming)  # found before the clock starts
            played.restart = command.await_ready(process, played.prepared > 0)
            played.before = processes.used(process.pid)
            self._started = self._clock = time.monotonic()
            with self._reading(process, played, "a" if played.prepared else "w"):
                if self.stays:
                    upcoming = self._caught_up(process, command, played, upcoming)
                played.tuples += self._feed(process.stdin, upcoming)
                process.stdin.write(CLOSE)
                process.stdin.close()
        if process.returncode:
            raise RuntimeError(f"watch ended with {process.returncode}: {played.notes}")
        return played

    def _caught_up(
        self, process: subprocess.Popen[bytes], command: WatchCommand, played: Played,
        upcoming: Iterator[tuple[int, bytes]],
    ) -> Iterator[tuple[int, bytes]]:  # fmt: skip
        """Play the first minutes as fast as they are taken, to their last answer → the rest."""
        assert process.stdin is not None
        speed, self.speed, last = self.speed, None, 60 * self.prepared
        for one in upcoming:
            if one[0] >= last:
                upcoming = itertools.chain([one], upcoming)
                break
            played.tuples += self._feed(process.stdin, iter([one]))
        process.stdin.flush()
        command.await_idle(process)
        self.speed, played.prepared, self._clock = speed, self.prepared, time.monotonic()
        return upcoming

    def _prepare(self) -> Played:
        """Play the first minutes as fast as they are taken, and leave a snapshot behind them."""
        played, speed = Played(), self.speed
        self.speed, last, self._started = None, 60 * self.prepared, time.monotonic()
        command = self._command()
        with command.start() as process:
            assert process.stdin is not None
            process.stdin.write(OPEN)
            with self._reading(process, played, "w"):
                before = itertools.takewhile(lambda one: one[0] < last, self._seconds(0))
                played.tuples = self._feed(process.stdin, before)
                process.stdin.flush()
                command.await_counted(process, self._written)
                process.send_signal(signal.SIGINT)
        self.speed = speed
        assert self._checkpoint is not None
        if not list((self._checkpoint / "snapshots").glob("*.snapshot")):
            raise RuntimeError(f"watch left no snapshot behind: {played.notes}")
        return played

    @contextlib.contextmanager
    def _reading(
        self, process: subprocess.Popen[bytes], played: Played, mode: str
    ) -> Iterator[None]:
        """Keep what the process says while it is given its input, to its end."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, _PIPE)
        readers = [
            threading.Thread(target=self._collect, args=(process.stdout, played)),
            threading.Thread(target=_keep, args=(process.stderr, played)),
        ]
        watcher = threading.Thread(target=self._sample, args=(process, played, mode))
        for one in (*readers, watcher):
            one.start()
        yield
        for one in readers:
            one.join()
        played.elapsed = time.monotonic() - self._started
        watcher.join()
        if played.wrong is not None:
            raise played.wrong

    def _command(self) -> WatchCommand:
        return WatchCommand(
            self.query, self.folder, self._checkpoint, self.on_spark, self.partitions
        )

    def _seconds(self, first: int) -> Iterator[tuple[int, bytes]]:
        return itertools.dropwhile(lambda one: one[0] < first, seconds(self.folder / ROAD))

    def _feed(self, pipe: IO[bytes], upcoming: Iterator[tuple[int, bytes]]) -> int:
        tuples, self._written = 0, len(OPEN)
        for second, lines in upcoming:
            if self.speed is not None:
                pause = self._due(second) - time.monotonic()
                if pause > 0:
                    time.sleep(pause)
            self._second = second
            self.on_second(second, lines)
            pipe.write(lines)
            if self.speed is not None:
                pipe.flush()
            tuples += lines.count(b"\n")
            self._written += len(lines)
        return tuples

    def _due(self, second: int) -> float:
        passed = second + 1 - 60 * self.prepared
        return self._clock + (0 if self.speed is None else passed / self.speed)

    def _collect(self, pipe: IO[bytes], played: Played) -> None:
        for line in pipe:  # to its end, so that the process is not held up
            now = time.monotonic()
            if line.startswith(b"-"):
                played.retracted += 1
            elif played.wrong is None:
                try:
                    self._take(line[2:].decode(), now, played)
                except ValueError as why:
                    played.wrong = why

    def _take(self, item: str, now: float, played: Played) -> None:
        one = from_element(item)
        if self.speed is not None:
            delay = max(now - self._due(one.time), 0.0)
            one = Output(one.kind, one.key, one.time, one.values, delay)
        played.outputs.append(one)
        self.on_output(one)

    def _sample(self, process: subprocess.Popen[bytes], played: Played, mode: str) -> None:
        with self._kept(mode) as out:
            while process.poll() is None:
                sample = self._taken(process.pid, played)
                played.samples.append(sample)
                if out is not None:
                    out.write(str(sample))
                time.sleep(_SAMPLE)

    def _taken(self, pid: int, played: Played) -> Sample:
        """What a process and all below it use now; those that have just ended are not forgotten."""
        for kind, seconds in processes.used_by_kind(pid).items():
            played.by_kind[kind] = max(seconds, played.by_kind.get(kind, 0.0))
        played.processor = max(processes.used(pid), played.processor)
        elapsed = time.monotonic() - self._started
        return Sample(elapsed, self._second, processes.held(pid), played.processor)

    def _kept(self, mode: str) -> contextlib.AbstractContextManager[IO[str] | None]:
        """The file of samples: line by line, so that a play that is cut short leaves them."""
        if self.memory is None:
            return contextlib.nullcontext()
        out = self.memory.open(mode, buffering=1)
        out.write(SAMPLES if mode == "w" else "")
        return out


def seconds(road: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of each second of an input."""
    current = 0
    held: list[bytes] = []
    with road.open("rb") as lines:
        for line in lines:
            at = line.find(_TIME)
            if at < 0:
                continue
            second = int(line[at + len(_TIME) : line.index(b'"', at + len(_TIME))])
            if second != current:
                yield current, b"".join(held)
                current, held = second, []
            held.append(line)
    yield current, b"".join(held)


def _keep(pipe: IO[bytes], played: Played) -> None:
    played.notes = pipe.read().decode()
