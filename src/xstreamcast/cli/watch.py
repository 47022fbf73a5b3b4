"""xstreamcast watch: a query left running; what changes in its answer, as it changes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from xstreamcast.cli.arguments import Parsed, Parser, at_least_one
from xstreamcast.cli.asked import (
    add_asked_arguments,
    bindings,
    query_text,
    sources,
    written_to,
)
from xstreamcast.cli.durations import micros
from xstreamcast.cli.streams import add_limit_arguments, apply_limits, quarantined
from xstreamcast.cli.watch_spark import add_spark_arguments, on_spark
from xstreamcast.errors import error
from xstreamcast.model.change import Accumulated, Change

if TYPE_CHECKING:
    from xstreamcast.edges.watching import Watching
    from xstreamcast.spark.watching.run import SparkWatching

FORMATS: Final = ("changes", "lines", "xml", "events", "events-xml", "table")
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    add_asked_arguments(parser)
    parser.add_argument(
        "--format", choices=FORMATS,
        help="changes (JSON, a line each; when piped), lines (+ item, - item), xml (the answer at "
        "the end), events (an update stream as JSON), events-xml (as XML), table (a live view; on "
        "a terminal)",
    )  # fmt: skip
    parser.add_argument(
        "--policy", choices=("optimistic", "strict"), default="optimistic",
        help="emit at once and revise (default), or only what missing data cannot change",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write to this file instead of stdout"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N changes")
    parser.add_argument("--for", dest="seconds", metavar="30s", help="stop after this duration")
    parser.add_argument(
        "--follow", action="store_true", help="keep reading files and folders that grow"
    )
    parser.add_argument(
        "--batch", type=int, default=1000, metavar="N", help="fragments per tick (1000)"
    )
    parser.add_argument(
        "--clock", choices=("event", "wall"), default="event",
        help="what now is: the largest valid time, or the wall clock",
    )  # fmt: skip
    parser.add_argument(
        "--immutable", action="append", default=[], metavar="[NAME=]PATH",
        help="elements at this path (//stock/name) are never corrected: the first version counts",
    )  # fmt: skip
    parser.add_argument(
        "--lateness", metavar="D", help="refuse fragments that are older than now by more (1h)"
    )
    parser.add_argument(
        "--max-skew", metavar="D", help="refuse fragments that are ahead of now by more"
    )
    parser.add_argument(
        "--on-error", choices=("quarantine", "stop"), default="quarantine",
        help="what to do with an invalid fragment: skip and count it, or stop",
    )  # fmt: skip
    parser.add_argument("--quarantine", metavar="FILE", help="write refused fragments to this file")
    parser.add_argument(
        "--checkpoint", metavar="DIR", help="record progress here; a restart continues"
    )
    parser.add_argument(
        "--snapshot-every", type=int, default=16 << 20, metavar="BYTES",
        help="with a checkpoint: input bytes between two snapshots, at least (16777216)",
    )  # fmt: skip
    add_spark_arguments(parser)
    add_limit_arguments(parser)


def main(arguments: Parsed) -> int:
    """Compile, begin, tell."""
    from xstreamcast.edges.watching.journal import cut_sink, sink_position

    apply_limits(arguments)
    with _fitting(arguments), quarantined(arguments) as keep, _output(arguments) as out:
        watching = _watching(arguments, keep)
        watching.sink = lambda: sink_position(out)
        if watching.journal is not None:
            cut_sink(out, watching.journal.sink)
        _warn(watching)
        try:
            _tell(watching, arguments, out)
        except KeyboardInterrupt:  # how most of them end: what was counted is said all the same
            _report(watching)
            raise
    _report(watching)
    return 0


@contextmanager
def _fitting(arguments: Parsed) -> Iterator[None]:
    """A sink that is full has a name, and one who hears of it wants to know what comes next."""
    try:
        yield
    except OSError as failed:
        if failed.errno not in _FULL or failed.filename is not None or arguments.output is None:
            raise
        again = (
            "free space and start it again with the same arguments: it continues where it stopped"
        )
        lost = "free space and start it again; with --checkpoint DIR it would continue"
        raise error(
            "XSCU0004", f"{arguments.output} does not fit: {(failed.strerror or '').lower()}",
            hint=lost if arguments.checkpoint is None else again,
        ) from None  # fmt: skip


def _report(watching: Watching | SparkWatching) -> None:
    for said in watching.report():
        sys.stderr.write(said + "\n")


def _note(said: str) -> None:
    sys.stderr.write(f"note: {said}\n")


def _watching(arguments: Parsed, keep: Any) -> Watching | SparkWatching:
    from xstreamcast.api import query
    from xstreamcast.edges.watching import Options
    from xstreamcast.edges.watching.bound import Input

    text, name = query_text(arguments)
    if arguments.limit is not None:
        at_least_one("--limit", arguments.limit)
    options = Options(
        policy=arguments.policy,
        follow=arguments.follow,
        batch=at_least_one("--batch", arguments.batch),
        clock=arguments.clock,
        lateness=micros(arguments.lateness),
        skew=micros(arguments.max_skew),
        on_error=arguments.on_error,
        keep=keep,
        checkpoint=arguments.checkpoint,
        immutable=tuple(arguments.immutable),
        tell=arguments.tell,
        snapshot_every=at_least_one("--snapshot-every", arguments.snapshot_every),
        say=_note,
        seconds=None if arguments.seconds is None else (micros(arguments.seconds) or 0) / 10**6,
    )
    document, named = sources(arguments.input)
    asked = query(text, name=name, module_path=arguments.module_path)
    inputs = {name: Input(one) for name, one in named.items()} | bindings(asked, arguments.bind)
    if arguments.runner == "spark":
        return on_spark(asked, document, inputs, options, arguments)
    return asked.watching(document, inputs, options)


def _tell(watching: Watching | SparkWatching, arguments: Parsed, out: TextIO) -> None:
    """Write what each tick changed; it is in the sink before the next tick begins."""
    batches = _limited(watching.ticks(), arguments.limit)
    match arguments.format or ("table" if out.isatty() else "changes"):
        case "xml":
            answer = Accumulated(change for changes in batches for change in changes)
            lines = map(_content, answer.items())
            out.writelines(f"{line}\n" for line in ("<results>", *lines, "</results>"))
        case "events" | "events-xml" as form:
            _tell_events(batches, out, "lines" if form == "events" else "xml")
        case "table":
            _show(watching, batches, out)
        case form:
            for changes in batches:
                out.writelines(_line(change, form) + "\n" for change in changes)
                out.flush()


def _content(item: str) -> str:
    """An item as content of an element: a node as it is, a value escaped."""
    from xstreamcast.edges.updates.writing import parsed
    from xstreamcast.model.markup import escape

    return item if item.startswith("<") and parsed(item) is not None else escape(item)


def _limited(batches: Iterator[list[Change]], limit: int | None) -> Iterator[list[Change]]:
    left = limit
    for changes in batches:
        some = changes if left is None else changes[:left]
        yield some
        left = None if left is None else left - len(some)
        if left == 0:
            return


def _tell_events(
    batches: Iterator[list[Change]], out: TextIO, form: Literal["lines", "xml"]
) -> None:
    from xstreamcast.edges.updates.output import EventOutput

    output = EventOutput(form)
    for changes in batches:
        out.write(output.write(changes).decode())
        out.flush()
    out.write(output.close().decode())


def _show(watching: Watching | SparkWatching, batches: Iterator[list[Change]], out: TextIO) -> None:
    from xstreamcast.live.terminal import Terminal
    from xstreamcast.live.view import LiveView

    title = " ".join(watching.program.source.text.split())
    with LiveView(Terminal.of(out), title=title) as view:
        for changes in batches:
            view.take(changes)


def _line(change: Change, form: str) -> str:
    if form == "changes":
        return change.to_json()
    return f"{'+' if change.diff > 0 else '-'} {change.item}"


def _warn(watching: Watching | SparkWatching) -> None:
    """Say beforehand what may grow without bound, and why."""
    from xstreamcast.algebra.split import inputs_of
    from xstreamcast.operators.explain import unbounded

    for name, program in watching.programs.items():
        at = f"{name}: " if name and len(watching.programs) > 1 else ""
        for sentence in unbounded(program, watching.streams() & inputs_of(program)):
            sys.stderr.write(f"note: {at}{sentence}\n")


def _output(arguments: Parsed) -> TextIO:
    """The sink; a file begins anew, unless a checkpoint says how much of it counts already."""
    if arguments.output is None:
        return open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    fresh = arguments.checkpoint is None
    with written_to(arguments.output):
        return open(arguments.output, "w" if fresh else "a", encoding="utf-8")
