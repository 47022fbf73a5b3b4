"""Many queries over one stream in one process: memory of a query, cost of one fragment.

`xstreamcast bench many_queries [--counts 10 100 1000 10000] [--alone 100] [--write]`

Three kinds of queries, each with a constant of its own: prices of one symbol, the volume of one
symbol, and the largest trades of one symbol that hold now. One fragment concerns the queries of one
symbol. Beside them, fewer queries that share a history and nothing else.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from bench.machine import machine
from xstreamcast.cli.arguments import Parsed, Parser

COUNTS: Final = (10, 100, 1000, 10000)
FRAGMENTS: Final = 400  # one by one, behind as many that come at once
PAGE: Final = Path(__file__).parents[1] / "docs" / "benchmarks" / "many-queries.md"
KINDS: Final = (
    'for $t in stream("trades")/day/trade where $t/symbol = "S{0}" return $t/price',
    'sum(stream("trades")/day/trade[symbol = "S{0}"]/volume)',
    '(for $t in stream("trades")/day/trade?[now] where $t/symbol = "S{0}" '
    "order by number($t/volume) descending return $t)[position() <= 3]",
)
HEAD: Final = (
    '<stream:structure xmlns:stream="urn:xstreamcast:stream"><tag id="1" name="day" '
    'type="snapshot"><tag id="2" name="trade" type="temporal"/></tag></stream:structure>'
)


def add_arguments(parser: Parser) -> None:
    """What the benchmark understands."""
    parser.add_argument("--counts", type=int, nargs="+", default=list(COUNTS), metavar="N")
    parser.add_argument("--alone", type=int, default=100, metavar="N", help="most that run alone")
    parser.add_argument("--write", action="store_true", help="write the page in docs/benchmarks")
    parser.add_argument("--one", nargs=2, metavar=("N", "HOW"), help="in this process, one figure")


def main(arguments: Parsed) -> int:
    """Each figure in a process of its own."""
    if arguments.one is not None:
        sys.stdout.write(_measured(int(arguments.one[0]), arguments.one[1] == "together"))
        return 0
    rows = [(n, "together") for n in arguments.counts]
    rows += [(n, "alone") for n in arguments.counts if n <= arguments.alone]
    lines = ["| queries | how | programs | first answer, s | KB a query | ms a fragment |"]
    lines.append("|---|---|---|---|---|---|")
    sys.stdout.write("\n".join(lines) + "\n")
    for count, how in rows:
        command = [sys.executable, "-m", "xstreamcast", "bench", "many_queries", "--one"]
        done = subprocess.run([*command, str(count), how], capture_output=True, check=True)
        lines.append(f"| {count:,} | {how} | {done.stdout.decode().strip()} |")
        sys.stdout.write(lines[-1] + "\n")
    if arguments.write:
        PAGE.write_text(_page(lines), "utf-8")
    return 0


def _measured(count: int, together: bool) -> str:
    """The cells of one row."""
    texts = {f"q{at}": KINDS[at % 3].format(at // 3) for at in range(count)}
    _over(dict(list(texts.items())[:3]), together, 3)  # kernels and caches are warm
    before = _resident()
    began = time.process_time()
    programs, feed, tick = _over(texts, together, 0)
    symbols = max(1, count // 3)
    feed(HEAD + _root(2 * FRAGMENTS + 1))
    feed("".join(_trade(at, at % symbols) for at in range(1, FRAGMENTS + 1)))
    tick()
    begun, held = time.process_time() - began, _resident() - before
    times = []
    for at in range(FRAGMENTS + 1, 2 * FRAGMENTS + 1):
        fragment = _trade(at, at * 7 % symbols)
        began = time.process_time()
        feed(fragment)
        tick()
        times.append(time.process_time() - began)
    return (
        f"{programs} | {begun:.2f} | {held / count / 1024:,.1f} | "
        f"{1000 * statistics.median(times):.2f}"
    )


def _over(texts: dict[str, str], together: bool, warm: int) -> tuple[int, Any, Any]:
    """How many programs run, and what takes fragments in, and what ticks."""
    from xstreamcast.api import queries, query
    from xstreamcast.edges.wire.decoder import Decoder
    from xstreamcast.operators.watching.network import Network
    from xstreamcast.operators.watching.query_set import QuerySetRun

    run: Network
    if together:
        found = queries(texts).set
        run = QuerySetRun(found.programs, {"trades": "fragments"}, answered=found.answered)
    else:
        run = Network({n: query(t).program for n, t in texts.items()}, {"trades": "fragments"})
    decoder = Decoder("trades", names=run.names)

    def feed(fragments: str) -> None:
        run.on_arrivals("trades", decoder.feed(fragments.encode()), decoder.ids)

    if warm:
        feed(HEAD + _root(warm))
        for at in range(1, warm + 1):
            feed(_trade(at, 0))
            run.ticks()
    return len(run.watches), feed, run.ticks


def _root(count: int) -> str:
    holes = "".join(f'<stream:hole id="{at}" tsid="2"/>' for at in range(1, count + 1))
    head = 'id="0" tsid="1" validTime="2026-01-01"'
    return f"<stream:filler {head}><day>{holes}</day></stream:filler>"


def _trade(at: int, symbol: int) -> str:
    valid = f"2026-01-01T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}"
    content = f"<symbol>S{symbol}</symbol><price>{at % 97}</price><volume>{at * 7 % 1000}</volume>"
    head = f'id="{at}" tsid="2" validTime="{valid}"'
    return f"<stream:filler {head}><trade>{content}</trade></stream:filler>"


def _resident() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * 4096


def _page(lines: list[str]) -> str:
    return (
        "# Many queries over one stream\n\n"
        "`xstreamcast bench many_queries --write` runs queries of three kinds over one stream of "
        "fragments in one process: the prices of a\nsymbol, the sum of its volumes, and its three "
        "largest trades that hold now. Each query names a symbol of its own. *Together*: as "
        "`xstreamcast watch\nFOLDER` runs them; those that differ only in constants are one "
        "program. *Alone*: one program each, over a shared history. A fragment concerns three\n"
        "queries. Times are processor time: until the first answer, compiling included, and the "
        f"median of {FRAGMENTS} fragments, one by one.\n\n" + "\n".join(lines) + "\n\n" + machine()
    )
