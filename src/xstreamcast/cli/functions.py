"""`xstreamcast functions`: what a query can call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.functions.registry import Function


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "pattern", metavar="PATTERN", nargs="?", help="part of a name, or a pattern with * and ?"
    )
    parser.add_argument(
        "--format", choices=tuple(_FORMATS), help="default: table on a terminal, else lines"
    )


def main(args: Parsed) -> int:
    from xstreamcast.functions.registry import rows

    chosen = [row for row in rows() if args.pattern is None or _fits(row, args.pattern)]
    if not chosen:
        raise error(
            "XSCU0005", f"no function is named like {args.pattern}", hint="xstreamcast functions"
        )
    shape = args.format or ("table" if sys.stdout.isatty() else "lines")
    for line in _FORMATS[shape](chosen):
        sys.stdout.write(line + "\n")
    return 0


def _fits(row: Function, pattern: str) -> bool:
    name, wanted = row.name.lower(), pattern.lower()
    if any(mark in wanted for mark in "*?"):
        return fnmatchcase(name, wanted) or fnmatchcase(row.local.lower(), wanted)
    return wanted in name


def _lines(rows: list[Function]) -> Iterator[str]:
    for row in rows:
        yield f"{row.signature}\t{row.doc}"


def _table(rows: list[Function]) -> Iterator[str]:
    for row in rows:
        yield row.signature
        yield f"    {row.doc}"


def _markdown(rows: list[Function]) -> Iterator[str]:
    yield "| function | what it gives |"
    yield "|---|---|"
    for row in rows:
        signature, doc = (text.replace("|", "\\|") for text in (row.signature, row.doc))
        yield f"| `{signature}` | {doc} |"


_FORMATS: Final[dict[str, Callable[[list[Function]], Iterator[str]]]] = {
    "lines": _lines,
    "table": _table,
    "markdown": _markdown,
}
