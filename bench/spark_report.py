"""The report of `bench spark`: seconds, ratios, whether answers are equal, and what is missing."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import bench
from bench.machine import machine
from bench.rumble import VERSION, Rumbled
from bench.spark_session import DOCUMENT, OURS, SPARK, TABLE, Timed
from bench.tables import ABSENT, geometric_mean, markdown, ratio, seconds

PACKAGES: Final = ("xstreamcast", "pyspark", "pyarrow", "numpy", "numba")
HEAD = """
Seconds from a file or a fragment table to the collected answer, in local mode, the median of
{rounds} after a warm-up on a small document; in brackets seconds of processor time of all processes
(driver, JVM, workers). Documents have about {mb} MB, the tables hold the same in fragments, and all
of it was in the page cache. In a session of one core the JVM and the workers are bound to that core
too. p1 to p9 are the nine queries of the XFlux paper; q01, q02 and q05 are those of XMark that the
XCQL paper chose (selective, range, cumulative).

Spark's own is `spark.read.format("xml")` with `rowTag` on documents and `from_xml` on the payloads
of the table, with a schema of only the fields that the query needs, on {cores} cores, in turns with
ours. Its queries know what XQuery does not have to: that only items have a location (p3, p6), and
the names of the regions (p4). What is around a row is not told by that reader, so that on documents
p1, p4 and p5 read a whole region as one row.
"""
APART = """
With {cores} core: the seconds of a document or table of 2 MB, which are planning, starting tasks
and collecting; and of the large one, those that the driver takes before the first task begins.
"""
RUMBLED = """
## RumbleDB

