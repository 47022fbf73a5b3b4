"""`xstreamcast bench continuous`: queries left running on Spark, beside what Spark takes alone."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bench
from bench.continuous_report import Row, report
from bench.continuous_session import OURS, STATEFUL, WHO, Case, Followed, told
from bench.generate import natural, positive
from bench.kept import CHECKOUT, Kept
from bench.recovery import recovery
from bench.talking import Broken, said

REPORT = CHECKOUT / "docs" / "benchmarks" / "continuous.md"
REMARKS = "\n## What bounds these figures\n"
PATIENCE = 900.0  # seconds for all of a session but what is appended
UNITS = (1_000, 10_000, 100_000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--units", type=natural, nargs="+", default=list(UNITS), help="accounts that are known")
    add("--who", nargs="+", choices=WHO, default=list(WHO), help="who is measured (all)")
    add("--partitions", type=natural, nargs="+", default=[1, 2], help="places of a query's units")
    add("--drained", type=natural, default=600_000, help="fragments that wait (throughput)")
    add("--most", type=natural, default=100_000, help="of them in a batch")
    add("--bound", action="store_true", help="to as many cores as there are partitions")
    add("--rate", type=natural, default=1000, help="fragments appended each second (latency)")
    add("--batches", type=natural, default=200, help="batches of these, at least")
    add("--seconds", type=positive, default=240.0, help="but no longer than this")
    add("--seed", type=natural, default=bench.SEED, help="which stream")
    add("--recovery", action="store_true", help="also: the time after kill -9 with much state")
    add("--state", type=positive, default=1.0, metavar="GB", help="how much state (recovery)")
    add("--anew", action="store_true", help="measure what an interrupted run had found, too")
    add("--write", action="store_true", help="keep the report in docs/benchmarks")
    add("--session", help=argparse.SUPPRESS)


def main(args: argparse.Namespace) -> int:
    if args.session:
        with TemporaryDirectory(prefix="xstreamcast-bench-") as folder:
            sys.stdout.write(told(Case(**json.loads(args.session)), Path(folder)) + "\n")
        return 0
    kept = Kept("continuous", repr(_asked(args)))
    if args.anew:
        kept.forget()
    rows, missing = _rows(args, kept)
    recovered = _recovered(args, kept) if args.recovery else []
    text, agree = report(rows, recovered, missing, args)
    sys.stdout.write(text)
    if args.write:
        REPORT.write_text("# Queries left running on Spark\n" + text + remarks())
    if not missing:
        kept.forget()
    return 0 if agree and not missing else 1


def _asked(args: argparse.Namespace) -> dict[str, object]:
    """What decides the figures; who and how many are parts of their own."""
    names = ("drained", "most", "rate", "batches", "seconds", "seed", "state", "bound")
    return {name: getattr(args, name) for name in names}


def cases(args: argparse.Namespace) -> Iterator[Case]:
    """For each number of units all that are compared, one after another."""
    from bench.continuous_spark import can_partition

    for units in args.units:
        for who in args.who:
            several = who == STATEFUL or (who == OURS and can_partition())
            for partitions in args.partitions if several else [1]:
                yield Case(
                    who, units, partitions, args.drained, args.most, args.batches, args.seconds,
                    args.rate, args.seed, args.bound,
                )  # fmt: skip


def _rows(args: argparse.Namespace, kept: Kept) -> tuple[list[Row], list[str]]:
    """What was measured, and what could not be; the next run tries that again."""
    rows, missing = [], []
    for case in cases(args):
        try:
            told = kept.part(case.name, lambda case=case: _session(case))  # type: ignore[misc]
        except Broken as broken:
            missing.append(
                f"{case.who}, {case.units:,} accounts, {case.partitions} partitions: {broken}"
            )
        else:
            rows.append(Row(case, Followed(**told)))
    return rows, missing


def _session(case: Case) -> dict[str, Any]:
    """Measure in a process of its own: nobody inherits a warm or a littered one."""
    sys.stderr.write(f"{case.units} accounts, {case.partitions} partitions: {case.who}\n")
    words = [sys.executable, "-m", "xstreamcast", "bench", "continuous"]
    words += ["--session", json.dumps(asdict(case))]
    found = list(said(words, case.seconds + PATIENCE, os.environ | python_path()))
    if not found:
        raise Broken("it said nothing")
    return found[-1]


def python_path() -> dict[str, str]:
    """Spark's workers find what is measured here by its name."""
    known = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{CHECKOUT}{os.pathsep}{known}" if known else str(CHECKOUT)}


def _recovered(args: argparse.Namespace, kept: Kept) -> list[str]:
    """A sentence for each size of state: a small one, to see what grows, and the large one."""
    sizes = sorted({max(1, round(args.state * 100)), max(1, round(args.state * 1000))})
    return [kept.part(f"recovery-{size}", lambda size=size: _killed(size)) for size in sizes]  # type: ignore[misc]


def _killed(megabytes: int) -> str:
    sys.stderr.write(f"kill -9 with {megabytes} MB of state\n")
    with TemporaryDirectory(prefix="xstreamcast-recovery-") as folder:
        return recovery(megabytes, Path(folder)).told()


def remarks() -> str:
    """What was written by hand at the end of the last report."""
    before = REPORT.read_text() if REPORT.exists() else ""
    _, rule, kept = before.partition(REMARKS)
    return rule + kept
