"""xstreamcast ingest: a source into a fragment table, each fragment once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final, TypeAlias

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.progress import Progress, progress
from xstreamcast.edges.sources.place import shown
from xstreamcast.errors import error
from xstreamcast.model.counted import counted

if TYPE_CHECKING:
    from xstreamcast.edges.ingesting import Ingested
    from xstreamcast.edges.spooling import Spool

_LOOK: Final = 0.2  # seconds between two looks at what has been added

Report: TypeAlias = "Callable[[Ingested], None]"


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument(
        "source", metavar="SOURCE",
        help="fragments, a document, or a feed (MAPPING:PLACE): a file, a folder, a pattern, -, or "
        "an address (ws:// …)",
    )  # fmt: skip
    parser.add_argument(
        "--table", required=True, metavar="PATH",
        help="the folder of the table; delta:PATH makes it a Delta table, too",
    )  # fmt: skip
    parser.add_argument("--stream", metavar="NAME", help="the stream's name (default: from SOURCE)")
    parser.add_argument("-s", "--structure", metavar="TS", help="the tag structure, in a file")
    parser.add_argument(
        "--valid-time",
        metavar="PATH|INSTANT",
        help="for a document: an instant or path, valid time of its parts",
    )
    parser.add_argument(
        "--max-per-batch", type=_count, metavar="N", help="maximum number of fragments per batch"
    )
    parser.add_argument(
        "--checkpoint", metavar="DIR", help="where progress is recorded (default: in the table)"
    )
    parser.add_argument("--follow", action="store_true", help="keep reading what is added")
    parser.add_argument(
        "--on-error", choices=("quarantine", "stop"), default="quarantine",
        help="what to do with an invalid fragment: keep it in quarantine, or stop",
    )  # fmt: skip
    parser.add_argument(
        "--runner", choices=("spark", "local"), default="spark",
        help="a streaming query on Spark, or this process alone (default: spark)",
    )  # fmt: skip
    parser.add_argument("--master", metavar="URL", help="a Spark cluster; default: in this process")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main(arguments: Parsed) -> int:
    """Read to the end, or follow; say what came in."""
    if arguments.runner == "local" and arguments.master:
        raise error("XSCU0001", "--master needs --runner spark")
    if not arguments.follow or _fleeting(arguments.source):
        _check(arguments)
    with progress("ingest") as line:
        work = _local if arguments.runner == "local" else _on_spark
        done = work(arguments, _reporter(line))
    sys.stderr.write(done.summary() + "\n")
    if done.fragments == 1 and not done.refused and not _fleeting(arguments.source):
        _say_unfit(str(arguments.source), done.stream)
    return 4 if done.refused else 0


def _say_unfit(source: str, stream: str) -> None:
    """The root alone went into the table: say what the mapping looks for, and what there is."""
    from xstreamcast.edges.inputs import paths, pieces_of
    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.edges.mapping.finding import mapping_of
    from xstreamcast.edges.mapping.unfit import unfit

    mapping, place = mapping_of(source)
    if mapping is None:
        return
    decoder = MappingDecoder(stream, mapping)
    whole = mapping.level is None
    for _ in decoder.files((path, pieces_of(path, whole)) for path in paths(place)):
        pass
    nothing = unfit(decoder)
    if nothing is not None:
        sys.stderr.write(f"note: {nothing}\n")


def _fleeting(source: str) -> bool:
    from xstreamcast.edges.spooling import is_fleeting

    return is_fleeting(_place(source))


def _check(arguments: Parsed) -> None:
    """A source that is not there is a mistake, unless one waits for it."""
    from xstreamcast.edges.inputs import paths

    if not _fleeting(arguments.source):
        paths(_place(arguments.source))


def _place(source: str) -> str:
    """The path of a source, without the mapping that it names."""
    from xstreamcast.edges.mapping.finding import split_source

    return str(split_source(source)[1])


def _source(arguments: Parsed) -> tuple[str, str, Spool | None]:
    """What is read, the stream's name, and what writes it down first if it is fleeting."""
    from xstreamcast.edges.inputs import stream_name
    from xstreamcast.edges.mapping.finding import split_source
    from xstreamcast.edges.spooling import Spool
    from xstreamcast.edges.table.log import Log

    source = str(arguments.source)
    word, place = split_source(source)
    if not _fleeting(source):
        return source, arguments.stream or stream_name(place), None
    name = arguments.stream or "stdin"
    folder = Path(arguments.checkpoint or Log(arguments.table).path) / "_received" / name
    spool = Spool(place, folder, name, again=arguments.follow, feed=word is not None)
    spool.start()
    if not arguments.follow:
        spool.join()
    _refuse_failed(spool)
    return str(folder) if word is None else f"{word}:{folder}", name, spool


