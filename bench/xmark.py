"""`xstreamcast bench xmark`: the twenty XMark queries on a large document, beside SaxonC-HE.

Processor time, since a machine is seldom alone, and which part of ours the system took; the answers
are compared. Both keep their memory between queries. Our memory is measured before
SaxonC-HE is started, so that its heap is not counted. A query that takes SaxonC-HE longer than a
minute is run once.
"""

import argparse
import gc
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import bench
from bench import queries
from bench.generate import natural, positive
from bench.machine import machine
from bench.peers import Answer, normalised, ours, saxon
from bench.queries import Query
from bench.resident import (
    keep_freed_memory,
    peak,
    release_freed_memory,
    reset_peak,
    resident,
)
from bench.rounds import PATIENCE
from bench.tables import geometric_mean, markdown, ratio, seconds


@dataclass(frozen=True, slots=True)
class Compared:
    """One query: processor seconds of both, our memory in bytes, whether the answers agree."""

    name: str
    mine: float
    system: float  # the part of ours that the system took
    theirs: float
    memory: int
    equal: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the benchmark understands."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="queries; all twenty if none")
    parser.add_argument("--factor", type=positive, default=1.0, help="size; 1 is about 100 MB")
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which document")
    parser.add_argument("--rounds", type=natural, default=3, help="how many count")


def main(args: argparse.Namespace) -> int:
    """Measure, compare and print a table."""
    keep_freed_memory()
    asked = [one for one in queries.xmark() if not args.names or one.name in args.names]
    path = bench.data("auction", args.factor, args.seed)
    memory = [_memory(partial(ours, one, path)) for one in asked]
    peer, pairs = saxon(), zip(asked, memory, strict=True)
    rows = [_compared(*one, path, peer, max(1, args.rounds)) for one in pairs]
    sys.stdout.write(_table(rows, path.stat().st_size) + "\n" + machine())
    return 0 if all(row.equal for row in rows) else 1


def _memory(run: Callable[[], str]) -> int:
    """What the process holds at most while it answers, beyond what it held before."""
    gc.collect()
    release_freed_memory()
    before = resident()
    reset_peak()
    run()
    return peak() - before


def _compared(query: Query, memory: int, path: Path, peer: Answer, rounds: int) -> Compared:
    (first, _), answer = _timed(partial(peer, query, path))
    times, mine = [], []
    for _ in range(rounds):
        took, own = _timed(partial(ours, query, path))
        mine.append(took)
        if first <= PATIENCE:
            times.append(_timed(partial(peer, query, path))[0][0])
    whole, system = sorted(mine)[len(mine) // 2]
    found = Compared(
        query.name, whole, system, median(times or [first]), memory,
        normalised(own) == normalised(answer),
    )  # fmt: skip
    sys.stderr.write(f"{found}\n")
    return found


def _timed(run: Callable[[], str]) -> tuple[tuple[float, float], str]:
    """Processor seconds, those of them that the system took, and the answer."""
    gc.collect()
    began = _used()
    answer = run()
    user, system = (after - before for after, before in zip(_used(), began, strict=True))
    return (user + system, system), answer


def _used() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


def _table(rows: list[Compared], size: int) -> str:
    header = [
        "query", "ours s", "of it system s", "SaxonC-HE s", "× SaxonC-HE", "our memory MB",
        "answers",
    ]  # fmt: skip
    lines = [
        [
            row.name, seconds(row.mine), seconds(row.system), seconds(row.theirs),
            ratio(row.theirs / row.mine),
            f"{row.memory / 1e6:.0f}", "equal" if row.equal else "DIFFER",
        ]
        for row in rows
    ]  # fmt: skip
    means = [geometric_mean(r.mine for r in rows), geometric_mean(r.theirs for r in rows)]
    speedup = ratio(geometric_mean(row.theirs / row.mine for row in rows))
    lines.append(["geometric mean", seconds(means[0]), "", seconds(means[1]), speedup, "", ""])
    return f"Processor time, document of {size / 1e6:.0f} MB.\n\n{markdown(header, lines)}"
