"""`xstreamcast bench spark`: documents and a fragment table on Spark, beside its own XML reader."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import bench
from bench import queries
from bench.fragments import fragments
from bench.generate import natural, positive
from bench.machine import machine
from bench.tables import geometric_mean, markdown, ratio, seconds
from xstreamcast.api import query as compiled

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "spark.md"
REMARKS = "\n## What bounds these figures\n"
STREAM = "auction"
OURS, PEER = "ours", "spark-xml"
UNCOUNTED = -1
ALBANIA = "location = 'Albania'"
ASKED = ("q01", "q02", "q05")  # of XMark, over the fragment table
NOTE = """
Seconds from the file or table to the collected answer, in local mode, the median of {rounds} after
one warm-up; sessions of one and of two cores are processes of their own. Spark's own is its XML
reader (`rowTag`) or `from_xml` with a schema of only the fields that the query needs, in two cores;
a dash where DataFrames over it cannot say the query. Documents have {mb} MB. The answers have as
many items: {equal}. The machine was shared with other work.
"""


@dataclass(frozen=True, slots=True)
class Timed:
    """What a session measured of one query."""

    query: str
    who: str
    cores: int
    seconds: float
    items: int
    tasks: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--factor", type=positive, default=1.0, help="1 is 100 MB")
    parser.add_argument("--rounds", type=natural, default=3, help="after one that is not counted")
    parser.add_argument("--peers", action="store_true", help="beside Spark's own XML reader")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")
    parser.add_argument("--session", type=natural, help=argparse.SUPPRESS)
    parser.add_argument("--table", help=argparse.SUPPRESS)


def main(args: argparse.Namespace) -> int:
    if args.session:
        for one in measured(args):
            sys.stdout.write(json.dumps(asdict(one)) + "\n")
            sys.stdout.flush()
        return 0
    with TemporaryDirectory() as folder:
        table = _table(args, Path(folder))
        found = [one for cores in (1, 2) for one in _session(args, cores, table)]
    text, agree = report(found, args)
    sys.stdout.write(text)
    if args.write:
        REPORT.write_text("# History queries on Spark\n" + text + remarks())
    return 0 if agree else 1


def remarks() -> str:
    """What was written by hand at the end of the last report."""
    before = REPORT.read_text() if REPORT.exists() else ""
    _, rule, kept = before.partition(REMARKS)
    return rule + kept


def _table(args: argparse.Namespace, folder: Path) -> Path:
    """The auction document as a fragment table, asked once so that what it holds is known."""
    from xstreamcast.edges.ingesting import ingest

    ingest(fragments(args.factor), folder / "table", stream=STREAM)
    compiled(f'count(stream("{STREAM}")/site)').run(auction=Path(f"table:{folder / 'table'}"))
    return folder / "table"


def _session(args: argparse.Namespace, cores: int, table: Path) -> list[Timed]:
    words = [sys.executable, "-m", "xstreamcast", "bench", "spark", "--session", str(cores)]
    words += ["--factor", str(args.factor), "--rounds", str(args.rounds), "--table", str(table)]
    words += ["--peers"] if args.peers and cores == 2 else []
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return [Timed(**json.loads(line)) for line in done.stdout.splitlines() if line[:1] == "{"]


def measured(args: argparse.Namespace) -> list[Timed]:
    """All queries in a session of so many cores."""
    from xstreamcast.edges.binding import Options
    from xstreamcast.spark.running import SparkRun
    from xstreamcast.spark.session import session

    spark = session(cores=args.session, memory="3g")
    out: list[Timed] = []
    told: list[str] = []

    def ours(text: str, document: Path | None, inputs: dict[str, Any]) -> int:
        run = SparkRun(spark, compiled(text).telling(""), document, inputs, Options())
        count: int = run.collected().num_rows
        told[:] = [run.words[0].partition(",")[0]]
        return count

    def add(name: str, who: str, ask: Callable[[], int]) -> None:
        out.append(Timed(name, who, args.session, *_timed(ask, args.rounds), *told))
        told.clear()

    for one in queries.nine():
        path = bench.data(one.kind, args.factor)
        add(one.name, OURS, lambda one=one, path=path: ours(one.text, path, {}))  # type: ignore[misc]
        if args.peers and one.name in PEERS:
            add(one.name, PEER, lambda one=one, path=path: PEERS[one.name](spark, str(path)))  # type: ignore[misc]
    for one in (q for q in queries.xmark() if q.name in ASKED):
        text = one.text.replace("/site", f'stream("{STREAM}")/site')
        table = {STREAM: Path(f"table:{args.table}")}
        add(one.name, OURS, lambda text=text, table=table: ours(text, None, table))  # type: ignore[misc]
        if args.peers and one.name in TABLE_PEERS:
            add(one.name, PEER, lambda one=one: TABLE_PEERS[one.name](spark, args.table))  # type: ignore[misc]
    spark.stop()
    return out


def _timed(ask: Callable[[], int], rounds: int) -> tuple[float, int]:
    items, took = ask(), []
    for _ in range(rounds):
        began = time.perf_counter()
        ask()
        took.append(time.perf_counter() - began)
    return median(took), items


# -- the same queries in DataFrame code -----------------------------------------------------------


def _rows(spark: Any, path: str, tag: str, schema: str) -> Any:
    return spark.read.format("xml").option("rowTag", tag).schema(schema).load(path)


def _items(spark: Any, path: str, fields: str) -> Any:
    schema = ", ".join(f"{name} string" for name in fields.split())
    return _rows(spark, path, "item", schema).where(ALBANIA)


def _p1(spark: Any, path: str) -> int:
    schema = "item array<struct<location: string, quantity: string>>"
    inner = _rows(spark, path, "europe", schema).selectExpr("inline(item)")
    return len(inner.where(ALBANIA).select("quantity").collect())


def _p2(spark: Any, path: str) -> int:
    found = _items(spark, path, "location payment").where("payment = 'Cash'")
    return len(found.select("location").collect())


def _p5(spark: Any, path: str) -> int:
    schema = "item array<struct<location: string>>"
    rows = _rows(spark, path, "europe", schema)
    rows.where("exists(item, i -> i.location = 'Albania')").count()
    return 1


def _p7(spark: Any, path: str) -> int:
    _items(spark, path, "location quantity payment").select("quantity", "payment").collect()
    return 1


def _papers(spark: Any, path: str) -> Any:
    return _rows(spark, path, "inproceedings", "author array<string>, title string, year string")


def _p8(spark: Any, path: str) -> int:
    rows = _papers(spark, path).where("array_contains(author, 'John Smith')")
    return len(rows.select("title").collect())


def _p9(spark: Any, path: str) -> int:
    rows = _papers(spark, path).where("exists(author, a -> contains(a, 'Smith'))")
    rows.orderBy("year").select("year", "title").collect()
    return UNCOUNTED  # titles with elements inside come in several texts; here they lose some


def _payloads(spark: Any, table: str, name: str, schema: str) -> Any:
    from xstreamcast.edges.table.log import Log
    from xstreamcast.edges.table.reading import structure_in
    from xstreamcast.spark.table import read_fragments

    known = structure_in(Log(table).state().streams[STREAM], STREAM)
    tags = [tag.id for tag in known.tags.values() if tag.local == name and known.travels(tag.id)]
    rows = read_fragments(spark, table, STREAM, tags)
    return rows.selectExpr(f"from_xml(string(payload), '{schema}') as one").select("one.*")


def _q01(spark: Any, table: str) -> int:
    rows = _payloads(spark, table, "person", "_id string, name string")
    return len(rows.where("_id = 'person0'").select("name").collect())


def _q05(spark: Any, table: str) -> int:
    _payloads(spark, table, "closed_auction", "price double").where("price >= 40").count()
    return 1


PEERS: dict[str, Callable[[Any, str], int]] = {
    "p1": _p1, "p2": _p2, "p5": _p5, "p7": _p7, "p8": _p8, "p9": _p9,
}  # fmt: skip
TABLE_PEERS: dict[str, Callable[[Any, str], int]] = {"q01": _q01, "q05": _q05}


# -- the report -----------------------------------------------------------------------------------


def report(found: list[Timed], args: argparse.Namespace) -> tuple[str, bool]:
    """The table, and whether all answers have as many items."""
    by = {(one.query, one.who, one.cores): one for one in found}
    names = list(dict.fromkeys(one.query for one in found))
    rows, gains, speedups, apart = [], [], [], []
    for name in names:
        one, two = by[name, OURS, 1], by[name, OURS, 2]
        peer = by.get((name, PEER, 2))
        gain = None if peer is None else peer.seconds / two.seconds
        same = peer is None or peer.items in (two.items, UNCOUNTED)
        apart += [] if one.items == two.items and same else [name]
        gains.append(gain)
        speedups.append(one.seconds / two.seconds)
        rows.append([
            name, two.tasks, seconds(one.seconds), seconds(two.seconds), ratio(speedups[-1]),
            seconds(None if peer is None else peer.seconds), ratio(gain),
        ])  # fmt: skip
    means = ["geometric mean", "", "", "", ratio(geometric_mean(speedups))]
    rows.append([*means, "", ratio(geometric_mean(gains))])
    header = ["query", "tasks", "1 core", "2 cores", "1 → 2", "Spark's own", "Spark's own / ours"]
    size = bench.data("auction", args.factor).stat().st_size
    note = NOTE.format(
        rounds=args.rounds, mb=round(size / 1e6), equal=f"all but {apart}" if apart else "yes"
    )
    return f"{note}\n{markdown(header, rows)}\n\n{machine()}\n", not apart
