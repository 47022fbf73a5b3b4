"""`xstreamcast bench memory`: what running queries hold while a document comes in fragments."""

from __future__ import annotations

import argparse
import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import bench
from bench.fragments import fragments
from bench.generate import natural, positive
from bench.memory_report import plot, report
from bench.orders import ORDERS, ordered
from bench.peers import installed, normalised
from bench.resident import peak, reset_peak, resident
from xstreamcast.api import query
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.run import Watching
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.watching.watch import Watch

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "memory.md"
STREAM, FACTOR, SMALL, CHUNK, SAMPLES = "auction", 0.235, 0.02, 1 << 16, 200
# The three queries of the paper, the document as a stream.
QUERIES = {
    "increases": "/site/open_auctions//increase",
    "bidders of dear auctions": '/site/open_auctions/open_auction[initial > "10"]/bidder',
    "high bids": '/site/open_auctions/open_auction/bidder[increase > "200"]',
}


@dataclass(frozen=True, slots=True)
class Sample:
    """What was held when so many bytes had been read."""

    read: int
    index: int  # of history: links, keys
    payload: int  # of history: what lies on tapes
    operators: int
    links: int  # fragments and holes in the history
    resident: int


@dataclass(frozen=True, slots=True)
class Run:
    """One query over one order, in a process of its own."""

    query: str
    order: str
    size: int
    seconds: float
    peak: int
    changes: int
    answer: list[str]
    samples: list[Sample]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--factor", type=positive, default=FACTOR, help=f"size ({FACTOR})")
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which document and order")
    parser.add_argument("--peers", action="store_true", help="SaxonC-HE as well")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")
    parser.add_argument("--child", nargs=2, metavar="WORD", help=argparse.SUPPRESS)


def main(args: argparse.Namespace) -> int:
    """Measure each query and order apart; write the report."""
    if args.child:
        name, order = args.child
        found = saxon(name, args) if order == "saxon" else asdict(child(name, order, args))
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    document = bench.data("auction", args.factor, args.seed)
    runs = [_run(_apart(name, order, args)) for name in QUERIES for order in ORDERS]
    peers = {name: _apart(name, "saxon", args) for name in QUERIES} if args.peers else {}
    right = all(_same(one, peers[one.query]) for one in runs if one.query in peers)
    text = report(runs, peers, document.stat().st_size, right)
    sys.stdout.write(text)
    if args.write:
        plot(runs, peers, REPORT.with_suffix(".svg"))
        REPORT.write_text(text)
    return 0 if right else 1


def _apart(name: str, order: str, args: argparse.Namespace) -> dict[str, object]:
    words = ["bench", "memory", "--factor", str(args.factor), "--seed", str(args.seed)]
    command = [sys.executable, "-m", "xstreamcast", *words, "--child", name, order]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    sys.stderr.write(f"{name}, {order}\n")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run(told: dict[str, object]) -> Run:
    samples = [Sample(**one) for one in told.pop("samples")]  # type: ignore[attr-defined]
    return Run(**told, samples=samples)  # type: ignore[arg-type]


def _same(one: Run, peer: dict[str, object]) -> bool:
    return _bare("".join(one.answer)) == _bare(str(peer["answer"]))


def _bare(answer: str) -> str:
    return re.sub(r'vt(From|To)="[^"]*"', "", normalised(answer))


# --- in a process of its own ------------------------------------------------------------------


def child(name: str, order: str, args: argparse.Namespace) -> Run:
    """One query over one order: bytes held, as the engine says and as the system says."""
    for _ in range(2):
        _Held(name, ordered(fragments(SMALL, args.seed), order, args.seed), 0).run()
    parts = ordered(fragments(args.factor, args.seed), order, args.seed)
    gc.collect()
    before = resident()
    reset_peak()
    began = time.process_time()
    held = _Held(name, parts, before)
    held.run()
    took = time.process_time() - began
    return Run(
        name, order, held.size, took, peak() - before, held.changes, _answer(name, parts),
        held.samples,
    )  # fmt: skip


def _watching(name: str, pieces: Iterator[bytes]) -> Watching:
    asked = f'stream("{STREAM}"){QUERIES[name]}'
    # the document is what it is: nothing of it will be sent in another version
    return query(asked).watching(None, {STREAM: pieces}, WatchOptions(immutable=("/site",)))


def _answer(name: str, parts: list[bytes]) -> list[str]:
    """Not measured: the answer that the changes add up to."""
    ticks = _watching(name, _pieces(parts)).ticks()
    return Accumulated(change for some in ticks for change in some).items()


def _pieces(parts: list[bytes]) -> Iterator[bytes]:
    """The stream as a network brings it."""
    held: list[bytes] = []
    length = 0
    for part in parts:
        held.append(part)
        length += len(part)
        if length >= CHUNK:
            yield b"".join(held)
            held, length = [], 0
    yield b"".join(held)


class _Held:
    """A running query that is looked at between two pieces."""

    def __init__(self, name: str, parts: list[bytes], before: int) -> None:
        self._parts, self._before = parts, before
        self.size = sum(map(len, parts))
        self.samples: list[Sample] = []
        self.changes = self._read = 0
        self._watching = _watching(name, self._looked_at())

    def run(self) -> None:
        for told in self._watching.ticks():
            self.changes += len(told)

    def _looked_at(self) -> Iterator[bytes]:
        step = self.size // SAMPLES
        for piece in _pieces(self._parts):
            if self._read >= step * len(self.samples):
                self.samples.append(self._sample())
            self._read += len(piece)
            yield piece
        self.samples.append(self._sample())

    def _sample(self) -> Sample:
        watch = self._watching.watch
        feed = watch._feeds.get(STREAM) if isinstance(watch, Watch) else None
        if not isinstance(feed, ForgettingFeed) or watch is None:
            return Sample(self._read, 0, 0, 0, 0, resident() - self._before)
        payload = feed.payload_bytes
        operators = watch.state_bytes - feed.state_bytes
        links = len(feed.history.fragments) + len(feed.history.holes)
        index = feed.state_bytes - payload
        now = resident() - self._before
        return Sample(self._read, index, payload, operators, links, now)


def saxon(name: str, args: argparse.Namespace) -> dict[str, object]:
    """SaxonC-HE over the whole document: how much its process grows."""
    processor = installed("saxonche").PySaxonProcessor(license=False)

    def ask(path: Path) -> str:
        compiler = processor.new_xquery_processor()
        compiler.set_query_content(QUERIES[name])
        compiler.set_context(xdm_item=processor.parse_xml(xml_file_name=str(path)))
        return str(compiler.run_query_to_string() or "")

    ask(bench.data("auction", SMALL, args.seed))
    before = resident()
    reset_peak()
    answer = ask(bench.data("auction", args.factor, args.seed))
    return {"peak": peak() - before, "answer": answer}
