"""A session of `bench spark`: so many cores, queries in turn by ours and by Spark's own reader."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import bench
from bench.fragments import table
from bench.processes import used
from bench.queries import Query
from bench.spark_answers import digest, ours, over_stream, twelve
from bench.spark_xml import SAID, Documents, Payloads
from xstreamcast.api import query as compiled

OURS, SPARK, RUMBLE = "ours", "Spark's own", "RumbleDB"
DOCUMENT, TABLE = "document", "table"
WARM = 0.02  # the size of the documents that everybody is warmed up with
_GONE = 3  # the exit code when Java has gone with what was asked


@dataclass(frozen=True, slots=True)
class Session:
    """What is measured in one process; asks are (place, query), `without` is left out of them."""

    cores: int
    factor: float
    rounds: int
    peers: bool
    patience: float
    asks: list[tuple[str, str]]
    without: dict[str, list[str]] = field(default_factory=dict)
    memory: str = "6g"


@dataclass(slots=True)
class Timed:
    """What one of them took in each round, by the clock and in processor time of all processes."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    answer: str = ""
    tasks: str = ""
    fixed: float = 0.0  # seconds of a small document, where hardly anything is to be read
    driver: float = 0.0  # seconds that the driver needs before a task begins
    failed: str = ""


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def bind(cores: int) -> None:
    """This process, and the JVM and the workers that come of it, on so many cores."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))


class Asking:
    """Who can be asked in a Spark session."""

    def __init__(self, told: Session) -> None:
        from xstreamcast.spark.session import session

        bind(told.cores)
        self._told = told
        self.spark = session(cores=told.cores, memory=told.memory)
        self.tasks = ""

    def by(self, who: str, place: str, query: Query, factor: float) -> Callable[[], str]:
        """What answers, as a digest."""
        if who == OURS:
            return lambda: self._ours(place, query, factor)
        return lambda: self._spark(place, query, factor)

    def _ours(self, place: str, query: Query, factor: float) -> str:
        run = self.run(place, query, factor)
        found = run.collected()
        self.tasks = run.words[0].partition(",")[0]
        return ours(query.name, found)

    def run(self, place: str, query: Query, factor: float) -> Any:
        """Ours, before it has begun."""
        from xstreamcast.edges.binding import Options
        from xstreamcast.spark.running.spark_run import SparkRun

        text, document, inputs = query.text, None, {}
        if place == TABLE:
            text = over_stream(query)
            inputs = {query.kind: Path(f"table:{table(query.kind, factor)}")}
        else:
            document = bench.data(query.kind, factor)
        return SparkRun(self.spark, compiled(text).telling(""), document, inputs, Options())

    def planned(self, place: str, query: Query) -> float:
        """Seconds until the tasks of ours are known: what is around units, roots, cuts."""
        began = time.perf_counter()
        self.run(place, query, self._told.factor).work()
        return time.perf_counter() - began

    def _spark(self, place: str, query: Query, factor: float) -> str:
        asked: Documents | Payloads = (
            Payloads(self.spark, str(table(query.kind, factor)), query.kind)
            if place == TABLE
            else Documents(self.spark, str(bench.data(query.kind, factor)))
        )
        return digest(self._in_time(lambda: SAID[query.name](asked)))

    def _in_time(self, ask: Callable[[], list[str]]) -> list[str]:
        context, patience = self.spark.sparkContext, self._told.patience
        late = threading.Event()

        def stop() -> None:
            late.set()
            context.cancelAllJobs()

        timer = threading.Timer(patience, stop)
        timer.start()
        try:
            return ask()
        except Exception:
            if late.is_set():
                raise TimeoutError(f"more than {patience:.0f} s") from None
            raise
        finally:
            timer.cancel()

    def lives(self) -> bool:
        try:
            return bool(self.spark.range(1).count() == 1)
        except Exception:  # whatever a JVM that has gone makes of it
            return False


def main(told: Session) -> int:
    asking, known = Asking(told), {one.name: one for one in twelve()}
    for place, name in told.asks:
        ask = f"{place}-{name}"
        who = [OURS, SPARK] if told.peers else [OURS]
        left = [one for one in who if one not in told.without.get(ask, [])]
        found = {one: Timed() for one in left}
        if place == TABLE:
            asking.planned(place, known[name])  # what a table keeps of its units is there
        for turn in range(-2, told.rounds):  # twice small: the first to warm up
            factor = min(WARM, told.factor) if turn < 0 else told.factor
            for one in left if turn % 2 else reversed(left):
                _turn(
                    asking, found[one], ask, one, asking.by(one, place, known[name], factor), turn
                )
        found[OURS].driver = asking.planned(place, known[name])
        say(ask=ask, found={one: asdict(timed) for one, timed in found.items()})
    asking.spark.stop()
    return 0


def _turn(
    asking: Asking, timed: Timed, ask: str, who: str, answer: Callable[[], str], turn: int
) -> None:
    """One round of one of them; the rounds before the first are not counted."""
    if timed.failed:
        return
    say(ask=ask, begun=who)
    before, began = used(), time.perf_counter()
    try:
        timed.answer = answer()
    except Exception as failed:  # a peer may fail in any way, and that is what is told of it
        if who == OURS:
            raise
        timed.failed = str(failed).strip().splitlines()[0][:200]
        if not asking.lives():
            say(ask=ask, failed=who, why=timed.failed)
            sys.exit(_GONE)
        return
    took = time.perf_counter() - began
    if turn < 0:
        timed.fixed = took
    else:
        timed.seconds.append(took)
        timed.processor.append(used() - before)
    timed.tasks = asking.tasks if who == OURS else ""
