"""xstreamcast run --runner spark: the answer of a query as tasks of Spark find it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from xstreamcast.model.markup import escape

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.binding import Options


def written(
    programs: Mapping[str, Program], document: Any, inputs: Mapping[str, Any], options: Options,
    form: str, limit: int | None, master: str | None,
) -> Iterator[str]:  # fmt: skip
    """The answer as lines of text, in one of the forms of `run`."""
    from xstreamcast.spark.running.spark_run import SparkRun
    from xstreamcast.spark.session import session

    row_form = "records" if form in ("ndjson", "csv", "records", "xml") else "lines"
    run = SparkRun(session(master), programs, document, inputs, options, form=row_form)
    try:
        found = run.collected()
    finally:
        run.sources.close()
    if limit is not None:
        found = found.slice(0, max(0, limit))
    yield from _lines(found["item"].to_pylist(), found["kind"].to_pylist(), form)
    for note in [*run.sources.notes, f"spark: {run.words[0]}"]:
        sys.stderr.write(note + "\n")


def _lines(items: list[str], kinds: list[str], form: str) -> Iterator[str]:
    match form:
        case "ndjson" | "csv":
            from xstreamcast.edges.columns import csv_lines, json_lines, rows

            yield from (csv_lines if form == "csv" else json_lines)(rows(map(json.loads, items)))
        case "xml":
            yield "<results>"
            yield from (f"<item>{_content(json.loads(one))}</item>" for one in items)
            yield "</results>"
        case "table":
            for number, (kind, item) in enumerate(zip(kinds, items, strict=True), start=1):
                yield f"{number:>5}  {kind:<14}  {item}"
        case _:
            yield from items


def _content(record: dict[str, Any]) -> str:
    """An item as XML content: a node as it is, an atomic value escaped."""
    return str(record["xml"]) if "xml" in record else escape(record.get("v", ""))
