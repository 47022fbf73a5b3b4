"""`xstreamcast bench updates`: two queries left running while fragments come."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import bench
from bench.credit import QUERIES, STREAM, STRUCTURE, batches, charges, opening
from bench.generate import natural
from bench.machine import machine
from bench.peers import installed, normalised
from bench.tables import ABSENT, markdown
from xstreamcast.algebra.translate import translate
from xstreamcast.algebra.translate.words import XSC, stream_name
from xstreamcast.api import compiled
from xstreamcast.edges.structures import read_structure
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.edges.wire.encoder import CLOSE
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.network import Network
from xstreamcast.syntax import parse

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "updates.md"
REMARKS = "\n## What bounds these figures\n"
ACCOUNTS = (1_000, 10_000, 50_000)
MAIN = 10_000
Clock = Callable[[], float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fragments", type=natural, default=1_000_000, help="with 10,000 accounts")
    parser.add_argument("--fewer", type=natural, default=200_000, help="with other numbers of them")
    parser.add_argument("--accounts", type=natural, nargs="+", default=list(ACCOUNTS))
    parser.add_argument("--batch", type=natural, default=1000, help="fragments in a batch")
    parser.add_argument("--singles", type=natural, default=1000, help="fragments one by one")
    parser.add_argument("--peers", action="store_true", help="beside SaxonC-HE")
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which stream")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")


def main(args: argparse.Namespace) -> int:
    measured = []
    for accounts in args.accounts:
        count = args.fragments if accounts == MAIN else args.fewer
        measured.append(_told(measure(accounts, count, args)))
    for name in QUERIES:
        measured.append(_told(measure(MAIN, args.fewer, args, (name,))))
    peers = [_peer(accounts, args) for accounts in args.accounts] if args.peers else []
    text = report(measured, peers, args)
    sys.stdout.write(text)
    if args.write:
        REPORT.write_text("# Queries left running over a stream of fragments\n" + text + remarks())
    return 0 if all(one.equal for one in peers) else 1


def remarks() -> str:
    """What was written by hand at the end of the last report."""
    before = REPORT.read_text() if REPORT.exists() else ""
    _, rule, kept = before.partition(REMARKS)
    return rule + kept


# -- ours -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Running:
    """Queries over one stream, which is decoded and taken in once for all of them."""

    queries: tuple[str, ...] = tuple(QUERIES)
    network: Network = field(init=False)
    decoder: Decoder = field(init=False)
    ids: Ids = field(default_factory=Ids)
    told: dict[str, Accumulated] = field(default_factory=dict)

    def __post_init__(self) -> None:
        programs = {name: compiled(QUERIES[name]) for name in self.queries}
        self.network = Network(programs, {STREAM: "fragments"})
        self.decoder = Decoder(STREAM, names=self.network.names, ids=self.ids)
        self.told = {name: Accumulated() for name in self.queries}

    def feed(self, chunk: bytes) -> int:
        """Take bytes in → how many changes they make, told and applied."""
        self.network.on_arrivals(STREAM, self.decoder.feed(chunk), self.ids)
        told = self.network.ticks()
        for name, changes in told.items():
            for change in changes:
                self.told[name].apply(change)
        return sum(map(len, told.values()))


@dataclass(frozen=True, slots=True)
class Measured:
    """Processor time: of each batch, and of each single fragment; and what a clock showed."""

    queries: tuple[str, ...]
    accounts: int
    fragments: int
    batch: int
    took: list[float]
    changes: int
    single: list[float]
    wall: list[float]
    kept: int

    def rate(self, part: slice = slice(None)) -> float:
        """Fragments each second."""
        took = self.took[part]
        return self.batch * len(took) / sum(took) if took else 0.0


def measure(
    accounts: int, count: int, args: argparse.Namespace, queries: tuple[str, ...] = tuple(QUERIES)
) -> Measured:
    """Batches, then fragments one by one on top of what has come."""
    running = Running(queries)
    running.feed(opening(accounts, args.seed))
    lines = charges(accounts, count + args.singles, args.seed)
    took, changes = [], 0
    for chunk in batches(_first(lines, count), args.batch):
        seconds, found = _timed(running, chunk, time.process_time)
        took.append(seconds)
        changes += found
    single, wall = [], []
    for line in lines:
        begun = time.perf_counter()
        single.append(_timed(running, line, time.process_time)[0])
        wall.append(time.perf_counter() - begun)
    kept = running.network.state_bytes
    return Measured(queries, accounts, count, args.batch, took, changes, single, wall, kept)


def _first(lines: Iterator[bytes], count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield next(lines)


def _timed(running: Running, chunk: bytes, clock: Clock) -> tuple[float, int]:
    begun = clock()
    found = running.feed(chunk)
    return clock() - begun, found


def percentile(values: list[float], percent: int) -> float:
    """The value that so many of a hundred do not exceed."""
    return sorted(values)[min(len(values) * percent // 100, len(values) - 1)]


def _told(one: Measured) -> Measured:
    p99 = percentile(one.single, 99) * 1e3 if one.single else 0.0
    what = f"{one.accounts} accounts, {' and '.join(one.queries)}"
    sys.stderr.write(f"{what}: {one.rate():.0f} fragments/s, p99 {p99:.1f} ms\n")
    return one


# -- SaxonC-HE ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Peer:
    """What computing both queries again takes when so many fragments are there."""

    accounts: int
    fragments: int
    parse: float
    run: float
    ours: float  # one more batch on top of the same fragments
    equal: bool


def _peer(accounts: int, args: argparse.Namespace) -> Peer:
    count = 10 * args.batch
    running = Running()
    wire = [opening(accounts, args.seed)]
    running.feed(wire[0])
    took = 0.0
    for chunk in batches(charges(accounts, count, args.seed), args.batch):
        wire.append(chunk)
        took = _timed(running, chunk, time.process_time)[0]
    text = b"".join([*wire, CLOSE]).decode()
    begun = time.process_time()
    document = _processor().parse_xml(xml_text=text)
    parsed = time.process_time()
    answers = {name: _saxon(_translated(name), document) for name in QUERIES}
    run = time.process_time() - parsed
    equal = all(
        normalised(answers[name]) == normalised("\n".join(told.items()))
        for name, told in running.told.items()
    )
    return Peer(accounts, count + 2 * accounts + 1, parsed - begun, run, took, equal)


@cache
def _processor() -> Any:
    return installed("saxonche").PySaxonProcessor(license=False)


@cache
def _translated(name: str) -> str:
    return translate(parse(QUERIES[name]), "qac+", {STREAM: read_structure(STRUCTURE)}, "")


def _saxon(text: str, document: Any) -> str:
    compiler = _processor().new_xquery_processor()
    compiler.set_parameter(f"{{{XSC}}}{stream_name(STREAM)}", document)
    compiler.set_query_content(text)
    return str(compiler.run_query_to_string() or "")


# -- report ---------------------------------------------------------------------------------------


def report(measured: list[Measured], peers: list[Peer], args: argparse.Namespace) -> str:
    """The tables, with the machine below."""
    text = HEAD.format(batch=args.batch, singles=args.singles) + "\n" + _rates(measured)
    if peers:
        same = "equal" if all(one.equal for one in peers) else "not equal"
        text += PEERS.format(batch=args.batch) + "\n" + _beside(peers)
        text += f"\nThe answers of both at that moment are {same}.\n"
    return f"{text}\n{machine()}"


HEAD = """
Credit accounts with charges, a status for each, and limits that change; the fraud query (charges
of the last hour) and the maxed-out query (charges of November) run in one process over one
history. Figures are processor time of one core, with decoding, history, both
queries and the changes applied, in batches of {batch}; then {singles} fragments one by one, from
their bytes to the applied change. The clock's latency is beside it: the machine was shared.
"""
PEERS = """
## Beside computing again

