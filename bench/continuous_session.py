"""One session of `bench continuous`: a feed that grows, somebody who follows it, and how soon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Protocol

from bench.credit import charges, opening
from bench.processes import held, used, used_by_kind

OURS, STATEFUL, STATELESS, LOCAL = "ours", "empty stateful", "stateless", "local runner"
WHO = (STATELESS, STATEFUL, OURS, LOCAL)
CHECKOUT = Path(__file__).parents[1]
FIRST = 60_000
Reached = list[tuple[int, int]]  # (monotonic ns, bytes of the feed that are in the sink by then)


@dataclass(frozen=True, slots=True)
class Case:
    """Who follows, how much is known before it begins, and what comes then."""

    who: str
    units: int
    partitions: int = 1
    drained: int = 600_000  # fragments that wait when the clock starts
    most: int = 100_000  # of them in a batch
    batches: int = 200  # at least so many of what comes one after another
    seconds: float = 240.0  # but no longer than this
    rate: int = 1000  # fragments each second
    seed: int = 22
    bound: bool = False  # to as many cores as there are partitions

    @property
    def name(self) -> str:
        return f"{self.who}-{self.units}-{self.partitions}".replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Followed:
    """What was measured; times in seconds, processor time of all processes."""

    opened: float  # the accounts and their limits taken in, by a follower that runs
    drain: float
    drain_batches: int
    drain_processor: float
    answer: str  # a digest of the answers when all of that was told; "" of who answers nothing
    latencies: list[float]  # of each append
    batches: int  # that what came one after another took
    paced: float
    paced_processor: float
    changes: int
    memory: int
    phases: dict[str, float] = field(default_factory=dict)  # mean ms of a batch
    drain_first: float = 0.0  # fragments/s of the first batches that have FIRST of them
    drain_last: float = 0.0  # and of the second half
    kinds: dict[str, float] = field(default_factory=dict)  # processor time of the drain, by process


class Follower(Protocol):
    """Somebody who takes in what stands in the feed, and knows the answers by query."""

    reached: Reached
    changes: int

    def follow(self, done: Callable[[Reached], bool]) -> None:
        """Go on until what was reached is enough."""
        ...

    def answers(self) -> dict[str, list[str]]: ...

    def phases(self, since: int) -> dict[str, float]:
        """Where the time of batches went, from the n-th on."""
        ...

    def close(self) -> None: ...


def measured(case: Case, folder: Path) -> Followed:
    """Open, drain, pace."""
    feed = folder / "credit.xml"
    feed.write_bytes(opening(case.units, case.seed))
    lines = charges(case.units, case.drained + int(case.rate * case.seconds), case.seed)
    follower = followed(case, feed, folder / "checkpoint")
    try:
        begun = time.monotonic()
        follower.follow(_all(feed))
        opened = time.monotonic() - begun
        backlog = b"".join(islice(lines, case.drained))
        before = used_by_kind()
        drain = _drain(follower, feed, backlog)
        kinds = {name: now - before[name] for name, now in used_by_kind().items()}
        speeds = speeds_of(follower.reached, drain, case.drained, feed)
        answer, first = digest(follower.answers()), len(follower.reached)
        said, paced, processor = _pace(follower, feed, lines, case)
        return Followed(
            opened, *drain, answer, latencies(said, follower.reached),
            len(follower.reached) - first, paced, processor, follower.changes, held(),
            follower.phases(first), *speeds, kinds,
        )  # fmt: skip
    finally:
        follower.close()


def _all(feed: Path) -> Callable[[Reached], bool]:
    size = feed.stat().st_size
    return lambda reached: bool(reached) and reached[-1][1] >= size


def _drain(follower: Follower, feed: Path, backlog: bytes) -> tuple[float, int, float]:
    first, before = len(follower.reached), used()
    with feed.open("ab") as file:
        file.write(backlog)
    begun = time.monotonic()
    follower.follow(_all(feed))
    return time.monotonic() - begun, len(follower.reached) - first, used() - before


def speeds_of(
    reached: Reached, drain: tuple[float, int, float], count: int, feed: Path
) -> tuple[float, float]:
    """Fragments/s of the first FIRST that waited, and of the second half of all."""
    seconds, batches, _ = drain
    end, size = reached[-1][0], feed.stat().st_size
    marks = [(end - int(seconds * 1e9), reached[-batches - 1][1]), *reached[-batches:]]
    each = (size - marks[0][1]) / count  # bytes of a fragment
    first = next(one for one in marks if one[1] - marks[0][1] >= min(FIRST, count) * each * 0.99)
    half = marks[len(marks) // 2] if len(marks) > 2 else marks[0]
    return _rate(marks[0], first, each), _rate(half, marks[-1], each)


def _rate(begin: tuple[int, int], end: tuple[int, int], each: float) -> float:
    return (end[1] - begin[1]) / each / ((end[0] - begin[0]) / 1e9)


def _pace(
    follower: Follower, feed: Path, lines: Iterator[bytes], case: Case
) -> tuple[Reached, float, float]:
    """Another process appends, which shares no lock with this one → when, and what it took."""
    tail, stop = feed.with_name("tail"), feed.with_name("stop")
    tail.write_bytes(b"".join(lines))
    first, before, begun = len(follower.reached), used(), time.monotonic()

    def enough(reached: Reached) -> bool:
        many, late = len(reached) - first >= case.batches, time.monotonic() - begun >= case.seconds
        return many or late or feeder.poll() is not None

    script = [sys.executable, str(CHECKOUT / "bench" / "feeding.py")]
    words = [*script, str(tail), str(feed), str(case.rate), str(stop)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as feeder:
        follower.follow(enough)
        stop.touch()
        said = [(at, size) for at, size in json.loads(feeder.communicate()[0])]
    follower.follow(_all(feed))
    return said, time.monotonic() - begun, used() - before


def latencies(said: Reached, reached: Reached) -> list[float]:
    """Seconds from each append to the first moment when all of it was in the sink."""
    found, n = [], 0
    for at, size in said:
        while reached[n][1] < size:
            n += 1
        found.append((reached[n][0] - at) / 1e9)
    return found


def digest(answers: dict[str, list[str]]) -> str:
    """The same for the same items of each query."""
    told = json.dumps({name: sorted(items) for name, items in answers.items()}, sort_keys=True)
    return sha256(told.encode()).hexdigest() if answers else ""


class Locally:
    """The operators in this process, both queries over one history; reads as the feed grows."""

    def __init__(self, case: Case, feed: Path, _: Path) -> None:
        from bench.updates import Running

        self._running, self._most = Running(), case.most
        self._file, self._at = feed.open("rb"), 0
        self.reached: Reached = []
        self.changes = 0

    def follow(self, done: Callable[[Reached], bool]) -> None:
        while not done(self.reached):
            lines = list(islice(self._file, self._most))
            if lines:
                chunk = b"".join(lines)
                self.changes += self._running.feed(chunk)
                self._at += len(chunk)
                self.reached.append((time.monotonic_ns(), self._at))
            else:
                time.sleep(0.001)

    def answers(self) -> dict[str, list[str]]:
        return {name: one.items() for name, one in self._running.told.items()}

    def phases(self, since: int) -> dict[str, float]:
        return {}

    def close(self) -> None:
        self._file.close()


def followed(case: Case, feed: Path, checkpoint: Path) -> Follower:
    """Who was asked for, running; Spark is loaded only for those who need it."""
    if case.who == LOCAL:
        return Locally(case, feed, checkpoint)
    from bench import continuous_spark as on_spark

    kinds = {OURS: on_spark.Ours, STATEFUL: on_spark.Empty, STATELESS: on_spark.Passing}
    return kinds[case.who](case, feed, checkpoint)


def told(case: Case, folder: Path) -> str:
    """A session's findings, as another process reads them."""
    if case.bound:
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: case.partitions]))
    return json.dumps(asdict(measured(case, folder)))
