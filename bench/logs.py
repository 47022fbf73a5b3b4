"""`xstreamcast bench logs`: queries over a log that grows, beside lxml.iterparse and dicts.

Both read one file from its first byte to its last event; ours tells each change of the answer on
the way. The answers at the end are compared.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from pathlib import Path
from typing import Any

import bench
from bench.generate import natural
from bench.machine import machine
from bench.rounds import Contender, interleaved
from bench.tables import markdown
from xstreamcast.api import compiled
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "logs.md"
_PIECE = 1 << 20  # bytes that are read at once, and for which changes are told
_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
Answer = list[str]
Events = Iterator[Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A query, and what a program with lxml does for it."""

    name: str
    query: str
    by_hand: Callable[[Events], Answer]


def filtered(events: Events) -> Answer:
    found = (one for one in events if one.get("level") == "ERROR")
    return [f'<error at="{one.get("time")}">{one.findtext("text")}</error>' for one in found]


def by_host(events: Events) -> Answer:
    known: dict[str, tuple[int, float, float]] = {}
    for one in events:
        host, ms = one.get("host"), float(one.get("ms"))
        count, total, worst = known.get(host, (0, 0.0, 0.0))
        known[host] = count + 1, total + ms, max(worst, ms)
    return [
        f'<host name="{host}" n="{n}" ms="{ms:.0f}" worst="{worst:.0f}"/>'
        for host, (n, ms, worst) in known.items()
    ]


def slowest_hosts(events: Events) -> Answer:
    known: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
    for one in events:
        mine = known[one.get("host")]
        mine[0] += 1
        mine[1] += float(one.get("ms"))
    first = sorted(known, key=lambda host: (-known[host][1], host))[:5]
    return [f'<host name="{host}">{known[host][0]}</host>' for host in first]


def different_hosts(events: Events) -> Answer:
    return [str(len({one.get("host") for one in events}))]


def by_second(events: Events) -> Answer:
    out, begin, count = [], None, 0
    for one in events:
        second = int(one.get("time")) // 1000
        if begin is not None and second != begin:
            out.append(f'<second at="{begin}">{count}</second>')
            count = 0
        begin, count = second, count + 1
    return [*out, f'<second at="{begin}">{count}</second>']


def slowest_events(events: Events) -> Answer:
    pairs = ((float(one.get("ms")), -int(one.get("time"))) for one in events)
    return [str(-time) for _, time in nlargest(10, pairs)]


_EVENT = 'stream("log")/log/event'
CASES = (
    Case(
        "errors",
        f'for $e in {_EVENT} where $e/@level = "ERROR" '
        'return <error at="{$e/@time}">{string($e/text)}</error>',
        filtered,
    ),
    Case(
        "count, sum and maximum by host",
        f"for $e in {_EVENT} group by $h := $e/@host return "
        '<host name="{$h}" n="{count($e)}" ms="{sum($e/@ms)}" worst="{max($e/@ms)}"/>',
        by_host,
    ),
    Case(
        "five slowest hosts",
        f"(for $e in {_EVENT} group by $h := string($e/@host) order by sum($e/@ms) descending, $h "
        'return <host name="{$h}">{count($e)}</host>)[position() le 5]',
        slowest_hosts,
    ),
    Case("different hosts", f"count(distinct-values({_EVENT}/@host))", different_hosts),
    Case(
        "events by second",
        f"for tumbling window $w in {_EVENT} start $s when true() "
        "end next $n when $n/@time idiv 1000 ne $s/@time idiv 1000 "
        'return <second at="{$s/@time idiv 1000}">{count($w)}</second>',
        by_second,
    ),
    Case(
        "ten slowest events",
        f"(for $e in {_EVENT} order by number($e/@ms) descending return $e)[position() le 10]"
        " ! string(@time)",
        slowest_events,
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--events", type=natural, default=300_000, help="in the log (300,000)")
    parser.add_argument("--rounds", type=natural, default=3, help="whose median counts (3)")
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which log")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")


def main(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.xml"
        path.write_bytes(log(args.events, args.seed))
        rows, equal = measured(path, args.events, args.rounds)
    text = report(rows, args.events, equal)
    sys.stdout.write(text)
    if args.write:
        REPORT.write_text(text)
    return 0 if equal else 1


def log(events: int, seed: int) -> bytes:
    """A log of so many events, about a hundred bytes each."""
    dice = random.Random(seed)
    lines = [
        f'<event time="{at}" level="{dice.choice(_LEVELS)}" host="h{dice.randrange(500)}" '
        f'ms="{dice.randrange(2000)}"><text>request {at} was served</text></event>\n'
        for at in range(events)
    ]
    return "".join(["<log>\n", *lines, "</log>\n"]).encode()


def measured(path: Path, events: int, rounds: int) -> tuple[list[list[str]], bool]:
    """A row for each query, and whether all answers were the same."""
    rows, equal = [], True
    for case in CASES:
        ours = Contender("xstreamcast", partial(watched, case.query, path))
        peer = Contender("lxml", partial(_by_hand, case, path))
        found = interleaved([ours, peer], rounds)
        mine, other = found["xstreamcast"], found["lxml"]
        same = mine.answer == other.answer
        equal = equal and same
        rows.append([
            case.name, f"{events / mine.median:,.0f}", f"{events / other.median:,.0f}",
            f"{other.median / mine.median:.2f} ×", "yes" if same else "NO",
        ])  # fmt: skip
    return rows, equal


def watched(query: str, path: Path) -> Answer:
    """The answer to which the changes of a continuous query add up."""
    watch, told = Watch(compiled(query), {"log": "document"}), Accumulated()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            watch.on_bytes("log", piece)
            for change in watch.tick():
                told.apply(change)
    watch.on_end("log")
    for change in watch.tick():
        told.apply(change)
    return told.items()


def _by_hand(case: Case, path: Path) -> Answer:
    return case.by_hand(_events(path))


def _events(path: Path) -> Events:
    from lxml import etree

    for _, one in etree.iterparse(path, tag="event"):
        yield one
        one.clear()
        while one.getprevious() is not None:
            del one.getparent()[0]


def report(rows: list[list[str]], events: int, equal: bool) -> str:
    """The page."""
    head = ["query", "events/s", "lxml events/s", "ours to lxml", "equal"]
    return f"""# Queries over a log that grows

A log of {events:,} events of about a hundred bytes, read in pieces of a megabyte. Ours is the
continuous query: after each piece it tells how the answer changed. Beside it `lxml.iterparse` and
dicts, written by hand for each query, which give the answer once, at the end. Events for each
second of the clock in one process; the median of rounds in which both take turns.
The answers at the end were {"equal" if equal else "NOT EQUAL"}.

{markdown(head, rows)}
{machine()}
"""
