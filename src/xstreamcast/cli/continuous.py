"""What commands that leave queries running have in common: options, quarantine, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from xstreamcast.cli.arguments import Parsed, Parser, at_least_one
from xstreamcast.cli.log import CommandLog
from xstreamcast.edges.disk import FULL
from xstreamcast.edges.durations import micros
from xstreamcast.edges.notes import notes_by
from xstreamcast.errors import Error, error

if TYPE_CHECKING:
    from xstreamcast.edges.quarantine import Quarantine
    from xstreamcast.edges.watching import Watching, WatchOptions
    from xstreamcast.spark.watching.run import SparkWatching


def add_continuous_arguments(parser: Parser) -> None:
    """How queries are left running."""
    parser.add_argument(
        "--policy", choices=("optimistic", "strict"), default="optimistic",
        help="emit at once and revise (default), or only what missing data cannot change",
    )  # fmt: skip
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
        "--max-quarantine", type=int, default=1 << 30, metavar="BYTES",
        help="size of that file; fragments beyond it are counted, and not kept (1073741824)",
    )  # fmt: skip
    parser.add_argument(
        "--log", choices=("text", "json"), default="text",
        help="how notes, refused fragments, counts and errors are written to stderr",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoint", metavar="DIR", help="record progress here; a restart continues"
    )
    parser.add_argument(
        "--snapshot-every", type=int, metavar="BYTES",
        help="with a checkpoint: input bytes between two snapshots, at least (16777216; on Spark "
        "4194304, in each partition of a stage)",
    )  # fmt: skip


def continuous_options(arguments: Parsed, keep: Any, log: CommandLog) -> WatchOptions:
    """The options of the command, as options of the library."""
    from xstreamcast.edges.watching import WatchOptions

    return WatchOptions(
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
        snapshot_every=_snapshot_every(arguments),
        max_memory=arguments.max_memory,
        say=lambda said: log.write("note", said),
    )


def _snapshot_every(arguments: Parsed) -> int | None:
    every: int | None = arguments.snapshot_every
    return None if every is None else at_least_one("--snapshot-every", every)


def logged(arguments: Parsed, run: Callable[[Parsed], int]) -> int:
    """Run a command; with --log json an error is a line like the others."""
    if arguments.log == "text":
        return run(arguments)
    log = CommandLog("json")
    try:
        with notes_by(lambda sentence: log.write("note", sentence)):
            return run(arguments)
    except Error as failed:
        place = None if failed.place is None else str(failed.place)
        more = {"code": failed.code, "place": place, "hint": failed.hint}
        log.write("error", failed.sentence, **more)
        return failed.exit_status


def quarantine(arguments: Parsed) -> AbstractContextManager[Quarantine | None]:
    """The file of refused fragments, if one was chosen."""
    from xstreamcast.edges.quarantine import Quarantine

    if arguments.quarantine is None:
        return nullcontext()
    return Quarantine(arguments.quarantine, arguments.max_quarantine)


@contextmanager
def fitting(arguments: Parsed, output: str | None = None) -> Iterator[None]:
    """A full disk: which file did not fit, and what to do."""
    try:
        yield
    except OSError as failed:
        what = failed.filename or output
        if failed.errno not in FULL or what is None:
            raise
        again = (
            "free space and start it again with the same arguments: it continues where it stopped"
        )
        lost = "free space and start it again; with --checkpoint DIR it would continue"
        raise error(
            "XSCU0004", f"{what} does not fit: {(failed.strerror or '').lower()}",
            hint=lost if arguments.checkpoint is None else again,
        ) from None  # fmt: skip


def warn(watching: Watching | SparkWatching, log: CommandLog) -> None:
    """Say beforehand what queries share, and what may grow without bound, and why."""
    from xstreamcast.algebra.analysis.inputs import inputs_of
    from xstreamcast.operators.feeds.once import read_once
    from xstreamcast.operators.watching.explain import unbounded
    from xstreamcast.operators.watching.query_set import QuerySet

    tables: frozenset[str] = frozenset()
    if isinstance(watching.queries, QuerySet):
        tables = watching.queries.tables
        if sum(len(one.names) for one in watching.queries.answered.values()) > 1:
            log.write("note", watching.queries.sentence)
    pairs = read_once(watching.programs)
    for name, program in watching.programs.items():
        at = f"{name}: " if name and len(watching.programs) > 1 else ""
        once = frozenset(stream for reader, stream in pairs if reader == name)
        for sentence in unbounded(program, watching.streams() & inputs_of(program), once, tables):
            log.write("note", f"{at}{sentence}")


def report(watching: Watching | SparkWatching, kept: Quarantine | None, log: CommandLog) -> None:
    """What was read, emitted, refused and kept, at the end."""
    for said in watching.report():
        log.write("report", said)
    if kept is not None and kept.left_out:
        log.write("report", f"{kept.left_out} of them not kept: {kept.path} is full")
    if watching.options.metrics is not None:
        begun = cast("Watching", watching)
        if begun.watch is not None:
            watching.options.metrics.write(begun)
        watching.options.metrics.close()
