"""`xstreamcast bench spark`: documents and fragment tables on Spark, beside others on Spark."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import bench
from bench import rumble
from bench.fragments import table
from bench.generate import natural, positive
from bench.kept import CHECKOUT, Kept
from bench.rumble import Rumbled
from bench.spark_answers import twelve
from bench.spark_report import Found, report
from bench.spark_session import DOCUMENT, OURS, SPARK, TABLE, WARM, Session, Timed
from bench.spark_session import main as measured
from bench.talking import Broken, said

REPORT = CHECKOUT / "docs" / "benchmarks" / "spark.md"
REMARKS = "\n## What bounds these figures\n"
CORES = (1, 2)
Ask = tuple[str, str]  # a place and a query


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ",".join(one.name for one in twelve())
    add = parser.add_argument
    add("--factor", type=positive, default=1.0, help="1 is 100 MB, 10 is 1 GB")
    add("--rounds", type=natural, default=3, help="after a warm-up on a small document")
    add("--queries", default=names, help="some of p1…p9, q01, q02, q05, by commas")
    add("--places", default=f"{DOCUMENT},{TABLE}", help="document, table, or both by a comma")
    add("--cores", type=natural, nargs="+", default=list(CORES), help="sessions (1 2)")
    add("--peers", action="store_true", help="beside Spark's own XML reader and RumbleDB")
    add("--patience", type=positive, default=300.0, help="seconds for Spark's own reader")
    add("--rumble", type=positive, nargs="*", default=[0.1, 1.0], metavar="FACTOR",
        help="sizes for RumbleDB, until one is too much; none: leave it out")  # fmt: skip
    add("--rumble-patience", type=positive, default=120.0, help="seconds for each of its queries")
    add("--memory", default="6g", help="of Java")
    add("--anew", action="store_true", help="measure what an interrupted run had found, too")
    add("--write", action="store_true", help="keep the report in docs/benchmarks")
    add("--session", help=argparse.SUPPRESS)


def main(args: argparse.Namespace) -> int:
    if args.session:
        return measured(Session(**json.loads(args.session)))
    words = (args.factor, args.rounds, args.patience, args.memory, args.rumble_patience)
    kept = Kept("spark", repr(words))
    if args.anew:
        kept.forget()
    asks = [(p, q) for p in args.places.split(",") for q in args.queries.split(",")]
    _prepare(args, asks)
    found = Found()
    for cores in args.cores:
        found.timed.update(_measured(args, cores, asks, kept))
    if args.peers and args.rumble:
        found.rumbled, found.absent = _rumbled(args, kept)
    text, agree = report(found, args)
    sys.stdout.write(text)
    if args.write:
        REPORT.write_text("# History queries on Spark\n" + text + remarks())
    kept.forget()
    return 0 if agree else 1


def remarks() -> str:
    """What was written by hand at the end of the last report."""
    before = REPORT.read_text() if REPORT.exists() else ""
    _, rule, kept = before.partition(REMARKS)
    return rule + kept


def _prepare(args: argparse.Namespace, asks: list[Ask]) -> None:
    """All inputs are there before any clock runs, and have been read once."""
    kinds = {one.name: one.kind for one in twelve()}
    for place, kind in sorted({(place, kinds[name]) for place, name in asks}):
        for factor in {min(WARM, args.factor), args.factor}:
            sys.stderr.write(f"{kind} {place} of about {factor * 100:g} MB\n")
            path = table(kind, factor) if place == TABLE else bench.data(kind, factor)
            _read(path.rglob("*.parquet") if place == TABLE else iter([path]))


def _read(paths: Iterator[Any]) -> None:
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 22):
                pass


def _measured(
    args: argparse.Namespace, cores: int, asks: list[Ask], kept: Kept
) -> dict[tuple[str, str, int], Timed]:
    """Sessions until all is measured: one that Java leaves is followed by one without the cause."""
    peers = args.peers and cores == max(args.cores)
    known = {ask: kept.known(_name(ask, cores, peers)) for ask in asks}
    without: dict[str, list[str]] = {}
    failed: dict[tuple[str, str], str] = {}
    while left := [ask for ask, one in known.items() if one is None]:
        session = Session(
            cores, args.factor, args.rounds, peers, args.patience, left, without, args.memory
        )
        begun: tuple[str, str] | None = None
        try:
            for line in _session(session):
                begun = (line["ask"], line["begun"]) if "begun" in line else begun
                if "found" in line:
                    ask = next(one for one in left if _shown(one) == line["ask"])
                    told = line["found"] | _failures(failed, line["ask"])
                    known[ask] = kept.keep(_name(ask, cores, peers), told)
        except Broken as broken:
            if begun is None or begun[1] == OURS:
                raise
            failed[begun] = str(broken)
            without.setdefault(begun[0], []).append(begun[1])
    return {
        (_shown(ask), who, cores): Timed(**timed)
        for ask, one in known.items()
        for who, timed in (one or {}).items()
    }


def _failures(failed: dict[tuple[str, str], str], ask: str) -> dict[str, Any]:
    return {who: asdict(Timed(failed=why)) for (one, who), why in failed.items() if one == ask}


def _session(session: Session) -> Iterator[dict[str, Any]]:
    words = [sys.executable, "-m", "xstreamcast", "bench", "spark"]
    words += ["--session", json.dumps(asdict(session))]
    for line in said(words, 2 * session.patience + 300, os.environ):
        if line.get("begun") in (OURS, SPARK):
            sys.stderr.write(f"{session.cores} cores: {line['ask']} by {line['begun']}\n")
        yield line


def _shown(ask: Ask) -> str:
    return "-".join(ask)


def _name(ask: Ask, cores: int, peers: bool) -> str:
    return f"{_shown(ask)}-{cores}{'-peers' if peers else ''}"


def _rumbled(args: argparse.Namespace, kept: Kept) -> tuple[dict[str, list[Rumbled]], str]:
    """RumbleDB over larger and larger documents, each query until it is too much for it."""
    python = rumble.environment()
    if isinstance(python, str):
        sys.stderr.write(f"RumbleDB is left out: {python}\n")
        return {}, python
    found: dict[str, list[Rumbled]] = {}
    left = [one for one in twelve() if one.name in args.queries.split(",")]
    for factor in sorted(args.rumble):
        known = {one.name: kept.known(f"rumble-{one.name}-{factor:g}") for one in left}
        fresh = [one for one in left if known[one.name] is None]
        rounds = args.rounds if factor < 1 else 1
        for name, one in rumble.asked(python, fresh, factor, rounds, args.rumble_patience, WARM):
            sys.stderr.write(f"RumbleDB: {name}, {factor * 100:g} MB, {one.failed or 'answered'}\n")
            known[name] = kept.keep(f"rumble-{name}-{factor:g}", asdict(one))
        for name, told in known.items():
            found.setdefault(name, []).append(Rumbled(**told))
        left = [one for one in left if not found[one.name][-1].failed]
    return found, ""
