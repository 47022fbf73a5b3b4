"""`xstreamcast functions`: what a query can call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.functions.forms import Form
    from xstreamcast.functions.registry import Function


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "pattern", metavar="PATTERN", nargs="?", help="part of a name, or a pattern with * and ?"
    )
    parser.add_argument(
        "--format", choices=tuple(_FORMATS), help="default: table on a terminal, otherwise lines"
    )


def main(args: Parsed) -> int:
    from xstreamcast.functions.forms import FORMS
    from xstreamcast.functions.registry import rows

    every: list[Function | Form] = [*rows(), *FORMS]
    chosen = [row for row in every if args.pattern is None or _fits(row.name, args.pattern)]
    if not chosen:
        near = get_close_matches(args.pattern, [row.name.rpartition(":")[2] for row in every], 1)
        hint = f"did you mean {near[0]}?" if near else "xstreamcast functions lists them all"
        raise error("XSCU0005", f"no function is named like {args.pattern}", hint=hint)
    shape = args.format or ("table" if sys.stdout.isatty() else "lines")
    for line in _FORMATS[shape](chosen):
        sys.stdout.write(line + "\n")
    return 0


def _fits(name: str, pattern: str) -> bool:
    """Whether a name, with or without its prefix, is meant by a part of it or a pattern."""
    name, wanted = name.lower(), pattern.lower()
    if any(mark in wanted for mark in "*?") and wanted not in name:
        return fnmatchcase(name, wanted) or fnmatchcase(name.rpartition(":")[2], wanted)
    return wanted in name


def _lines(rows: list[Function | Form]) -> Iterator[str]:
    for row in rows:
        yield f"{row.signature}\t{row.doc}"


def _table(rows: list[Function | Form]) -> Iterator[str]:
    for row in rows:
        yield row.signature
        yield f"    {row.doc}"


def _markdown(rows: list[Function | Form]) -> Iterator[str]:
    yield "| function | what it returns |"
    yield "|---|---|"
    for row in rows:
        signature, doc = (text.replace("|", "\\|") for text in (row.signature, row.doc))
        yield f"| `{signature}` | {doc} |"


_FORMATS: Final[dict[str, Callable[[list[Function | Form]], Iterator[str]]]] = {
    "lines": _lines,
    "table": _table,
    "markdown": _markdown,
}
