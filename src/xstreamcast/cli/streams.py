"""Options of all commands that read streams of fragments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xstreamcast.cli.arguments import Parsed, Parser

if TYPE_CHECKING:
    from xstreamcast.edges.binding import Options
    from xstreamcast.edges.loading import Keep
    from xstreamcast.model.fragment import Refused


def add_stream_arguments(parser: Parser) -> None:
    """How streams are read, and as of when."""
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--as-of", metavar="T", help="as if nothing after this instant were known")
    when.add_argument(
        "--between", nargs=2, metavar=("T1", "T2"), help="as of T2, streams projected to [T1,T2]"
    )
    parser.add_argument(
        "--strategy", choices=("caq", "qac", "qac+", "auto"), default="auto",
        help="what is put together before the query is evaluated; auto chooses",
    )  # fmt: skip
    parser.add_argument(
        "--clock", metavar="event|wall|T", default="event",
        help="now: the largest valid time, the wall clock, or an instant; projections that end "
        "later see what is planned",
    )  # fmt: skip
    parser.add_argument(
        "--on-error", choices=("quarantine", "stop"), default="quarantine",
        help="a fragment that does not fit: go on without it, or stop",
    )  # fmt: skip
    parser.add_argument("--quarantine", metavar="FILE", help="keep refused fragments here")


def stream_options(arguments: Parsed, keep: Keep) -> Options:
    """What was asked for, in the words of the library."""
    from xstreamcast.edges.binding import Options

    between = None if arguments.between is None else tuple(arguments.between)
    return Options(
        arguments.as_of, between, arguments.strategy, arguments.clock, arguments.on_error, keep
    )


@contextmanager
def quarantined(arguments: Parsed) -> Iterator[Keep]:
    """Where refused fragments go: a file, or a line each on stderr."""
    if arguments.quarantine is None:
        yield _tell
        return
    from xstreamcast.edges.quarantine import Quarantine

    with Quarantine(arguments.quarantine) as kept:
        yield kept.add


def _tell(refused: Refused) -> None:
    sys.stderr.write(f"refused: {refused}\n")
