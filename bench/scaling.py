"""`xstreamcast bench scaling`: what the measured figures say of more cores than there are here."""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import bench
from bench.fragments import fragments
from bench.generate import positive
from bench.kept import CHECKOUT
from bench.tables import ABSENT, markdown
from xstreamcast.edges.replay import Offset, Replay, split_rows

PAGE: Final = Path(__file__).with_name("scaling_page.md")
DOCS: Final = CHECKOUT / "docs"
BENCHMARKS: Final = DOCS / "benchmarks"
CORES: Final = (100, 10_000)
DRIVER: Final = 16  # cores of the machine that the driver has to itself
EACH: Final = 10.0  # gigabytes for each core
Table = list[dict[str, str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--factor", type=positive, default=0.25, help="of the feed that is read")
    parser.add_argument("--write", action="store_true", help="write docs/scaling.md")


def main(args: argparse.Namespace) -> int:
    text = page(BENCHMARKS, ingested(args.factor))
    sys.stdout.write(text)
    if args.write:
        (DOCS / "scaling.md").write_text(text)
    return 0


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds of a query over so many gigabytes, on one core: what stays, and what is shared."""

    fixed: float  # whatever the size
    driver: float  # on the driver's own cores
    tasks: float
    gigabytes: float
    alone: bool = False  # one task does all of it

    def seconds(self, cores: int, gigabytes: float) -> float:
        """With so many cores for tasks, and a driver with cores of its own."""
        more = gigabytes / self.gigabytes
        shared = 1 if self.alone else cores
        return self.fixed + more * (self.driver / DRIVER + self.tasks / shared)


def page(benchmarks: Path, ingest: tuple[float, float] | None) -> str:
    """The page, with figures from the reports; what was not measured is a dash."""
    spark = _text(benchmarks / "spark.md")
    size = re.search(r"about (\d+) MB", spark)
    gigabytes = int(size[1]) / 1000 if size else 0.0
    running = _text(benchmarks / "continuous.md")
    return PAGE.read_text().format(
        size=size[1] if size else ABSENT, each=f"{EACH:g}", driver=DRIVER,
        documents=_queries(spark, "document", gigabytes),
        tables=_queries(spark, "table", gigabytes),
        ingest=_ingest(ingest), continuous=_continuous(running),
    )  # fmt: skip


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def tables(text: str, heading: str = "") -> Table:
    """The rows of the first table below a heading, by the names of its columns."""
    _, found, rest = text.partition(f"\n## {heading}\n") if heading else ("", "x", text)
    rows = [
        [cell.strip() for cell in line[1:-1].split("|")]
        for line in re.findall(r"(?m)^\|.*\|$", rest.partition("\n## ")[0])
    ]
    if not found or len(rows) < 3:
        return []
    width = len(rows[0])
    return [dict(zip(rows[0], row, strict=False)) for row in rows[2:] if len(row) == width]


def number(cell: str | None) -> float | None:
    """What a cell begins with, if that is a number."""
    found = re.match(r"[\d,]+(\.\d+)?", cell or "")
    return float(found[0].replace(",", "")) if found else None


# -- queries over what is there -------------------------------------------------------------------


def spread(spark: str, place: str, gigabytes: float) -> dict[str, Spread]:
    """Each query over documents or tables, from the seconds of one core."""
    apart = {row.get("ours", ""): row for row in tables(spark, "What is not spread")}
    found = {}
    for row in tables(spark, f"{place.capitalize()}s"):
        one, kept = number(row.get("1 core")), apart.get(f"{place} {row.get('query')}", {})
        fixed, driver = number(kept.get("small document s")), number(kept.get("driver s"))
        if one is not None and fixed is not None and driver is not None:
            tasks = max(one - fixed - driver, 0.0)
            alone = row.get("tasks") == "one task"
            found[row["query"]] = Spread(fixed, driver, tasks, gigabytes, alone)
    return found


def _queries(spark: str, place: str, gigabytes: float) -> str:
    known = spread(spark, place, gigabytes)
    if not known:
        return "Not measured yet.\n"
    header = ["query", "fixed s", "driver s/GB", "tasks MB/s and core"]
    header += [f"{cores:,} cores, {EACH * cores / 1000:g} TB" for cores in CORES]
    return markdown(header, [_row(name, one) for name, one in known.items()])


def _row(name: str, one: Spread) -> list[str]:
    rate = f"{1000 * one.gigabytes / one.tasks:,.0f}" if one.tasks else ABSENT
    told = [f"{one.seconds(cores, EACH * cores):,.0f} s" for cores in CORES]
    name += ", one task" if one.alone else ""
    return [name, f"{one.fixed:.2f}", f"{one.driver / one.gigabytes:.2f}", rate, *told]


# -- ingest ---------------------------------------------------------------------------------------


def ingested(factor: float) -> tuple[float, float]:
    """Megabytes a second on one core: finding where fragments begin, and making rows of them."""
    path = fragments(factor, bench.SEED)
    size = path.stat().st_size / 1e6
    replay = Replay(str(path), splits=1)
    took = (0.0, 0.0)
    for _ in range(2):  # what is compiled or loaded the first time is not counted
        began = time.process_time()
        end = _all(replay, Offset())
        surveyed = time.process_time()
        for split in replay.plan(Offset(), end):
            sum(rows.num_rows for rows in split_rows("auction", split))
        took = (surveyed - began, time.process_time() - surveyed)
    return size / took[0], size / took[1]


def _all(replay: Replay, start: Offset) -> Offset:
    while (end := replay.advance(start)) != start:
        start = end
    return start


def _ingest(rates: tuple[float, float] | None) -> str:
    if rates is None:
        return "Not measured yet.\n"
    survey, rows = rates
    told = [[f"{n:,}", f"{min(n * rows, survey):,.0f}", f"{n * rows:,.0f}"] for n in (1, *CORES)]
    head = f"One core finds where fragments begin in {survey:.0f} MB and makes rows of {rows:.0f} "
    head += "MB each second.\n\n"
    return head + markdown(["cores", "one feed, MB/s", "as many feeds as cores, MB/s"], told)


# -- queries left running -------------------------------------------------------------------------


def _continuous(running: str) -> str:
    rows = [row for row in tables(running) if row.get("") == "ours"]
    if not rows:
        return "Not measured yet.\n"
    told = []
    for row in rows:
        each = number(row.get("µs of processor each"))
        alone = f"{1e6 / each:,.0f}" if each else ABSENT
        told.append([row["accounts"], row["partitions"], row["fragments/s"], alone, row["p50 ms"]])
    header = ["accounts", "partitions", "fragments/s here", "fragments/s and core", "p50 ms"]
    return markdown(header, told)
