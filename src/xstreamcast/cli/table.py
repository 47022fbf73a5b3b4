"""The commands there are: one row each; a row whose module is absent is not there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol, cast

from xstreamcast.cli.arguments import Parsed, Parser


class Module(Protocol):
    """What a command's file offers."""

    add_arguments: Callable[[Parser], None]
    main: Callable[[Parsed], int]


@dataclass(frozen=True, slots=True)
class Row:
    """A command: its name, its file, and what it does in a few words."""

    name: str
    module: str
    help: str

    def present(self) -> bool:
        return find_spec(self.module) is not None

    def load(self) -> Module:
        """Commands are imported when they are called: `--help` must not wait for compilers."""
        return cast(Module, import_module(self.module))


COMMANDS: Final = (
    Row("demo", "xstreamcast.cli.demo", "run continuous queries over a small generated feed"),
    Row("run", "xstreamcast.cli.run", "evaluate a query once"),
    Row("watch", "xstreamcast.cli.watch", "keep a query running and print how its answer changes"),
    Row("serve", "xstreamcast.cli.serve", "keep queries running; a page and an API show answers"),
    Row("explain", "xstreamcast.cli.explain", "print how a query is parsed, planned and executed"),
    Row("map", "xstreamcast.cli.map", "propose a mapping for a feed, or check one"),
    Row("fragment", "xstreamcast.cli.fragment", "cut a document into fragments, or join them"),
    Row("infer", "xstreamcast.cli.infer", "propose a tag structure for documents, a DTD or an XSD"),
    Row("ingest", "xstreamcast.cli.ingest", "append a stream to a fragment table"),
    Row("cast", "xstreamcast.cli.cast", "broadcast a stream as fragments"),
    Row("tune", "xstreamcast.cli.tune", "receive a broadcast, each fragment once"),
    Row("refused", "xstreamcast.cli.refused", "list the quarantine of a fragment table"),
    Row("compact", "xstreamcast.cli.compact", "merge the small files of a fragment table"),
    Row("index", "xstreamcast.cli.index", "keep values of a fragment table for queries to skip by"),
    Row("functions", "xstreamcast.cli.functions", "list the functions that queries can call"),
    Row("eval", "xstreamcast.cli.eval", "evaluate queries sent as lines of JSON on stdin"),
    Row("kernels", "xstreamcast.cli.kernels", "compile the kernels for this processor"),
    Row("completion", "xstreamcast.cli.completion", "print completions for bash, zsh or fish"),
    Row("manual", "xstreamcast.cli.manual", "print the man page: xstreamcast manual | man -l -"),
    Row("bench", "xstreamcast.cli.bench", "generate data and run benchmarks (source checkout)"),
)


def present() -> list[Row]:
    return [row for row in COMMANDS if row.present()]


def find(name: str) -> Row | None:
    return next((row for row in present() if row.name == name), None)


def nearest(name: str, names: list[str]) -> str | None:
    """The name a mistyped one was probably meant to be."""
    return next(iter(get_close_matches(name, names, n=1, cutoff=0.6)), None)
