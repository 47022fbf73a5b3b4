"""`xstreamcast bench history`: three strategies over fragments, in memory and from disk."""

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import bench
from bench import queries
from bench.fragments import fragments, small
from bench.generate import natural, positive
from bench.history_report import (
    CAQ,
    OURS,
    PATIENCE,
    PLUS,
    QAC,
    ROWS,
    SAXON,
    SCAN,
    Ingested,
    Measured,
    plot,
    report,
)
from bench.peers import installed, normalised
from bench.rounds import ROUNDS, Contender, Timing, interleaved
from bench.tables import seconds
from xstreamcast.algebra.translate import translate
from xstreamcast.algebra.translate.words import XSC, stream_name
from xstreamcast.api import Answer, query
from xstreamcast.edges.loading import load
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import error
from xstreamcast.history.history import History
from xstreamcast.history.strategy import chosen
from xstreamcast.model.fragment import FragmentBatch, NewStructure
from xstreamcast.model.structure import TagStructure
from xstreamcast.syntax import parse
from xstreamcast.tape.fragments.payload_kernels import Payloads, Places, mark_names, measure
from xstreamcast.tape.store import Store

STREAM = "auction"
# Selective, range and cumulative, in the words of the paper.
KINDS = {"q01": "selective", "q02": "range", "q05": "cumulative"}
STRATEGIES = {CAQ: "caq", QAC: "qac", PLUS: "qac+"}
REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "history.md"
REMARKS = "\n## What bounds these figures\n"
INGESTED = 200_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", action="store_true", help="from disk, beside SaxonC-HE")
    parser.add_argument("--factors", type=positive, nargs="+", default=[0.05, 0.25, 1.0])
    parser.add_argument("--seed", type=natural, default=bench.SEED, help="which documents")
    parser.add_argument("--rounds", type=natural, default=ROUNDS, help="how many count")
    parser.add_argument("--patience", type=positive, default=PATIENCE, help="seconds to repeat")
    parser.add_argument("--ingest", type=natural, default=INGESTED, help="how many fragments")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks")


def main(args: argparse.Namespace) -> int:
    rounds = max(1, args.rounds)
    measured: list[Measured] = []
    for factor in sorted(args.factors):
        path = fragments(factor, args.seed)
        measured += [*in_memory(path, rounds), *from_disk(path, rounds, args)]
    text = report(measured, ingest(args.ingest, rounds), args.patience)
    sys.stdout.write(text)
    if args.write:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        picture = plot(measured, REPORT.with_suffix(".svg"))
        head = f"# Queries over histories of fragments\n\n![time over size]({picture})\n"
        REPORT.write_text(head + text + remarks(REPORT))
    return 0 if all(one.equal for one in measured) else 1


def remarks(path: Path) -> str:
    """What was written by hand at the end of the last report."""
    before = path.read_text() if path.exists() else ""
    _, rule, kept = before.partition(REMARKS)
    return rule + kept


def asked() -> dict[str, str]:
    """XMark's queries over the stream in place of the document."""
    found = {one.name: one.text for one in queries.xmark() if one.name in KINDS}
    return {name: text.replace("/site", f'stream("{STREAM}")/site') for name, text in found.items()}


# -- over a loaded history ------------------------------------------------------------------------


def in_memory(path: Path, rounds: int) -> Iterable[Measured]:
    """Every query by every strategy over a history that is there, beside reading its fragments."""
    history = load(STREAM, path, Store()).history
    size = path.stat().st_size
    for name, text in asked().items():
        contenders = [
            Contender(shown, partial(_answered, text, history, strategy))
            for shown, strategy in STRATEGIES.items()
        ]
        contenders += [Contender(SCAN, scan(text, history)), Contender(ROWS, rows(text, history))]
        timings = interleaved(contenders, rounds)
        answers = [list(timings[shown].answer.lines()) for shown in STRATEGIES]
        equal = all(answer == answers[0] for answer in answers)
        yield _told(Measured(name, "memory", size, _medians(timings), equal))


def _answered(text: str, source: Any, strategy: str) -> Any:
    return query(text).run(None, strategy=strategy, **{STREAM: source})


def scan(text: str, history: History) -> Callable[[], Any]:
    """Reading every byte of the fragments of the tags that the query needs, once."""
    return partial(_read_bytes, _needed(text, history))


def rows(text: str, history: History) -> Callable[[], Any]:
    """Looking at kind and name of each node in the same fragments, and at no byte of them."""
    return partial(_read_rows, _needed(text, history))


Part = tuple[Any, Any, Any]  # a tape, rows of payloads on it, their tags


