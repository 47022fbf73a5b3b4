"""`xstreamcast bench paths`: published queries, ours beside its peers, from file to answer."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import bench
from bench import queries
from bench.generate import natural, positive
from bench.machine import machine
from bench.peers import Answer, lxml, normalised, ours, saxon, scan, xpath
from bench.queries import JOINS, Query
from bench.rounds import ROUNDS, Contender, Timing, interleaved
from bench.tables import ABSENT, geometric_mean, markdown, rate, ratio, seconds

OURS, SAXON, LXML, EXPAT = "ours", "SaxonC-HE", "lxml", "expat"
NAMES = (OURS, SAXON, LXML, EXPAT)
REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "paths.md"


@dataclass(frozen=True, slots=True)
class Measured:
    """One query on one document: how long each took, and whose answer is not SaxonC-HE's."""

    query: Query
    size: int
    timings: dict[str, Timing[str]]

    def median(self, name: str) -> float | None:
        return self.timings[name].median if name in self.timings else None

    def speedup(self, name: str, over: str) -> float | None:
        """How many times as fast `name` is as `over`."""
        mine, other = self.median(name), self.median(over)
        return other / mine if mine and other else None

    def differing(self) -> list[str]:
        """Who answers otherwise than SaxonC-HE; expat answers nothing."""
        if SAXON not in self.timings:
            return []
        right = normalised(self.timings[SAXON].answer)
        asked = [name for name in (OURS, LXML) if name in self.timings]
        return [name for name in asked if normalised(self.timings[name].answer) != right]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", action="store_true", help="SaxonC-HE, lxml and expat as well")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=NAMES, help="just these")
    parser.add_argument("--xmark", action="store_true", help="XMark's Q1 to Q20 as well")
    parser.add_argument("--factor", type=positive, help="size (1, and 0.1 for XMark's queries)")
    parser.add_argument("--seed", type=natural, default=bench.SEED)
    parser.add_argument("--rounds", type=natural, default=ROUNDS)
    parser.add_argument("--write", action="store_true", help=f"keep the table in {REPORT.name}")


def main(args: argparse.Namespace) -> int:
    crew = _crew(args.only or (NAMES if args.peers else (OURS,)))
    report, wrong = _part("Nine paths", queries.nine(), crew, args.factor or 1.0, args)
    if args.xmark:
        factor = args.factor or 0.1
        more, also_wrong = _part("XMark", queries.xmark(), crew, factor, args)
        report, wrong = report + more + _growth(crew, factor, args), wrong + also_wrong
    report += "\n" + machine()
    sys.stdout.write(report)
    if args.write:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(f"# Queries, from the file to the answer\n{report}")
    return 1 if wrong else 0


def _crew(names: Sequence[str]) -> dict[str, Answer]:
    """Who is measured; SaxonC-HE starts up here and not in a round."""
    made: dict[str, Answer] = {}
    for name in names:
        made[name] = {OURS: lambda: ours, SAXON: saxon, LXML: lxml, EXPAT: lambda: scan}[name]()
    return made


def _part(
    title: str,
    asked: Sequence[Query],
    crew: dict[str, Answer],
    factor: float,
    args: argparse.Namespace,
) -> tuple[str, int]:
    """A chapter of the report, and how many answers in it are wrong."""
    measured = [measure(query, crew, factor, args) for query in asked]
    wrong = [f"{one.query.name}: {name}" for one in measured for name in one.differing()]
    text = f"\n## {title}, factor {factor:g}\n\n{table(measured, tuple(crew))}\n"
    if SAXON in crew:
        text += _verdict(wrong, len(measured))
    return text, len(wrong)


def _verdict(wrong: list[str], asked: int) -> str:
    if wrong:
        return f"Answers that differ from SaxonC-HE's: {', '.join(wrong)}.\n"
    return f"All answers to the {asked} queries equal SaxonC-HE's.\n"


def measure(
    query: Query, crew: dict[str, Answer], factor: float, args: argparse.Namespace
) -> Measured:
    """Let all who can say the query answer it, in turns."""
    path = bench.data(query.kind, factor, args.seed)
    able = {name: run for name, run in crew.items() if name != LXML or xpath(query)}
    contenders = [Contender(name, partial(run, query, path)) for name, run in able.items()]
    measured = Measured(query, path.stat().st_size, interleaved(contenders, args.rounds))
    told = ", ".join(f"{name} {seconds(measured.median(name))} s" for name in able)
    sys.stderr.write(f"{query.name}: {told}\n")
    return measured


def table(measured: Sequence[Measured], names: Sequence[str]) -> str:
    """Medians in seconds, our rate, and how many times as fast we are as each peer."""
    peers = [name for name in names if name != OURS]
    beside = peers if OURS in names else []
    lead = names[0]
    header = [
        "query",
        *(f"{name} s" for name in names),
        f"{lead} MB/s",
        *(f"× {p}" for p in beside),
    ]
    rows = [_row(one, names, beside) for one in measured]
    return markdown(header, [*rows, _means(measured, names, beside)])


def _row(one: Measured, names: Sequence[str], beside: Sequence[str]) -> list[str]:
    took = one.median(names[0])
    return [
        one.query.name,
        *(seconds(one.median(name)) for name in names),
        rate(one.size, took) if took else ABSENT,
        *(ratio(one.speedup(OURS, name)) for name in beside),
    ]


def _means(measured: Sequence[Measured], names: Sequence[str], beside: Sequence[str]) -> list[str]:
    return [
        "geometric mean",
        *(seconds(geometric_mean(one.median(name) for one in measured)) for name in names),
        "",
        *(ratio(geometric_mean(m.speedup(OURS, name) for m in measured)) for name in beside),
    ]


def _growth(crew: dict[str, Answer], factor: float, args: argparse.Namespace) -> str:
    """The joins on a document twice as large: 2 is linear, 4 is quadratic."""
    names = [name for name in crew if name in (OURS, SAXON)]
    chosen = {name: crew[name] for name in names}
    rows = []
    for query in (one for one in queries.xmark() if one.name in JOINS):
        small = measure(query, chosen, factor, args)
        large = measure(query, chosen, 2 * factor, args)
        rows.append([query.name, *(ratio(_grown(small, large, name)) for name in names)])
    title = f"Growth of the joins from factor {factor:g} to {2 * factor:g}"
    return f"\n## {title}\n\n2 is linear, 4 is quadratic.\n\n{markdown(['query', *names], rows)}"


def _grown(small: Measured, large: Measured, name: str) -> float | None:
    before, after = small.median(name), large.median(name)
    return after / before if before and after else None
