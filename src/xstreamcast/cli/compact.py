"""xstreamcast compact: rewrite the small files of a fragment table."""

from __future__ import annotations

import sys

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.progress import progress
from xstreamcast.model.counted import counted


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument("table", metavar="TABLE", help="the folder of the table")
    parser.add_argument(
        "--clean", action="store_true",
        help="delete replaced files at once; no other process may read or write the table",
    )  # fmt: skip


def main(arguments: Parsed) -> int:
    """Compact, and say what it brought."""
    from xstreamcast.edges.table.compacting import compact

    with progress("compact") as shown:
        done = compact(
            arguments.table, clean=arguments.clean,
            report=lambda done, of: shown.show(done, of, f"{done} of {of} files"),
        )  # fmt: skip
    said = f"{counted(done.before, 'file')} became {done.after}"
    sys.stderr.write(said + (f", {done.deleted} deleted\n" if done.deleted else "\n"))
    return 0
