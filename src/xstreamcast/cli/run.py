"""xstreamcast run: the answer of a query, once, over the current inputs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from xstreamcast.cli.arguments import Parsed, Parser, at_least_one
from xstreamcast.cli.progress import work_shown
from xstreamcast.cli.query_arguments import (
    add_input_arguments,
    bindings,
    compiled_query,
    hint_at_context,
    sources,
    written_to,
)
from xstreamcast.cli.streams import (
    add_limit_arguments,
    add_stream_arguments,
    apply_limits,
    quarantined,
    stream_options,
)
from xstreamcast.errors import Error, error
from xstreamcast.model.work import WORK

if TYPE_CHECKING:
    from xstreamcast.api import Answer, Query
    from xstreamcast.edges.binding import Options
    from xstreamcast.edges.loading import Keep

FORMATS: Final = ("lines", "xml", "ndjson", "csv", "records", "table")


def add_arguments(parser: Parser) -> None:
    """What the command understands."""
    add_input_arguments(parser)
    add_stream_arguments(parser)
    parser.add_argument(
        "--format", choices=FORMATS,
        help="lines (one item each; when piped), table (on a terminal), xml, csv and ndjson (a row "
        "per item: attributes, children or keys are columns), records (JSON with types)",
    )  # fmt: skip
    parser.add_argument(
        "-s", "--serialize", action="append", default=[], metavar="NAME=VALUE",
        help="serialise the whole answer with this parameter: method=json, indent=yes, …",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, metavar="N", help="print at most N items")
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write to this file instead of stdout"
    )
    parser.add_argument(
        "--runner", choices=("local", "spark"), default="local",
        help="evaluate in this process or on Spark",
    )  # fmt: skip
    parser.add_argument("--master", metavar="URL", help="with --runner spark: the cluster")
    add_limit_arguments(parser)


def main(arguments: Parsed) -> int:
    """Compile, run, write."""
    apply_limits(arguments)
    if arguments.limit is not None:
        at_least_one("--limit", arguments.limit)
    compiled = compiled_query(arguments)
    document, named = read_sources(arguments.input)
    with quarantined(arguments) as keep:
        inputs = {**named, **bindings(compiled, arguments.bind)}
        if arguments.runner == "spark":
            return _on_spark(compiled, document, inputs, arguments, keep)
        options = stream_options(arguments, keep)
        with work_shown():
            answer = _answer(compiled, document, inputs, options, arguments)
        with _output(arguments.output) as out, _shown_if_kept(arguments):
            shown = _limited(answer, arguments.limit)
            if _serializes(arguments, compiled):
                out.write(shown.serialize(**_parameters(arguments.serialize)) + "\n")
            else:
                for line in _written(shown, _format(arguments)):
                    out.write(line + "\n")
                    WORK.items += 1
    for loaded in answer.loaded:
        sys.stderr.write(loaded.summary() + "\n")
        if loaded.unfit is not None:
            sys.stderr.write(f"note: {loaded.unfit}\n")
    _explain_emptiness(compiled, answer, named)
    return 0


def _explain_emptiness(compiled: Query, answer: Answer, named: dict[str, Any]) -> None:
    """Say what may explain an answer without items, and which inputs were never read."""
    if len(answer) and not named:
        return
    from xstreamcast.cli.emptiness import KnownNames, likely_causes, unused_inputs

    programs = compiled.programs.values()
    said = unused_inputs(programs, named)
    if not len(answer) and not any(loaded.unfit for loaded in answer.loaded):
        causes = likely_causes(programs, KnownNames.of_answer(answer))
        said += [f"the answer is empty: {cause}" for cause in causes]
    for sentence in said:
        sys.stderr.write(f"note: {sentence}\n")


def _answer(
    compiled: Query, document: Any, inputs: dict[str, Any], options: Options, arguments: Parsed
) -> Answer:
    try:
        return compiled.answer(document, inputs, options, arguments.tell)
    except Error as caught:
        hint_at_context(caught, arguments.input)
        raise


def _shown_if_kept(arguments: Parsed) -> AbstractContextManager[None]:
    """Progress while items are written, unless they appear on the same terminal."""
    return nullcontext() if arguments.output is None and sys.stdout.isatty() else work_shown()


def _serializes(arguments: Parsed, compiled: Query) -> bool:
    """Whether the answer is one text: -s requests it, or the query declares it."""
    from xstreamcast.evaluate.results.serializing import declares_output

    if arguments.serialize and arguments.format is not None:
        raise error("XSCU0001", "-s and --format exclude each other")
    if arguments.serialize:
        return True
    return arguments.format is None and declares_output(compiled.programs[arguments.tell])


def _parameters(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise error("XSCU0001", f"a serialisation parameter must be NAME=VALUE; got {word}")
        found[name] = value
    return found


def _on_spark(
    compiled: Query, document: Any, inputs: dict[str, Any], arguments: Parsed, keep: Keep
) -> int:
    """The same, as tasks of Spark."""
    from xstreamcast.cli.run_spark import written

    options = stream_options(arguments, keep)
    programs = compiled.telling(arguments.tell)
    form, limit = _format(arguments), arguments.limit
    said = written(programs, document, inputs, options, form, limit, arguments.master)
    with _output(arguments.output) as out:
        for line in said:
            out.write(line + "\n")
    return 0


def _limited(answer: Answer, limit: int | None) -> Answer:
    from xstreamcast.api import Answer

    if limit is None or limit >= len(answer):
        return answer
    return Answer(answer.store, answer.items.slice(0, max(0, limit)), (), answer.program)


def read_sources(words: list[str]) -> tuple[Any, dict[str, Any]]:
    """The document, if there is one, and the named inputs, as they are read: stdin at once."""
    document, named = sources(words)
    read = {name: _source(word, name) for name, word in named.items()}
    return (None if document is None else _source(document)), read


def _source(word: str, name: str | None = None) -> Any:
    """What can be read a second time stays where it is; what cannot is read now."""
    from xstreamcast.edges.mapping.finding import split_source
    from xstreamcast.edges.sources import is_place
    from xstreamcast.edges.sources.received import Received, received

    mapping, place = split_source(word)
    if place == "-":
        made = Received.of([sys.stdin.buffer.read()])
    elif is_place(place):
        made = received(place, name)
    elif Path(place).is_fifo():
        made = Received.of([_pipe(place)])
    else:
        return Path(word)
    made.mapping = mapping
    return made


def _pipe(place: str) -> bytes:
    """What comes through a named pipe, decompressed as its name says."""
    from xstreamcast.edges.inputs import opened

    with opened(place) as file:
        return file.read()


def _format(arguments: Parsed) -> str:
    if arguments.format is not None:
        return str(arguments.format)
    return "table" if arguments.output is None and sys.stdout.isatty() else "lines"


@contextmanager
def _output(path: str | None) -> Iterator[TextIO]:
    """The file, or standard output; always UTF-8, regardless of the locale."""
    if path is not None:
        with written_to(path), open(path, "w", encoding="utf-8") as file:
            yield file
        return
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    yield sys.stdout
    sys.stdout.flush()


def _written(answer: Answer, form: str) -> Iterator[str]:
    """The answer as lines of text."""
    from xstreamcast.evaluate.results.results import records

    match form:
        case "ndjson" | "csv":
            from xstreamcast.edges.columns import csv_lines, json_lines

            yield from (csv_lines if form == "csv" else json_lines)(answer.rows())
        case "records":
            for record in records(answer.store, answer.items):
                yield json.dumps(record, ensure_ascii=False)
        case "xml":
            yield "<results>"
            yield from (f"<item>{line}</item>" for line in _escaped_lines(answer))
            yield "</results>"
        case "table":
            yield from _table(answer)
        case _:
            yield from answer.lines()


def _escaped_lines(answer: Answer) -> Iterator[str]:
    """Items as XML content: nodes as they are, atomic values escaped."""
    from xstreamcast.evaluate.results.results import records
    from xstreamcast.model.markup import escape

    both = zip(records(answer.store, answer.items), answer.lines(), strict=True)
    for record, line in both:
        text = record.get("v", "")
        yield record["xml"] if "xml" in record else escape(text if isinstance(text, str) else line)


def _table(answer: Answer) -> Iterator[str]:
    """A numbered line for each item with what it is."""
    from xstreamcast.evaluate.results.results import records

    pairs = zip(records(answer.store, answer.items), answer.lines(), strict=True)
    for number, (record, line) in enumerate(pairs, start=1):
        kind = record.get("t") or record.get("n") or "function"
        yield f"{number:>5}  {kind:<14}  {line}"
