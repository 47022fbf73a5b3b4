"""Plays an input to `xstreamcast watch` by the clock, and notes when each answer came."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bench.linear_road.files import CLOSE, OPEN, PAST, ROAD, TOLLS
from bench.linear_road.outputs import Output, from_element

QUERIES = Path(__file__).parents[2] / "examples" / "linear-road"
_READY = 3.0  # seconds for the process to start before the clock does
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
    notes: str = ""
    wrong: ValueError | None = None  # an answer of no known form; those behind it are not kept

    @property
    def by_second(self) -> dict[int, float]:
        """The longest delay of the answers to the tuples of each second."""
        out: dict[int, float] = {}
        for one in self.outputs:
            out[one.time] = max(out.get(one.time, 0.0), one.delay)
        return out


@dataclass(slots=True)
class Driver:
    """`speed`: seconds of the input in a second of the clock; None gives it as fast as it is taken.

    A tuple is due when its second ends: the system may have it then, and not before. The first
    `prepared` seconds are given as fast as they are taken: the clock starts behind them.
    """

    folder: Path
    query: Path
    speed: float | None = None
    prepared: int = 0
    on_output: Callable[[Output], None] = lambda _: None
    on_second: Callable[[int, bytes], None] = lambda _, __: None
    memory: Path | None = None  # samples are written here as they are taken
    _started: float = 0.0
    _clock: float = 0.0  # when the first second of the input would have begun
    _second: int = 0
    _ready: threading.Event = field(default_factory=threading.Event)  # prepared seconds answered

    def play(self) -> Played:
        """Start the process, give it the input, and wait for its end."""
        played = Played()
        with self._process() as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, _PIPE)
            process.stdin.write(OPEN)
            process.stdin.flush()
            time.sleep(_READY)
            self._started = time.monotonic()
            readers = [
                threading.Thread(target=self._collect, args=(process.stdout, played)),
                threading.Thread(target=_keep, args=(process.stderr, played)),
            ]
            watcher = threading.Thread(target=self._sample, args=(process, played))
            for one in (*readers, watcher):
                one.start()
            played.tuples = self._feed(process.stdin)
            for one in readers:
                one.join()
            played.elapsed = time.monotonic() - self._started
            watcher.join()
        if played.wrong is not None:
            raise played.wrong
        if process.returncode:
            raise RuntimeError(f"watch ended with {process.returncode}: {played.notes}")
        return played

    def _process(self) -> subprocess.Popen[bytes]:
        folder = self.folder
        return subprocess.Popen(
            [
                sys.executable, "-m", "xstreamcast", "watch", str(self.query), "--format", "lines",
                "-i", "road=-", "-i", f"tolls={folder / TOLLS}", "-i", f"past={folder / PAST}",
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def _feed(self, pipe: IO[bytes]) -> int:
        written = 0
        for second, lines in seconds(self.folder / ROAD):
            if self._is_timed(second):
                if self._clock == 0.0:
                    self._start_clock(second, pipe)
                pause = self._due(second) - time.monotonic()
                if pause > 0:
                    time.sleep(pause)
            self._second = second
            self.on_second(second, lines)
            pipe.write(lines)
            if self._is_timed(second):
                pipe.flush()
            written += lines.count(b"\n")
        pipe.write(CLOSE)
        pipe.close()
        return written

    def _is_timed(self, second: int) -> bool:
        return self.speed is not None and second >= self.prepared

    def _start_clock(self, second: int, pipe: IO[bytes]) -> None:
        """The clock starts once all that was given before has been answered."""
        assert self.speed is not None
        if second:
            pipe.flush()
            self._ready.wait()
        self._clock = time.monotonic() - second / self.speed

    def _due(self, second: int) -> float:
        assert self.speed is not None
        return self._clock + (second + 1) / self.speed

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
        if one.time == self.prepared - 1:
            self._ready.set()
        if self._is_timed(one.time):
            delay = max(now - self._due(one.time), 0.0)
            one = Output(one.kind, one.key, one.time, one.values, delay)
        played.outputs.append(one)
        self.on_output(one)

    def _sample(self, process: subprocess.Popen[bytes], played: Played) -> None:
        with self._kept() as out:
            while process.poll() is None:
                found = used(process.pid)
                if found is not None:
                    elapsed = time.monotonic() - self._started
                    played.samples.append(Sample(elapsed, self._second, *found))
                    played.processor = found[1]
                    if out is not None:
                        out.write(str(played.samples[-1]))
                time.sleep(_SAMPLE)
        self._ready.set()  # a process that is gone answers nothing more

    def _kept(self) -> contextlib.AbstractContextManager[IO[str] | None]:
        """The file of samples: line by line, so that a play that is cut short leaves them."""
        if self.memory is None:
            return contextlib.nullcontext()
        out = self.memory.open("w", buffering=1)
        out.write(SAMPLES)
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


def used(pid: int) -> tuple[int, float] | None:
    """Bytes in memory and processor seconds of a process; None where it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return pages * 4096, (int(fields[11]) + int(fields[12])) / 100