def _called(spool: Spool | None) -> str | None:
    """What messages call what was written down first."""
    if spool is None:
        return None
    return "stdin" if spool.source == "-" else shown(spool.source)


def _refuse_failed(spool: Spool) -> None:
    if isinstance(spool.failed, OSError):
        raise error("XSCU0003", f"{shown(spool.source)}: {spool.failed.strerror}")
    if spool.failed is not None:
        raise spool.failed


def _local(arguments: Parsed, report: Report) -> Ingested:
    from xstreamcast.edges.ingesting import Ingested, ingest

    source, name, spool = _source(arguments)
    done = Ingested(name)

    def some(report: Report) -> None:
        ingest(
            source, arguments.table, stream=name, structure=arguments.structure,
            valid=arguments.valid_time, most=arguments.max_per_batch, on_error=arguments.on_error,
            report=report, done=done, follow=_grows(arguments, spool),
            called=_called(spool),
        )  # fmt: skip

    if not arguments.follow:
        some(report)
    elif not _followed(some, report, source, spool):
        raise error("XSCU0003", f"{source} delivered nothing")
    return done


def _grows(arguments: Parsed, spool: Spool | None) -> bool:
    """Whether more may come of what is read now."""
    return bool(arguments.follow) and (spool is None or spool.is_alive())


def _followed(
    some: Callable[[Report], None], report: Report, source: str, spool: Spool | None
) -> bool:
    """Repeatedly, to the end of what is written down, or until the user interrupts it.

    Whether there was anything to read.
    """
    read = False
    with _interrupted() as ending:

        def between(done: Ingested) -> None:
            report(done)
            if ending.is_set():
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            while not ending.is_set():
                over = spool is not None and not spool.is_alive()
                place = _place(source)
                if not os.path.isdir(place) or os.listdir(place):
                    some(between)
                    read = True
                if spool is not None and over:
                    _refuse_failed(spool)
                    break
                ending.wait(_LOOK)
        if ending.is_set() and not read:
            raise KeyboardInterrupt
    return read


@contextmanager
def _interrupted() -> Iterator[Event]:
    """Set by the first interruption, so that what is written is counted; a second one ends."""
    ending = Event()

    def first(signal_number: int, frame: object) -> None:
        ending.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, first)
    try:
        yield ending
    finally:
        signal.signal(signal.SIGINT, before)


def _on_spark(arguments: Parsed, report: Report) -> Ingested:
    if find_spec("pyspark") is None:
        raise error(
            "XSCU0006", "Spark is not installed",
            hint="pip install 'xstreamcast[spark]', or --runner local (it needs [table] only)",
        )  # fmt: skip
    from xstreamcast.spark.session import session

    spark = session(arguments.master)
    from xstreamcast.spark.ingest import ingest

    source, name, spool = _source(arguments)
    try:
        return ingest(
            spark, source, arguments.table, stream=name, structure=arguments.structure,
            valid=arguments.valid_time, most=arguments.max_per_batch,
            checkpoint=arguments.checkpoint, follow=arguments.follow, on_error=arguments.on_error,
            report=report, called=_called(spool),
        )  # fmt: skip
    finally:
        spark.stop()


def _reporter(shown: Progress) -> Callable[[Ingested], None]:
    """What is shown after each batch."""

    def report(done: Ingested) -> None:
        rate = done.fragments / max(shown.passed, 0.001)
        said = f"{counted(done.fragments, 'fragment', form=',')}, "
        said += f"{done.refused:,} refused, {rate:,.0f} a second"
        shown.show(0, None, said)

    return report
