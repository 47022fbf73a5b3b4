"""Options of all commands that read streams of fragments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.edges.binding import Options
    from xstreamcast.edges.loading import Keep
    from xstreamcast.model.fragment import Refused


_LIMITS: Final = {
    "max_depth": ("depth of nested elements", 1000),
    "max_name_length": ("length of a name in bytes", 1000),
    "max_attributes": ("number of attributes of an element", 10_000),
    "max_entity_expansion": ("characters added by entities", 8 << 20),
    "max_document_size": ("size of a document, or of a unit of a stream, in bytes", 2**31 - 1),
}


_QUERY_LIMITS: Final = {
    "max_recursion": ("calls of declared functions inside each other", 12_000),
    "max_open_rows": ("rows that such calls hold together", 1 << 23),
    "max_digits": ("digits of an integer", 100_000),
    "max_text": ("characters of one string", 1 << 28),
    "max_range": ("items of a range that are made at once", 1 << 27),
}


def add_stream_arguments(parser: Parser) -> None:
    """How streams are read, and as of when."""
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        "--as-of", metavar="T", help="ignore everything after this instant; now is this instant"
    )
    when.add_argument(
        "--between",
        nargs=2,
        metavar=("T1", "T2"),
        help="as of T2, with every stream projected to [T1,T2]",
    )
    parser.add_argument(
        "--strategy", choices=("caq", "qac", "qac+", "auto"), default="auto",
        help="how much of a stream is reconstructed for the query (default: auto)",
    )  # fmt: skip
    parser.add_argument(
        "--clock", metavar="event|wall|T", default="event",
        help="what now is: the largest valid time, the wall clock, or an instant (planned "
        "states after it are seen by projections that reach them)",
    )  # fmt: skip
    parser.add_argument(
        "--on-error", choices=("quarantine", "stop"), default="quarantine",
        help="what to do with an invalid fragment: skip and count it, or stop",
    )  # fmt: skip
    parser.add_argument("--quarantine", metavar="FILE", help="write refused fragments to this file")


def add_limit_arguments(parser: Parser) -> None:
    """Limits of an input."""
    group = parser.add_argument_group("limits of inputs")
    for name, (help, default) in _LIMITS.items():
        group.add_argument(
            f"--{name.replace('_', '-')}", type=int, metavar="N", help=f"{help} ({default})"
        )
    _add_query_limits(parser)


def _add_query_limits(parser: Parser) -> None:
    group = parser.add_argument_group("limits of a query")
    group.add_argument("--query-timeout", metavar="30s", help="of one run, or one tick (none)")
    group.add_argument(
        "--max-memory", type=int, metavar="BYTES",
        help="memory of the process (8/10 of what the machine or its container has)",
    )  # fmt: skip
    for name, (help, default) in _QUERY_LIMITS.items():
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=int, metavar="N", help=f"{help} ({default})")


def _apply_query_limits(arguments: Parsed) -> None:
    from xstreamcast.edges.durations import micros

    given = {name: getattr(arguments, name) for name in ("max_memory", *_QUERY_LIMITS)}
    chosen = {name: value for name, value in given.items() if value is not None}
    if arguments.query_timeout is not None:
        chosen["query_timeout"] = (micros(arguments.query_timeout) or 0) / 10**6
    if not chosen:
        return
    if getattr(arguments, "runner", "local") == "spark":
        option = f"--{next(iter(chosen)).replace('_', '-')}"
        raise error("XSCU0001", f"{option} needs --runner local")
    from xstreamcast.model.query_limits import QueryLimits, set_query_limits

    set_query_limits(QueryLimits(**chosen))


def apply_limits(arguments: Parsed) -> None:
    """Let what the options say hold in this process."""
    _apply_query_limits(arguments)
    given = {name: getattr(arguments, name) for name in _LIMITS}
    chosen = {name: value for name, value in given.items() if value is not None}
    if not chosen:
        return
    if getattr(arguments, "runner", "local") == "spark":
        option = f"--{next(iter(chosen)).replace('_', '-')}"
        raise error("XSCU0001", f"{option} needs --runner local")
    from xstreamcast.tape.limits import Limits, set_default_limits

    set_default_limits(Limits(**chosen))


def stream_options(arguments: Parsed, keep: Keep) -> Options:
    """The options of the command, as options of the library."""
    from xstreamcast.edges.binding import Options

    between = None if arguments.between is None else tuple(arguments.between)
    return Options(
        arguments.as_of, between, arguments.strategy, arguments.clock, arguments.on_error, keep
    )


@contextmanager
def quarantined(arguments: Parsed) -> Iterator[Keep]:
    """Where refused fragments go: a file, or a line each on stderr."""
    if arguments.quarantine is None:
        yield quarantine_line
        return
    from xstreamcast.edges.quarantine import Quarantine

    with Quarantine(arguments.quarantine) as kept:
        yield kept.add


def quarantine_line(refused: Refused) -> None:
    """A refused fragment that is not kept: a line on stderr."""
    sys.stderr.write(f"refused: {refused}\n")
