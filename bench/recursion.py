"""Recursive programs over small sequences, beside SaxonC-HE: processor time of one process.

Evaluation by columns pays per expression what it saves per row: programs whose batches hold one
row show what that costs. `xstreamcast bench recursion [NAME …]`; `--app` measures the application
sets of the W3C suite in place of the programs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from xstreamcast.cli.arguments import Parsed, Parser

FOLDER: Final = Path(__file__).parent / "queries" / "recursion"
ROUNDS: Final = 3


def programs() -> dict[str, str]:
    """The programs by name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.xq"))}


def ours(text: str) -> Callable[[], str]:
    """The program by this engine; compiled once."""
    from xstreamcast.api import query

    asked = query(text)
    return lambda: " ".join(asked.run().lines())


def saxons(text: str) -> Callable[[], str]:
    """The program by SaxonC-HE; compiled once."""
    from bench.peers import saxon_program

    return saxon_program(text)


def add_arguments(parser: Parser) -> None:
    """What the benchmark understands."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; all of them if none")
    parser.add_argument("--app", action="store_true", help="the application sets of the W3C suite")
    parser.add_argument("--suite", metavar="FOLDER", help="where its cases are; ../shared/qt3")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="rounds of --app")


def main(arguments: Parsed) -> int:
    """Measure and print a line for each program."""
    if arguments.app:
        from bench import app_sets

        folder = Path(arguments.suite) if arguments.suite else app_sets.SUITE
        return app_sets.report(folder, arguments.rounds, arguments.names)
    known = programs()
    ratios = []
    sys.stdout.write(f"{'program':<12} {'ours s':>9} {'SaxonC s':>9} {'ratio':>7}\n")
    for name in arguments.names or known:
        mine, peer = ours(known[name]), saxons(known[name])
        if mine() != peer():
            raise SystemExit(f"{name}: the answers differ: {mine()!r}, {peer()!r}")
        a, b = _seconds(mine), _seconds(peer)
        ratios.append(a / b)
        sys.stdout.write(f"{name:<12} {a:>9.4f} {b:>9.4f} {a / b:>6.1f}x\n")
    mean = 1.0
    for ratio in ratios:
        mean *= ratio ** (1 / len(ratios))
    sys.stdout.write(f"geometric mean of the ratios: {mean:.1f}\n")
    return 0


def _seconds(run: Callable[[], str]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        run()
        best = min(best, time.process_time() - begin)
    return best