SaxonC-HE runs the QaC+ translations of both queries over all fragments that have come, once, after
10 batches. A program that recomputes would do that for each batch; that it also has to parse what
came, or keep it as a tree, is in a column of its own. Ours is the last of these batches of {batch}.
"""


def _rates(measured: list[Measured]) -> str:
    header = ["queries", "accounts", "fragments", "fragments/s", "first tenth", "last tenth",
              "p50 ms", "p99 ms", "clock p50", "clock p99", "changes", "MB kept"]  # fmt: skip
    return markdown(header, [_row(one) for one in measured])


def _row(one: Measured) -> list[str]:
    tenth = max(1, len(one.took) // 10)
    rates = [one.rate(), one.rate(slice(tenth)), one.rate(slice(-tenth, None))]
    times = [(values, percent) for values in (one.single, one.wall) for percent in (50, 99)]
    return [
        "both" if len(one.queries) > 1 else one.queries[0],
        f"{one.accounts:,}", f"{one.fragments:,}", *(f"{rate:,.0f}" for rate in rates),
        *(f"{percentile(v, p) * 1e3:.1f}" if v else ABSENT for v, p in times),
        f"{one.changes:,}", f"{one.kept / 1e6:.0f}",
    ]  # fmt: skip


def _beside(peers: list[Peer]) -> str:
    header = ["accounts", "fragments", "ours s", "SaxonC-HE s", "its parsing s", "SaxonC-HE / ours"]
    return markdown(header, [
        [f"{one.accounts:,}", f"{one.fragments:,}", f"{one.ours:.3f}", f"{one.run:.2f}",
         f"{one.parse:.2f}", f"{one.run / one.ours:.0f} ×"]
        for one in peers
    ])  # fmt: skip
