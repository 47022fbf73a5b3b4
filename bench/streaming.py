"""`xstreamcast bench paths --stream`: the nine queries over documents that are never held."""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import bench
from bench import queries
from bench.machine import machine
from bench.peers import ours
from bench.queries import Query
from bench.resident import peak, reset_peak, resident
from bench.tables import geometric_mean, markdown
from xstreamcast.api import query as compiled
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.pieces import pieces
from xstreamcast.model.change import Accumulated, Change

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "streaming.md"
SMALL = 0.05  # what a process is warmed up with
NOTE = """
Each row is a process of its own. It answers on small documents first, so that compiled code is
there; growth is the peak of its resident memory while it streams, over what it had before. Rates
are megabytes for each second of processor time (the machine was shared with other work, which wall
time would measure too): the median of {rounds} rounds in which both take turns, in memory from the
file to the answer (`xstreamcast run`), streamed from the file to the changes (`xstreamcast watch`).
The larger document is streamed once and compared with the same figure in memory. First answer: how
much of the input was read when the first change was told. The answers that the changes of the
smaller document add up to were compared with those in memory: {equal}.
"""


@dataclass(frozen=True, slots=True)
class Streamed:
    """What one process measured of one query on one document."""

    name: str
    size: int
    streamed: float  # seconds of processor time
    in_memory: float | None
    growth: int
    first: int | None  # bytes read when the first change came
    changes: int
    equal: bool | None

    @property
    def rate(self) -> float:
        return self.size / 1e6 / self.streamed

    @property
    def rate_in_memory(self) -> float | None:
        return None if self.in_memory is None else self.size / 1e6 / self.in_memory


def main(args: argparse.Namespace) -> int:
    """Measure all in processes of their own; write the report."""
    if args.child:
        sys.stdout.write(json.dumps(asdict(child(args))) + "\n")
        return 0
    factors = [args.factor] if args.factor else [1.0, 10.0]
    asked = [one for one in queries.nine() if not args.queries or one.name in args.queries]
    found = {factor: [_apart(one, factor, args) for one in asked] for factor in factors}
    report = _report(found, max(1, args.rounds))
    sys.stdout.write(report)
    if args.write:
        REPORT.write_text(report)
    right = all(one.equal is not False for rows in found.values() for one in rows)
    return 0 if right else 1


def _apart(query: Query, factor: float, args: argparse.Namespace) -> Streamed:
    bench.data(query.kind, SMALL, args.seed)
    bench.data(query.kind, factor, args.seed)
    words = ["--stream", "--child", query.name, "--factor", str(factor), "--seed", str(args.seed)]
    # a document much larger than the first is only streamed: in memory it would not fit everywhere
    words += ["--rounds", str(args.rounds if factor <= 1 else 0)]
    command = [sys.executable, "-m", "xstreamcast", "bench", "paths", *words]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    one = Streamed(**json.loads(done.stdout.splitlines()[-1]))
    sys.stderr.write(f"{one.name}, {one.size / 1e6:.0f} MB: {one.rate:.0f} MB/s\n")
    return one


# --- in a process of its own ------------------------------------------------------------------


def child(args: argparse.Namespace) -> Streamed:
    """One query, streamed first; then in turns with the evaluation in memory."""
    asked = next(one for one in queries.nine() if one.name == args.child)
    path = bench.data(asked.kind, args.factor, args.seed)
    warm = bench.data(asked.kind, SMALL, args.seed)
    for _ in range(2):
        _streamed(asked, warm)
    gc.collect()
    before = resident()
    reset_peak()
    took, first, changes = _streamed(asked, path)
    growth = peak() - before
    streamed, in_memory, equal = [took], [], None
    if args.rounds:
        ours(asked, warm)
        equal = _answer(asked, path) == list(compiled(asked.text).run(str(path)).lines())
    for _ in range(args.rounds):
        in_memory.append(_timed(asked, path))
        streamed.append(_streamed(asked, path)[0])
    return Streamed(
        asked.name, path.stat().st_size, median(streamed[1:] or streamed),
        median(in_memory) if in_memory else None, growth, first, changes, equal,
    )  # fmt: skip


def _timed(asked: Query, path: Path) -> float:
    gc.collect()
    began = time.process_time()
    ours(asked, path)
    return time.process_time() - began


def _streamed(asked: Query, path: Path) -> tuple[float, int | None, int]:
    """Seconds, bytes read at the first change, and how many changes there were."""
    gc.collect()
    read, first, changes = [0], None, 0
    began = time.process_time()
    for told in _ticks(asked, path, read):
        first = read[0] if first is None else first
        changes += len(told)
    return time.process_time() - began, first, changes


def _ticks(asked: Query, path: Path, read: list[int]) -> Iterator[list[Change]]:
    def counted() -> Iterator[bytes]:
        for piece in pieces(str(path), follow=False, patience=lambda: None):
            if piece is not None:
                read[0] += len(piece)
                yield piece

    return compiled(asked.text).watching(counted(), {}, WatchOptions()).ticks()


def _answer(asked: Query, path: Path) -> list[str]:
    told = Accumulated(change for some in _ticks(asked, path, [0]) for change in some)
    return told.items()


# --- the report -------------------------------------------------------------------------------


def _report(found: dict[float, list[Streamed]], rounds: int) -> str:
    text = "# Queries over documents read as streams\n"
    known = {
        one.name: one.rate_in_memory for rows in found.values() for one in rows if one.in_memory
    }
    for rows in found.values():
        text += f"\n## Documents of {rows[0].size / 1e6:.0f} MB\n\n{_table(rows, known)}"
    compared = [one.equal for rows in found.values() for one in rows if one.equal is not None]
    equal = f"{sum(compared)} of {len(compared)} equal"
    return text + NOTE.format(rounds=rounds, equal=equal) + "\n" + machine()


def _table(rows: list[Streamed], known: dict[str, float | None]) -> str:
    header = [
        "query",
        "in memory MB/s",
        "streamed MB/s",
        "of it",
        "growth MB",
        "first answer",
        "changes",
    ]
    lines = []
    shares = []
    for one in rows:
        beside = known.get(one.name)
        share = one.rate / beside if beside else None
        shares.append(share)
        lines.append(
            [
                one.name,
                "–" if beside is None else f"{beside:.0f}",
                f"{one.rate:.0f}",
                "–" if share is None else f"{100 * share:.0f} %",
                f"{one.growth / 1e6:.0f}",
                "–" if one.first is None else f"{100 * one.first / one.size:.2f} %",
                str(one.changes),
            ]
        )
    mean = geometric_mean(shares)
    lines.append(
        ["geometric mean", "", "", "–" if mean is None else f"{100 * mean:.0f} %", "", "", ""]
    )
    return markdown(header, lines)
