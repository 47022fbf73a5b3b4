"""xstreamcast watch: a query left running; what changes in its answer, as it changes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

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
    add_input_arguments,
    bindings,
    compiled_query,
    query_texts,
    sources,
    written_to,
)
from xstreamcast.cli.streams import add_limit_arguments, apply_limits
from xstreamcast.cli.watch_spark import add_spark_arguments, on_spark
from xstreamcast.edges.durations import micros
from xstreamcast.edges.sinks.forms import FORMS, ONE_BY_ONE, form_of
from xstreamcast.edges.sinks.sink import Sink
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.api import Queries, Query
    from xstreamcast.edges.quarantine import Quarantine
    from xstreamcast.edges.watching import Watching
    from xstreamcast.edges.watching.metrics import Metrics
    from xstreamcast.model.change import Change
    from xstreamcast.spark.watching.run import SparkWatching

FORMATS: Final = (*FORMS, "table")


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    add_input_arguments(parser, "; a folder: all its queries (*.xq), which run together")
    parser.add_argument(
        "--format", choices=FORMATS,
        help="changes (JSON, a line each; when piped), updates (JSON: key, rank, item), lines "
        "(+ item, - item), xml (the answer at the end), events (an update stream as JSON), "
        "events-xml (as XML), table (a live view; on a terminal)",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write to this file instead of stdout"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N changes")
    parser.add_argument("--for", dest="seconds", metavar="30s", help="stop after this duration")
    parser.add_argument("--metrics", metavar="FILE", help="write numbers to this file, as JSON")
    parser.add_argument(
        "--metrics-every", default="10s", metavar="D", help="time between two lines of it (10s)"
    )
    add_continuous_arguments(parser)
    add_spark_arguments(parser)
    add_limit_arguments(parser)


def main(arguments: Parsed) -> int:
    """Compile, begin, write changes."""
    return logged(arguments, _run)


def _run(arguments: Parsed) -> int:
    log = CommandLog(arguments.log)
    apply_limits(arguments)
    if arguments.runner == "spark":
        _refuse_on_spark(arguments)
    with (
        fitting(arguments, arguments.output),
        quarantine(arguments) as kept,
        _output(arguments) as out,
    ):
        name = arguments.format or _usual_format(arguments, out)
        keep = log.refused if kept is None else kept.add
        watching = _watching(arguments, keep, name, log)
        with closing(watching):
            _go_back(watching, out)
            if kept is not None and arguments.runner == "local":
                cast("Watching", watching).keep_in(kept)
            watching.form = form_of(name) if name in FORMS else None
            warn(watching, log)
            try:
                _write(watching, arguments.limit, out)
            except KeyboardInterrupt:  # most runs end here: counts are still reported
                _report(watching, kept, log)
                raise
            _report(watching, kept, log)
    return 0


def _report(watching: Watching | SparkWatching, kept: Quarantine | None, log: CommandLog) -> None:
    """Counts, and what may explain that nothing was emitted."""
    report(watching, kept, log)
    from xstreamcast.edges.watching import Watching

    if isinstance(watching, Watching) and watching.emitted == 0 and watching.queries is None:
        from xstreamcast.cli.emptiness import KnownNames, likely_causes

        known = KnownNames.of_watching(watching)
        for cause in [] if known is None else likely_causes(watching.programs.values(), known):
            log.write("note", f"the answer is empty: {cause}")


def _usual_format(arguments: Parsed, out: Sink) -> str:
    """The default format of changes."""
    if not out.isatty():
        return "changes"
    return "lines" if _folder(arguments) else "table"


def _folder(arguments: Parsed) -> Path | None:
    """The folder of queries that was given, if it is one."""
    if arguments.file is None or arguments.query is not None:
        return None
    path = Path(arguments.file)
    return path if path.is_dir() else None


def _compiled(arguments: Parsed, output: str) -> Query | Queries:
    """The query, or those of a folder."""
    from xstreamcast.api import Queries

    folder = _folder(arguments)
    if folder is None:
        return compiled_query(arguments)
    if arguments.runner == "spark":
        raise error("XSCU0001", "a folder of queries needs --runner local")
    if output not in ONE_BY_ONE:
        raise error(
            "XSCU0001", f"--format {output} writes one answer, and {folder} has several queries",
            hint="--format changes, updates or lines",
        )  # fmt: skip
    return Queries(query_texts(folder), arguments.module_path)


def _go_back(watching: Watching | SparkWatching, out: Sink) -> None:
    """Cut the output back to the last tick that counts."""
    watching.sink = out.reached
    journal = watching.journal
    if journal is None:
        return
    if journal.is_new and out.goes_on:
        journal.begin_sink(out.reached())
    else:
        out.go_back(journal.sink)


def _refuse_on_spark(arguments: Parsed) -> None:
    if arguments.metrics is not None:
        raise error("XSCU0001", "--metrics needs --runner local")


def _metrics(arguments: Parsed) -> Metrics | None:
    from xstreamcast.edges.watching.metrics import Metrics

    every = (micros(arguments.metrics_every) or 0) / 10**6
    return None if arguments.metrics is None else Metrics(arguments.metrics, every)


def _watching(
    arguments: Parsed, keep: Any, output: str, log: CommandLog
) -> Watching | SparkWatching:
    from xstreamcast.api import Query
    from xstreamcast.edges.watching.bound import Input

    compiled = _compiled(arguments, output)
    if arguments.limit is not None:
        at_least_one("--limit", arguments.limit)
    options = replace(
        continuous_options(arguments, keep, log),
        tell=arguments.tell,
        metrics=_metrics(arguments),
        output=output,
        seconds=None if arguments.seconds is None else (micros(arguments.seconds) or 0) / 10**6,
    )
    document, named = sources(arguments.input)
    inputs = {name: Input(one) for name, one in named.items()} | bindings(compiled, arguments.bind)
    if arguments.runner == "spark":
        assert isinstance(compiled, Query)
        _refuse_to_recall(output, options.checkpoint)
        return on_spark(compiled, document, inputs, options, arguments)
    return compiled.watching(document, inputs, options)


def _refuse_to_recall(output: str, checkpoint: str | None) -> None:
    """On Spark nothing recalls the answer that was written before a restart."""
    if checkpoint is not None and output in FORMS and output not in ("changes", "lines"):
        raise error(
            "XSCU0001", f"--format {output} with --checkpoint needs --runner local",
            hint="--format changes holds the same answer",
        )  # fmt: skip


def _write(watching: Watching | SparkWatching, limit: int | None, out: Sink) -> None:
    """Write what each tick changed; it is in the sink before the next tick begins."""
    batches = _limited(watching, limit)
    if watching.form is None:
        _show(watching, batches, out)
        return
    for changes in batches:
        out.write(watching.form.write(changes))
        out.flush()
    out.write(watching.form.close())
    out.flush()


def _limited(
    watching: Watching | SparkWatching, limit: int | None
) -> Generator[list[Change], None, None]:
    """The changes of each tick, up to so many; those that were written before count."""
    from xstreamcast.model.uncollected import set_aside

    with closing(watching.ticks()) as batches:
        watching.begin()
        left = None if limit is None else limit - watching.written_before
        while (left is None or left > 0) and (changes := next(batches, None)) is not None:
            yield changes[:left]
            left = None if left is None else left - len(changes)
            set_aside()


def _show(watching: Watching | SparkWatching, batches: Iterator[list[Change]], out: Sink) -> None:
    from xstreamcast.live.terminal import Terminal
    from xstreamcast.live.view import LiveView

    title = " ".join(watching.program.source.text.split())
    with LiveView(Terminal.of(out), title=title) as view:
        for changes in batches:
            view.take(changes)


def _output(arguments: Parsed) -> Sink:
    """The sink; a file is truncated, unless a checkpoint records how much of it counts."""
    if arguments.output is None:
        return Sink(None, fresh=False)
    with written_to(arguments.output):
        return Sink(arguments.output, fresh=arguments.checkpoint is None)
