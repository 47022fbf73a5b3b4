"""`xstreamcast bench continuous`: queries left running on Spark, beside what Spark takes alone."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import bench
from bench.continuous_report import Row, report
from bench.continuous_session import LOCAL, OURS, WHO, Case, Followed, told
from bench.generate import natural, positive
from bench.kept import CHECKOUT, Kept

REPORT = CHECKOUT / "docs" / "benchmarks" / "continuous.md"
REMARKS = "\n## What bounds these figures\n"
UNITS = (1_000, 10_000, 100_000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--units", type=natural, nargs="+", default=list(UNITS), help="accounts that are known")
    add("--who", nargs="+", choices=WHO, default=list(WHO), help="who is measured (all)")
    add("--buckets", type=natural, nargs="+", default=[1, 2], help="places of a query's units")
    add("--drained", type=natural, default=200_000, help="fragments that wait (throughput)")
    add("--most", type=natural, default=20_000, help="of them in a batch")
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
    rows = [_row(case, kept) for case in cases(args)]
    recovered = kept.part("recovery", lambda: _recovered(args)) if args.recovery else None
    text, agree = report(rows, recovered, args)
    sys.stdout.write(text)
    if args.write:
        REPORT.write_text("# Queries left running on Spark\n" + text + remarks())
    kept.forget()
    return 0 if agree else 1


def _asked(args: argparse.Namespace) -> dict[str, object]:
    """What decides the figures; who and how many are parts of their own."""
    names = ("drained", "most", "rate", "batches", "seconds", "seed", "state")
    return {name: getattr(args, name) for name in names}


def cases(args: argparse.Namespace) -> Iterator[Case]:
    """For each number of units all that are compared, one after another."""
    from bench.continuous_spark import can_bucket

    for units in args.units:
        for who in args.who:
            several = who != LOCAL and (who != OURS or can_bucket())
            for buckets in args.buckets if several else [1]:
                yield Case(
                    who, units, buckets, args.drained, args.most, args.batches, args.seconds,
                    args.rate, args.seed,
                )  # fmt: skip


def _row(case: Case, kept: Kept) -> Row:
    return Row(case, Followed(**kept.part(case.name, lambda: _session(case))))


def _session(case: Case) -> object:
    """Measure in a process of its own: nobody inherits a warm or a littered one."""
    sys.stderr.write(f"{case.units} accounts, {case.buckets} buckets: {case.who}\n")
    words = [sys.executable, "-m", "xstreamcast", "bench", "continuous"]
    words += ["--session", json.dumps(asdict(case))]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | python_path()
    )
    return json.loads(done.stdout.splitlines()[-1])


def python_path() -> dict[str, str]:
    """Spark's workers find what is measured here by its name."""
    known = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": f"{CHECKOUT}{os.pathsep}{known}" if known else str(CHECKOUT)}


def _recovered(args: argparse.Namespace) -> object:
    """What is told of it: seconds by what they were spent on."""
    try:
        recovery = import_module("bench.recovery")
    except ImportError:
        return {}
    told: object = recovery.recovered(args.state)
    return told


def remarks() -> str:
    """What was written by hand at the end of the last report."""
    before = REPORT.read_text() if REPORT.exists() else ""
    _, rule, kept = before.partition(REMARKS)
    return rule + kept
