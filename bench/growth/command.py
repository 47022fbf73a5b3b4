"""The options of `xstreamcast bench growth`, and what it does with them."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.generate import natural
from bench.growth.catalogue import chosen
from bench.growth.check import check
from bench.growth.entry import Entry
from bench.growth.measure import Found, Measured, Peer, to_json
from bench.growth.processes import found
from bench.growth.report import Row, report

CHECKOUT = Path(__file__).parents[2]
REPORT = CHECKOUT / "docs" / "benchmarks" / "growth.md"
SIZES = (1_000, 4_000, 16_000, 64_000)
REMARKS = "\n## What bounds these figures\n"
PEER_LARGEST = 4_000  # recomputing larger ones says nothing new and takes hours


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=natural, nargs="+", default=list(SIZES), help="units")
    parser.add_argument("--queries", nargs="+", default=["*"], metavar="GLOB", help="by name")
    parser.add_argument("--rounds", type=natural, default=7, help="changes of each kind, measured")
    parser.add_argument("--limit", type=natural, default=60, help="seconds for a query and size")
    parser.add_argument("--memory", type=natural, default=8, help="gigabytes for it")
    parser.add_argument("--check", action="store_true", help="compare answers, measure nothing")
    parser.add_argument("--check-size", type=natural, default=40, help="units in that comparison")
    parser.add_argument("--unchecked", action="store_true", help="measure without comparing first")
    parser.add_argument("--peers", action="store_true", help="beside SaxonC-HE recomputing")
    parser.add_argument("--list", action="store_true", help="name the queries")
    parser.add_argument("--json", type=Path, help="keep the measurements as lines of JSON")
    parser.add_argument("--output", type=Path, help="keep the report in this file")
    parser.add_argument("--write", action="store_true", help="keep it in docs/benchmarks")


def main(args: argparse.Namespace) -> int:
    entries = chosen(args.queries)
    if args.list:
        sys.stdout.write("".join(f"{one.name:<24} {one.what}\n" for one in entries))
        return 0
    wrong = set() if args.unchecked else set(_wrong(entries, args.check_size))
    if args.check:
        return 1 if wrong else 0
    rows = [_measured(one, args) for one in entries if one.name not in wrong]
    text = report(rows, sorted(args.sizes), sorted(wrong), args)
    sys.stdout.write(text)
    _keep(text, rows, args)
    return 1 if wrong else 0


def _wrong(entries: list[Entry], n: int) -> Iterator[str]:
    """The queries whose answers differ, said as they are found."""
    for entry in entries:
        checked = check(entry, n)
        said = "; ".join(checked.differences) or "equal"
        sys.stderr.write(f"{entry.name}: {said}\n")
        if checked.differences:
            yield entry.name


def _measured(entry: Entry, args: argparse.Namespace) -> Row:
    """All sizes of a query, ours and then theirs, each in a process that ends where it must."""
    sizes = sorted(args.sizes)
    results, ended = _process("ours", entry, sizes, args)
    measured = {one.n: one for one in results if isinstance(one, Measured)}
    peers: dict[int, Peer] = {}
    peers_ended = ""
    if args.peers:
        small = [size for size in sizes if size <= PEER_LARGEST]
        results, peers_ended = _process("theirs", entry, small, args)
        peers = {one.n: one for one in results if isinstance(one, Peer)}
    row = Row(entry, measured, ended, peers, peers_ended)
    sys.stderr.write(f"{row.line(sizes)}\n")
    return row


def _process(
    who: str, entry: Entry, sizes: list[int], args: argparse.Namespace
) -> tuple[list[Found], str]:
    numbers = (args.rounds, args.limit, args.memory, *sizes)
    return found([who, entry.name, *map(str, numbers)], args.limit, args.memory)


def _keep(text: str, rows: list[Row], args: argparse.Namespace) -> None:
    if args.json is not None:
        lines = [to_json(one) + "\n" for row in rows for one in row.found()]
        args.json.write_text("".join(lines))
    if args.output is not None:
        args.output.write_text("# One change, as streams grow\n" + text)
    if args.write:
        before = REPORT.read_text() if REPORT.exists() else ""
        _, rule, kept = before.partition(REMARKS)
        REPORT.write_text("# One change, as streams grow\n" + text + rule + kept)