def _needed(text: str, history: History) -> list[Part]:
    choice = chosen(query(text).program, {STREAM: history}, "qac+").streams[STREAM]
    f = history.fragments
    wanted = np.isin(f["tsid"], list(choice.full)) & (f["payload"] >= 0)
    found = []
    for number in np.unique(f["tape"][wanted]).tolist():
        on_tape = wanted & (f["tape"] == number)
        found.append((history.store.tape(number), f["payload"][on_tape], f["tsid"][on_tape]))
    return found


def _read_bytes(parts: list[Part]) -> int:
    none, words = np.empty(0, np.int32), np.zeros(4, np.int64)
    no_places = Places(none, none.astype(np.uint16), none.astype(np.uint8), none.astype(np.uint64))
    count = 0
    for tape, payload, _ in parts:
        n = len(payload)
        read = Payloads(
            np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.uint16),
            np.empty(n, np.uint64),
        )  # fmt: skip
        measure(tape.columns, tape.names.tables, payload, none, none, words, read, no_places)
        count += n
    return count


def _read_rows(parts: list[Part]) -> int:
    count = 0
    for tape, payload, tags in parts:
        skip = np.zeros(len(tape.columns.kind), np.bool_)
        seen = np.zeros((int(tags.max()) + 1, len(tape.names)), np.bool_)
        mark_names(tape.columns, payload, tags, skip, seen)
        count += int(np.count_nonzero(seen))
    return count


# -- from files on disk ---------------------------------------------------------------------------


def from_disk(path: Path, rounds: int, args: argparse.Namespace) -> Iterable[Measured]:
    """Reading the fragments, making the history, answering: all in every round."""
    size = path.stat().st_size
    for name, text in asked().items():
        runs = [Contender(OURS, partial(_lines, text, path))]
        if args.peers:
            runs.append(Contender(SAXON, partial(_saxon, _translated(text, path, "qac+"), path)))
        timings = interleaved(runs, rounds, args.patience)
        answers = {normalised(timing.answer) for timing in timings.values()}
        yield _told(Measured(name, "disk", size, _medians(timings), len(answers) == 1))


def _lines(text: str, path: Path) -> str:
    found: Answer = _answered(text, path, "auto")
    return "\n".join(found.lines())


def _translated(text: str, path: Path, strategy: Any) -> str:
    return translate(parse(text), strategy, {STREAM: _structure(path)}, "")


def _structure(path: Path) -> TagStructure:
    """The structure, which stands first in the file."""
    decoder = Decoder(STREAM)
    with path.open("rb") as source:
        while chunk := source.read(1 << 16):
            for arrived in decoder.feed(chunk):
                if isinstance(arrived, NewStructure):
                    return arrived.structure
    raise error("XSCB0001", f"{path} tells no structure")


@cache
def _processor() -> Any:
    return installed("saxonche").PySaxonProcessor(license=False)


def _saxon(text: str, path: Path) -> str:
    processor = _processor()
    compiler = processor.new_xquery_processor()
    document = processor.parse_xml(xml_file_name=str(path))
    compiler.set_parameter(f"{{{XSC}}}{stream_name(STREAM)}", document)
    compiler.set_query_content(text)
    return str(compiler.run_query_to_string() or "")


# -- ingest ---------------------------------------------------------------------------------------


def ingest(count: int, rounds: int) -> Ingested:
    """How fast fragments of about 200 bytes are decoded, and how fast they become history."""
    wire = small(count)
    batches, structure = _decoded(wire)
    timings = interleaved(
        [
            Contender("add", lambda: _added(batches, structure)),
            Contender("decode", lambda: len(_decoded(wire)[0])),
        ],
        rounds,
    )
    history = History(STREAM, structure)
    for batch in batches:
        history.add(batch)
    told = history.report()
    return Ingested(
        told.fragments, len(wire) / count, timings["add"].median, timings["decode"].median,
        told.index_bytes / told.fragments,
    )  # fmt: skip


def _decoded(wire: bytes) -> tuple[list[FragmentBatch], TagStructure]:
    decoder = Decoder(STREAM)
    arrived = [*decoder.feed(wire), *decoder.close()]
    batches = [one for one in arrived if isinstance(one, FragmentBatch)]
    (told,) = (one for one in arrived if isinstance(one, NewStructure))
    return batches, told.structure


def _added(batches: list[FragmentBatch], structure: TagStructure) -> int:
    history = History(STREAM, structure)
    for batch in batches:
        history.add(batch)
    return len(history)


def _medians(timings: dict[str, Timing[Any]]) -> dict[str, float]:
    return {name: timing.median for name, timing in timings.items()}


def _told(one: Measured) -> Measured:
    took = ", ".join(f"{name} {seconds(value)} s" for name, value in one.seconds.items())
    sys.stderr.write(f"{one.query} {one.where} {one.size / 1e6:.0f} MB: {took}\n")
    return one
