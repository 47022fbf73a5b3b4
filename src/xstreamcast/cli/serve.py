"""xstreamcast serve: queries left running; a page and an API show their answers."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from xstreamcast.cli.arguments import Parsed, Parser, at_least_one
from xstreamcast.cli.continuous import (
    add_continuous_arguments,
    continuous_options,
    fitting,
    logged,
    quarantine,
    report,
    warn,
)
from xstreamcast.cli.log import CommandLog
from xstreamcast.cli.query_arguments import (
    add_source_arguments,
    bindings,
    query_file,
    query_texts,
    sources,
)
from xstreamcast.cli.streams import add_limit_arguments, apply_limits
from xstreamcast.edges.durations import micros
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.edges.quarantine import Quarantine
    from xstreamcast.serve.serving import Serving


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    parser.add_argument(
        "file", nargs="+", metavar="FILE.xq",
        help="files with a query each, or folders of them; a query has the name of its file "
        "without .xq",
    )  # fmt: skip
    add_source_arguments(parser)
    parser.add_argument(
        "--listen", default="127.0.0.1:8091", metavar="HOST:PORT",
        help="where clients connect (127.0.0.1:8091: only from this machine)",
    )  # fmt: skip
    parser.add_argument(
        "--max-clients", type=int, default=1000, metavar="N",
        help="clients that follow answers at once, at most (1000)",
    )  # fmt: skip
    parser.add_argument(
        "--backlog", type=int, default=4 << 20, metavar="BYTES",
        help="changes of each answer that are kept for clients that are slow or reconnect "
        "(4194304); others are sent the whole answer",
    )  # fmt: skip
    parser.add_argument("--for", dest="seconds", metavar="30s", help="stop after this duration")
    add_continuous_arguments(parser)
    add_limit_arguments(parser)


def main(arguments: Parsed) -> int:
    """Compile, listen, begin."""
    return logged(arguments, _run)


def _run(arguments: Parsed) -> int:
    import asyncio

    log = CommandLog(arguments.log)
    apply_limits(arguments)
    seconds = micros(arguments.seconds)
    with fitting(arguments), quarantine(arguments) as kept:
        serving = _serving(arguments, kept, log)
        assert serving.watching is not None
        terminated = False

        async def serve() -> None:
            def terminate() -> None:
                nonlocal terminated
                terminated = True
                serving.stop()

            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
            await serving.run(None if seconds is None else seconds / 10**6)

        try:
            asyncio.run(serve())
        finally:
            report(serving.watching, kept, log)
    if terminated:  # the parent sees that it ended by the signal
        sys.stderr.flush()
        signal.raise_signal(signal.SIGTERM)
    return 0


def _serving(arguments: Parsed, kept: Quarantine | None, log: CommandLog) -> Serving:
    from xstreamcast.api import Queries
    from xstreamcast.edges.watching.bound import Input
    from xstreamcast.edges.watching.metrics import Metrics
    from xstreamcast.live.page import page
    from xstreamcast.serve.answers import Answers
    from xstreamcast.serve.served import Page, Served
    from xstreamcast.serve.serving import Serving

    host, port = _address(arguments.listen)
    texts = _texts(arguments.file)
    compiled = Queries(texts, arguments.module_path)
    backlog = at_least_one("--backlog", arguments.backlog)
    answers = Answers(list(texts), backlog, holds=arguments.checkpoint is not None)
    serving = Serving(
        Served(texts, Page(*page()), answers), host, port,
        at_least_one("--max-clients", arguments.max_clients), compiled.set,
        say=lambda said: log.write("note", said), began=lambda one: warn(one, log),
    )  # fmt: skip
    options = replace(
        continuous_options(arguments, log.refused if kept is None else kept.add, log),
        output="serve", stoppable=True, on_counted=serving.release, on_failure=serving.fail,
        metrics=Metrics(None, 1.0, serving.measure),
    )  # fmt: skip
    document, named = sources(arguments.input)
    inputs = {name: Input(one) for name, one in named.items()} | bindings(compiled, arguments.bind)
    serving.watching = compiled.watching(document, inputs, options)
    serving.watching.form = answers
    if kept is not None:
        serving.watching.keep_in(kept)
    return serving


def _texts(words: list[str]) -> dict[str, str]:
    """The queries of files and folders, by their names."""
    found: dict[str, str] = {}
    for word in words:
        path = Path(word)
        own = query_texts(path) if path.is_dir() else {path.stem: query_file(path)}
        for name in own.keys() & found.keys():
            raise error("XSCU0001", f"two queries are called {name}; a name is that of its file")
        found |= own
    return found


def _address(word: str) -> tuple[str, int]:
    """The host and the port of HOST:PORT, [HOST]:PORT or PORT."""
    host, _, port = word.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise error("XSCU0001", f"--listen must be HOST:PORT; got {word}")
    return host.strip("[]") or "127.0.0.1", int(port)
