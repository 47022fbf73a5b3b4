"""`xstreamcast bench paths`: published queries, ours beside its peers, from file to answer."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import bench
from bench import queries
from bench.generate import natural, positive
from bench.machine import machine
from bench.peers import Answer, lxml, normalised, ours, saxon, scan, xpath
from bench.queries import JOINS, Query
from bench.resident import keep_freed_memory
from bench.rounds import PATIENCE, ROUNDS, Contender, Timing, interleaved
from bench.tables import ABSENT, geometric_mean, markdown, rate, ratio, seconds

OURS, SAXON, LXML, EXPAT = "ours", "SaxonC-HE", "lxml", "expat"
# How each is made ready: SaxonC-HE starts up here and not in a round.
STARTS: dict[str, Callable[[], Answer]] = {
    OURS: lambda: ours,
    SAXON: saxon,
    LXML: lxml,
    EXPAT: lambda: scan,
}
REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "paths.md"
NOTE = f"¹ slower than {PATIENCE:.0f} s, run once.\n"


@dataclass(frozen=True, slots=True)
class Setting:
    """Who is measured, on documents of which size, and how often."""

    crew: dict[str, Answer]
    factor: float
    seed: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One query on one document: how long each took, and what each answered."""

    query: Query
    size: int
    timings: dict[str, Timing[str]]

    def median(self, name: str) -> float | None:
        return self.timings[name].median if name in self.timings else None

    def speedup(self, over: str) -> float | None:
        """How many times as fast we are as `over`."""
        mine, other = self.median(OURS), self.median(over)
        return other / mine if mine and other else None

    def checked(self) -> dict[str, bool]:
        """Whether each answer is SaxonC-HE's; expat gives none."""
        if SAXON not in self.timings:
            return {}
        right = normalised(self.timings[SAXON].answer)
        asked = [name for name in (OURS, LXML) if name in self.timings]
        return {name: normalised(self.timings[name].answer) == right for name in asked}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", action="store_true", help="SaxonC-HE, lxml and expat as well")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=STARTS, help="just these")
    parser.add_argument("--xmark", action="store_true", help="XMark's Q1 to Q20 as well")
    parser.add_argument("--factor", type=positive, help="size; 1, and 0.1 for XMark's queries")
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which documents")
    parser.add_argument("--rounds", type=natural, default=ROUNDS, help="how many count")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")
    parser.add_argument("--stream", action="store_true", help="documents read as streams instead")
    parser.add_argument("--queries", metavar="NAME", nargs="+", help="with --stream: just these")
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)


def main(args: argparse.Namespace) -> int:
    keep_freed_memory()
    if args.stream:
        from bench import streaming  # here: it imports the engine

        return streaming.main(args)
    names = args.only or (STARTS if args.peers else (OURS,))
    crew = {name: STARTS[name]() for name in names}
    setting = Setting(crew, args.factor or 1.0, args.seed, max(1, args.rounds))
    report, right = chapter("Nine paths", queries.nine(), setting)
    if args.xmark:
        setting = replace(setting, factor=args.factor or 0.1)
        more, also_right = chapter("XMark", queries.xmark(), setting)
        report, right = report + more + growth(setting), right and also_right
    report += "\n" + machine()
    sys.stdout.write(report)
    if args.write:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(f"# Queries, from the file to the answer\n{report}")
    return 0 if right else 1


def chapter(title: str, asked: Iterable[Query], setting: Setting) -> tuple[str, bool]:
    """A part of the report, and whether all answers in it are right."""
    measured = [measure(query, setting) for query in asked]
    checks = [(one.query.name, *check) for one in measured for check in one.checked().items()]
    wrong = [f"{query} by {name}" for query, name, right in checks if not right]
    text = f"\n## {title}, factor {setting.factor:g}\n\n{table(measured, tuple(setting.crew))}\n"
    if wrong:
        text += f"Answers that differ from SaxonC-HE's: {', '.join(wrong)}.\n"
    elif checks:
        text += f"{len(checks)} answers compared with SaxonC-HE's: all equal.\n"
    return text, not wrong


def measure(query: Query, setting: Setting) -> Measured:
    """Let all who can say the query answer it, in turns."""
    path = bench.data(query.kind, setting.factor, setting.seed)
    able = {name: run for name, run in setting.crew.items() if name != LXML or xpath(query)}
    contenders = [Contender(name, partial(run, query, path)) for name, run in able.items()]
    timings = interleaved(contenders, setting.rounds)
    told = ", ".join(f"{name} {seconds(timing.median)} s" for name, timing in timings.items())
    sys.stderr.write(f"{query.name}: {told}\n")
    return Measured(query, path.stat().st_size, timings)


def table(measured: Sequence[Measured], names: Sequence[str]) -> str:
    """Medians in seconds, the rate of the first, and how many times as fast we are as each peer."""
    beside = [name for name in names if name != OURS] if OURS in names else []
    rates, ratios = f"{names[0]} MB/s", [f"× {name}" for name in beside]
    header = ["query", *(f"{name} s" for name in names), rates, *ratios]
    rows = [_row(one, names, beside) for one in measured]
    text = markdown(header, [*rows, _means(measured, names, beside)])
    return text + (f"\n{NOTE}" if "¹" in text else "")


def _row(one: Measured, names: Sequence[str], beside: Sequence[str]) -> list[str]:
    took = one.median(names[0])
    return [
        one.query.name,
        *(_median(one, name) for name in names),
        rate(one.size, took) if took else ABSENT,
        *(ratio(one.speedup(name)) for name in beside),
    ]


def _median(one: Measured, name: str) -> str:
    took = one.median(name)
    return seconds(took) + ("¹" if took is not None and took > PATIENCE else "")


def _means(measured: Sequence[Measured], names: Sequence[str], beside: Sequence[str]) -> list[str]:
    return [
        "geometric mean",
        *(seconds(geometric_mean(one.median(name) for one in measured)) for name in names),
        "",
        *(ratio(geometric_mean(one.speedup(name) for one in measured)) for name in beside),
    ]


def growth(setting: Setting) -> str:
    """How the joins' time grows when the document doubles."""
    crew = {name: run for name, run in setting.crew.items() if name in (OURS, SAXON)}
    small = replace(setting, crew=crew)
    large = replace(small, factor=2 * setting.factor)
    joins = [query for query in queries.xmark() if query.name in JOINS]
    rows = [_grown(measure(query, small), measure(query, large)) for query in joins]
    title = f"Growth of the joins from factor {small.factor:g} to {large.factor:g}"
    return f"\n## {title}\n\n2 is linear, 4 is quadratic.\n\n{markdown(['query', *crew], rows)}"


def _grown(small: Measured, large: Measured) -> list[str]:
    times = [large.timings[name].median / one.median for name, one in small.timings.items()]
    return [small.query.name, *(f"{value:.1f}" for value in times)]
