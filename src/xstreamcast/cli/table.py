"""The commands there are: one row each; a row whose module is absent is not there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol, cast

from xstreamcast.cli.arguments import Parsed, Parser


class CommandModule(Protocol):
    """What a command's file offers."""

    add_arguments: Callable[[Parser], None]
    main: Callable[[Parsed], int]


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A command: its name, its file, and what it does in a few words."""

    name: str
    module: str
    help: str

    def present(self) -> bool:
        return find_spec(self.module) is not None

    def load(self) -> CommandModule:
        """Commands are imported when they are called: `--help` must not wait for compilers."""
        return cast(CommandModule, import_module(self.module))


COMMANDS: Final = (
    CommandRow(
        "demo", "xstreamcast.cli.demo", "run continuous queries over a small generated feed"
    ),
    CommandRow("run", "xstreamcast.cli.run", "evaluate a query once"),
    CommandRow(
        "watch", "xstreamcast.cli.watch", "keep a query running and print how its answer changes"
    ),
    CommandRow(
        "serve", "xstreamcast.cli.serve", "keep queries running; a page and an API show answers"
    ),
    CommandRow(
        "explain", "xstreamcast.cli.explain", "print how a query is parsed, planned and executed"
    ),
    CommandRow("map", "xstreamcast.cli.map", "propose a mapping for a feed, or check one"),
    CommandRow(
        "fragment", "xstreamcast.cli.fragment", "cut a document into fragments, or join them"
    ),
    CommandRow(
        "infer", "xstreamcast.cli.infer", "propose a tag structure for documents, a DTD or an XSD"
    ),
    CommandRow("ingest", "xstreamcast.cli.ingest", "append a stream to a fragment table"),
    CommandRow("cast", "xstreamcast.cli.cast", "broadcast a stream as fragments"),
    CommandRow("tune", "xstreamcast.cli.tune", "receive a broadcast, each fragment once"),
    CommandRow("refused", "xstreamcast.cli.refused", "list the quarantine of a fragment table"),
    CommandRow("compact", "xstreamcast.cli.compact", "merge the small files of a fragment table"),
    CommandRow(
        "index", "xstreamcast.cli.index", "keep values of a fragment table for queries to skip by"
    ),
    CommandRow(
        "functions", "xstreamcast.cli.functions", "list the functions that queries can call"
    ),
    CommandRow("eval", "xstreamcast.cli.eval", "evaluate queries sent as lines of JSON on stdin"),
    CommandRow("kernels", "xstreamcast.cli.kernels", "compile the kernels for this processor"),
    CommandRow(
        "completion", "xstreamcast.cli.completion", "print completions for bash, zsh or fish"
    ),
    CommandRow(
        "manual", "xstreamcast.cli.manual", "print the man page: xstreamcast manual | man -l -"
    ),
    CommandRow(
        "bench", "xstreamcast.cli.bench", "generate data and run benchmarks (source checkout)"
    ),
)


def present() -> list[CommandRow]:
    return [row for row in COMMANDS if row.present()]


def find(name: str) -> CommandRow | None:
    return next((row for row in present() if row.name == name), None)


def nearest(name: str, names: list[str]) -> str | None:
    """The name a mistyped one was probably meant to be."""
    return next(iter(get_close_matches(name, names, n=1, cutoff=0.6)), None)