RumbleDB {version} (`doc(…)` in its XQuery mode, two cores, its own Spark) over smaller documents:
seconds, and megabytes each second beside ours on documents of {mb} MB. The time until its items are
there counts, not that they are fetched. Each query was given {patience:.0f} s. p8 is worded with
`where` for it, as its predicates compare single values.
"""


@dataclass(slots=True)
class Found:
    """What was measured: by (place-query, who, cores), and of RumbleDB by query."""

    timed: dict[tuple[str, str, int], Timed] = field(default_factory=dict)
    rumbled: dict[str, list[Rumbled]] = field(default_factory=dict)
    absent: str = ""  # why RumbleDB was not asked

    def asks(self, place: str) -> list[str]:
        """Queries in the order in which they were asked."""
        asks = dict.fromkeys(ask for ask, _, _ in self.timed)
        return [ask.partition("-")[2] for ask in asks if ask.startswith(place)]

    def get(self, place: str, query: str, who: str, cores: int) -> Timed | None:
        found = self.timed.get((f"{place}-{query}", who, cores))
        return found if found is not None and found.seconds else None


def report(found: Found, args: argparse.Namespace) -> tuple[str, bool]:
    """The tables, and whether all answers are equal by value."""
    most = max(args.cores)
    size = bench.data("auction", args.factor).stat().st_size / 1e6
    text = HEAD.format(rounds=args.rounds, mb=round(size), cores=most)
    for place in (DOCUMENT, TABLE):
        if found.asks(place):
            text += f"\n## {place.capitalize()}s\n\n{_table(found, place, args.cores)}"
    text += _apart(found, args.cores)
    text += _missing(found) + _rumble(found, size, args)
    apart = differing(found)
    same = f"**differ: {', '.join(apart)}**" if apart else "are equal by value, whoever gave them"
    return (
        f"{text}\nThe answers {same} (in any order, without tags).\n\n{machine(PACKAGES)}",
        not apart,
    )


def differing(found: Found) -> list[str]:
    """The queries to which not all gave the same values."""
    known: dict[str, set[str]] = {}
    for (ask, _, _), timed in found.timed.items():
        known.setdefault(ask.partition("-")[2], set()).update(
            {timed.answer} - {""} if not timed.failed else ()
        )
    apart = [query for query, answers in known.items() if len(answers) > 1]
    rumbled = [q for q, sizes in found.rumbled.items() if any(one.equal is False for one in sizes)]
    return apart + [f"{query} (RumbleDB)" for query in rumbled]


def _table(found: Found, place: str, cores: list[int]) -> str:
    least, most = min(cores), max(cores)
    rows, gains, speedups = [], [], []
    for query in found.asks(place):
        one, two = (found.get(place, query, OURS, n) for n in (least, most))
        peer = found.get(place, query, SPARK, most)
        speedups.append(_over(one, two) if least < most else None)
        gains.append(_over(peer, two))
        busy = _over(peer, two, processor=True)
        rows.append([
            query, two.tasks if two else "", _cell(one) if least < most else ABSENT, _cell(two),
            ratio(speedups[-1]), _cell(peer), ratio(gains[-1]), ratio(busy),
        ])  # fmt: skip
    means = ["geometric mean", "", "", "", ratio(geometric_mean(speedups)), ""]
    rows.append([*means, ratio(geometric_mean(gains)), ""])
    plural = "core" if most == 1 else "cores"
    header = ["query", "tasks", f"{least} core", f"{most} {plural}", f"{least} → {most}",
              SPARK, "its time / ours", "its processor time / ours"]  # fmt: skip
    return markdown(header, rows)


def _apart(found: Found, cores: list[int]) -> str:
    """What more cores for tasks do not make faster."""
    rows = [
        [f"{place} {query}", *(f"{value:.2f}" for value in (one.fixed, one.driver))]
        for place in (DOCUMENT, TABLE)
        for query in found.asks(place)
        if (one := found.get(place, query, OURS, min(cores))) is not None
    ]
    header = ["ours", "small document s", "driver s"]
    return f"\n## What is not spread\n{APART.format(cores=min(cores))}\n{markdown(header, rows)}"


def _cell(one: Timed | None) -> str:
    if one is None:
        return ABSENT
    return f"{seconds(median(one.seconds))} ({seconds(median(one.processor))})"


def _over(one: Timed | None, two: Timed | None, processor: bool = False) -> float | None:
    if one is None or two is None:
        return None
    if processor:
        return median(one.processor) / max(median(two.processor), 0.01)
    return median(one.seconds) / median(two.seconds)


def _missing(found: Found) -> str:
    """Why there is a dash."""
    lines = [
        f"- {who}, {ask.replace('-', ', ')}: {timed.failed}\n"
        for (ask, who, _), timed in found.timed.items()
        if timed.failed
    ]
    return "\nWhat is missing, and why:\n\n" + "".join(lines) if lines else ""


def _rumble(found: Found, size: float, args: argparse.Namespace) -> str:
    if found.absent:
        return f"\n## RumbleDB\n\nIt was not asked: {found.absent}\n"
    if not found.rumbled:
        return ""
    sizes = sorted({one.factor for many in found.rumbled.values() for one in many})
    rows = [_rumbled(found, query, sizes, size, args) for query in found.rumbled]
    mbs = [f"{100 * factor:g} MB" for factor in sizes]
    header = ["query", *mbs, "its MB/s", "ours MB/s", "ours / its"]
    why = [
        f"- {query}, {100 * one.factor:g} MB: {one.failed}\n"
        for query, many in found.rumbled.items()
        for one in many
        if one.failed
    ]
    told = RUMBLED.format(version=VERSION, mb=round(size), patience=args.rumble_patience)
    return f"{told}\n{markdown(header, rows)}" + ("\n" + "".join(why) if why else "")


def _rumbled(
    found: Found, query: str, sizes: list[float], size: float, args: argparse.Namespace
) -> list[str]:
    known = {one.factor: one for one in found.rumbled[query] if one.seconds}
    cells = [
        f"{seconds(median(known[one].seconds))} ({seconds(median(known[one].processor))})"
        if one in known
        else ABSENT
        for one in sizes
    ]
    best = known[max(known)] if known else None
    its = 100 * best.factor / median(best.seconds) if best else None
    two = found.get(DOCUMENT, query, OURS, max(args.cores))
    mine = size / median(two.seconds) if two else None
    rates = [ABSENT if one is None else f"{one:.1f}" for one in (its, mine)]
    return [query, *cells, *rates, ratio(mine / its if mine and its else None)]
