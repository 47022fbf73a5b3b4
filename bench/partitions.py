"""Processor time of a query in 1, 2, 4 and 8 partitions, stage by stage, in one process.

Every place of a query (router, partitions of each stage, answer) is run one after the other, as
Spark runs them, with the messages that go between them; what each takes is added up. Spark itself
is left out. So the figures say what partitioning costs in all, how the largest partition's share
falls, and what stays in one place; they do not depend on how many cores there are.

xstreamcast bench partitions -o partitions.md
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.growth.catalogue import chosen
from bench.growth.entry import Entry
from xstreamcast.api import compiled
from xstreamcast.edges.decoding import decoder_of
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import arrow, row_schema
from xstreamcast.tape.names import Names

_QUERIES: Final = (
    "group count",
    "group list",
    "join",
    "join group",
    "ordered all",
    "distinct count",
)
_HEADER: Final = (
    "| query | partitions | µs a fragment, all | of one place | router | largest partition | "
    "answer | largest / all partitions |\n|---|--:|--:|--:|--:|--:|--:|--:|"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked of the benchmark."""
    parser.add_argument("--queries", nargs="+", default=list(_QUERIES), help="of `bench growth`")
    parser.add_argument("--partitions", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--units", type=int, default=5000, help="units that are there at first")
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--fragments", type=int, default=2000, help="fragments of a batch")
    parser.add_argument("-o", "--output", type=Path, help="a file for the table")


@dataclass(slots=True)
class Spent:
    """Seconds of processor time: of one place, the router, each partition, and the answer."""

    router: float = 0.0
    parts: dict[int, float] = field(default_factory=dict)
    answer: float = 0.0

    @property
    def all(self) -> float:
        return self.router + sum(self.parts.values()) + self.answer


@contextmanager
def _clock(spent: list[float]) -> Iterator[None]:
    began = time.process_time()
    yield
    spent.append(time.process_time() - began)


def main(arguments: argparse.Namespace) -> int:
    """Measure, and print the table."""
    lines = [_HEADER]
    for entry in chosen(arguments.queries):
        batches, count = _batches(entry, arguments)
        alone = _alone(entry, batches)
        for partitions in arguments.partitions:
            spent = _spent(entry, batches, partitions)
            lines.append(_line(entry.name, partitions, spent, alone, count))
            sys.stderr.write(lines[-1] + "\n")
    text = "\n".join(lines) + "\n"
    if arguments.output is not None:
        arguments.output.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


def _line(name: str, partitions: int, spent: Spent, alone: float, count: int) -> str:
    largest = max(spent.parts.values())
    each = [spent.all, alone, spent.router, largest, spent.answer]
    figures = " | ".join(f"{one / count * 1e6:.0f}" for one in each)
    share = largest / sum(spent.parts.values())
    return f"| {name} | {partitions} | {figures} | {share:.2f} |"


def _batches(entry: Entry, arguments: argparse.Namespace) -> tuple[list[Any], int]:
    """The rows of each batch: the first opens the streams, and is not counted."""
    wires = [entry.opening(arguments.units)]
    for batch in range(arguments.batches):
        wire = dict.fromkeys(entry.inputs, b"")
        for n in range(arguments.fragments):
            make = entry.added if n % 2 else entry.corrected
            stream, chunk = make(arguments.units, batch * arguments.fragments + n)
            wire[stream] += chunk
        wires.append(wire)
    readers = {name: decoder_of("fragments", name, Names(), "quarantine") for name in entry.inputs}
    rows = {name: RowEncoder(name, one.ids) for name, one in readers.items()}
    out = []
    for wire in wires:
        found = [
            rows[name].rows(one)
            for name, chunk in wire.items()
            for one in readers[name].feed(chunk)
        ]
        out.append(arrow().Table.from_batches(found, row_schema()))
    return out, arguments.batches * arguments.fragments


def _asked(entry: Entry) -> Any:
    from xstreamcast.edges.partitions.host import WatchRequest

    return WatchRequest({"": compiled(entry.query)}, dict.fromkeys(entry.inputs, "fragments"))


def _alone(entry: Entry, batches: list[Any]) -> float:
    """Seconds of the query in one place, as it runs where there is one partition."""
    from xstreamcast.edges.partitions.host import Host

    host, spent = Host(_asked(entry)), list[float]()
    for number, table in enumerate(batches):
        gc.collect()
        with _clock(spent if number else []):
            host.take(table, None)
    return sum(spent)


def _spent(entry: Entry, batches: list[Any], partitions: int) -> Spent:
    places = _Places(_asked(entry), partitions)
    for number, table in enumerate(batches):
        if number == 1:
            places.spent = Spent(parts=dict.fromkeys(range(partitions), 0.0))
        gc.collect()
        places.take(table)
    return places.spent


class _Places:
    """All places of a query."""

    def __init__(self, asked: Any, partitions: int) -> None:
        from xstreamcast.edges.partitions.later import Later, StagePlace
        from xstreamcast.edges.partitions.route import Router
        from xstreamcast.edges.partitions.units import UnitPartition
        from xstreamcast.spark.watching.steps import UNKNOWN

        self.steps = UNKNOWN
        self.router, self._log = Router(asked, partitions), list[tuple[bytes, None]]()
        self.router.earlier = self._log.__getitem__
        self.units = [UnitPartition(asked, n, partitions, self.steps) for n in range(partitions)]
        self.later = {
            (step, number): Later(asked, StagePlace(step, self.steps, number, partitions))
            for step in range(1, self.steps)
            for number in range(partitions if step < self.steps - 1 else 1)
        }
        self.spent = Spent(parts=dict.fromkeys(range(partitions), 0.0))

    def take(self, table: Any) -> None:
        from xstreamcast.edges.partitions.messages import ArrivedPacks, message_bytes, message_of
        from xstreamcast.edges.partitions.packing import Packing

        packs = [row for batch in Packing()(table.to_batches()) for row in batch.to_pylist()]
        seconds: list[float] = []
        with _clock(seconds):
            arrived = ArrivedPacks([(row["stream"], row["rows"]) for row in packs])
            sent = {n: message_bytes(one) for n, one in self.router.take(arrived, None).items()}
        self.spent.router += seconds.pop()
        self._log.append((arrived.blob, None))
        handed: dict[tuple[int, int], list[bytes]] = {}
        for number, raw in sent.items():
            place = self.units[number]
            with _clock(seconds):
                given: Any = message_of(raw)
                made = [(to, message_bytes(m, place.names)) for to, m in place.take(given)]
            self.spent.parts[number] += seconds.pop()
            for to, message in made:
                handed.setdefault(to, []).append(message)
        for to, later in self.later.items():
            with _clock(seconds):
                _, on = later.take([message_of(raw, later.names) for raw in handed.get(to, ())])
                made = [(then, message_bytes(one, later.names)) for then, one in on]
            if to[0] == self.steps - 1:
                self.spent.answer += seconds.pop()
            else:
                self.spent.parts[to[1]] += seconds.pop()
            for then, message in made:
                handed.setdefault(then, []).append(message)
