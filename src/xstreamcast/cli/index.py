"""xstreamcast index: keep values of payloads as columns, so that queries need not read the rest."""

from __future__ import annotations

import sys

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.cli.progress import progress


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument("table", metavar="TABLE", help="the folder of the table")
    parser.add_argument(
        "path", nargs="*", metavar="PATH",
        help="from an element that is sent as a fragment to its values: //event/severity, "
        "//event/@id; without one, the values of files that do not have them are extracted",
    )  # fmt: skip
    parser.add_argument("--stream", metavar="NAME", help="the stream, if the table has several")
    parser.add_argument(
        "--drop", action="store_true", help="keep the values of these paths (or all) no longer"
    )


def main(arguments: Parsed) -> int:
    """Index, and print which values are kept."""
    from xstreamcast.edges.table.values.indexing import drop_paths, index

    with progress("index") as shown:
        if arguments.drop:
            found = drop_paths(arguments.table, arguments.path, stream=arguments.stream)
        else:
            found = index(
                arguments.table, arguments.path, stream=arguments.stream,
                report=lambda done, of: shown.show(done, of, f"{done} of {of} files"),
            )  # fmt: skip
    for one in found:
        fragments = f"{one.rows} fragments" if one.rows != 1 else "1 fragment"
        files = f"{one.kept} of {one.files} file{'s' if one.files != 1 else ''}"
        sys.stdout.write(f"{one.path.text}  {fragments} in {files}\n")
    return 0
