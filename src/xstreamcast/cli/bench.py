"""`xstreamcast bench`: the benchmarks of the source tree."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from xstreamcast.cli.arguments import Parsed, Parser, parser
from xstreamcast.cli.table import CommandModule, nearest
from xstreamcast.errors import error

CHECKOUT: Final = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark: its file in `bench/` and what it does in a few words."""

    name: str
    help: str


BENCHES: Final = (
    Bench("generate", "write auction, bibliography or map documents of any size"),
    Bench("start", "start time of commands, in processor time"),
    Bench("mapping", "read messages through a mapping, compared with lxml.iterparse and a dict"),
    Bench("tape", "read XML, compared with expat, lxml and SaxonC-HE"),
    Bench("paths", "evaluate path queries, compared with SaxonC-HE, lxml and expat"),
    Bench("recursion", "recursive programs over small sequences, compared with SaxonC-HE"),
    Bench("xmark", "the twenty XMark queries on a large document, compared with SaxonC-HE"),
    Bench("memory", "memory of continuous queries, compared with SaxonC-HE"),
    Bench("history", "query histories with three strategies, compared with SaxonC-HE"),
    Bench("spark", "history queries on Spark, compared with its XML reader and RumbleDB"),
    Bench("kept_values", "queries over a table with and without values that it keeps"),
    Bench("table_logs", "commits of a table in our log and in Delta's"),
    Bench("continuous", "two continuous queries on Spark, compared with Spark alone"),
    Bench("partitions", "processor time of a query in 1, 2, 4 and 8 partitions"),
    Bench("scaling", "estimates for more cores, from the figures on Spark"),
    Bench("growth", "cost of one change as streams grow, compared with SaxonC-HE"),
    Bench("logs", "queries over a log that grows, compared with lxml.iterparse and dicts"),
    Bench("many_queries", "memory and time of up to 10,000 queries over one stream"),
    Bench("soak", "a day of a busy feed through watch: memory, ticks, files and threads"),
    Bench("linear_road", "the Linear Road benchmark, played by the clock and validated"),
    Bench("broadcast", "bytes of a broadcast: fragments or whole documents; many listeners"),
    Bench("updates", "two continuous queries over fragments, compared with SaxonC-HE"),
)


def present(checkout: Path = CHECKOUT) -> list[Bench]:
    return [one for one in BENCHES if _is_there(checkout / "bench" / one.name)]


def _is_there(place: Path) -> bool:
    """Whether a benchmark is a module or a package at this place."""
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def add_arguments(arguments: Parser) -> None:
    rows = "\n".join(f"  {one.name:<12} {one.help}" for one in present())
    arguments.description = f"{arguments.description}\n\n{rows}"
    arguments.add_argument("what", metavar="WHAT", help="one of the above")
    arguments.add_argument("rest", metavar="OPTIONS", nargs=argparse.REMAINDER, help="its own")


def main(args: Parsed) -> int:
    chosen = _find(args.what)
    module = _load(chosen.name)
    arguments = parser(f"xstreamcast bench {chosen.name}", chosen.help)
    module.add_arguments(arguments)
    return module.main(arguments.parse_args(args.rest))


def _find(name: str) -> Bench:
    there = {one.name: one for one in present()}
    if not there:
        raise error(
            "XSCU0006",
            "the benchmarks are not part of the installed package",
            hint="run this from a source checkout, which has a folder bench/",
        )
    if name in there:
        return there[name]
    near = nearest(name, list(there))
    hint = f"did you mean {near}?" if near else f"there are {', '.join(there)}"
    raise error("XSCU0002", f"there is no benchmark {name}", hint=hint)


def _load(name: str) -> CommandModule:
    if str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))
    return cast(CommandModule, import_module(f"bench.{name}"))
