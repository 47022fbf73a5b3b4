"""A source into a fragment table by a streaming query, each batch once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.ingesting import Ingested, structure_text
from xstreamcast.edges.inputs import stream_name
from xstreamcast.edges.mapping.finding import split_source
from xstreamcast.edges.replay import Offset, Replay
from xstreamcast.edges.table.log import Log
from xstreamcast.errors import Error
from xstreamcast.spark.failing import failure
from xstreamcast.spark.master import refuse_connect
from xstreamcast.spark.source import NAME, register
from xstreamcast.spark.table import write_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.edges.table.writing import OnError

_LOOK: Final = "250 milliseconds"  # between two looks at files that may grow


def ingest(
    spark: SparkSession,
    source: str | os.PathLike[str],
    table: str | os.PathLike[str],
    *,
    stream: str | None = None,
    structure: str | os.PathLike[str] | None = None,
    valid: str | None = None,
    most: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    follow: bool = False,
    on_error: OnError = "quarantine",
    report: Callable[[Ingested], None] | None = None,
    called: str | None = None,
) -> Ingested:
    """Read what is there, and with `follow` what comes, into the table."""
    word, place = split_source(source)
    name, text = stream or stream_name(place), structure_text(structure)
    replay = Replay(os.fspath(source), text, 1, valid, called=called)
    replay.advance(Offset(), 1)  # a mistake in the call is reported here, not by a task
    where_ = os.path.abspath(place)
    path = where_ if word is None else f"{_whole(word)}:{where_}"
    options: dict[str, Any] = {"path": path, "stream": name, "structure": text}
    options |= {"maxPerBatch": most, "validTime": valid, "follow": "true" if follow else None}
    options["called"] = called
    reader = register(spark).readStream.format(NAME)
    for key, value in options.items():
        reader = reader if value is None else reader.option(key, value)
    where = Path(checkpoint).absolute() if checkpoint else default_checkpoint(table, name, source)
    done = Ingested(name)
    append(reader.load(), table, where, done, follow=follow, on_error=on_error, report=report)
    done.left = list(replay.left_over(_reached(where)))
    return done


def _whole(word: str) -> str:
    """A mapping as tasks find it: by its name, or by its whole path."""
    return os.path.abspath(word) if word.endswith(".toml") else word


def append(
    rows: DataFrame,
    table: str | os.PathLike[str],
    checkpoint: Path,
    done: Ingested,
    *,
    follow: bool = False,
    on_error: OnError = "quarantine",
    report: Callable[[Ingested], None] | None = None,
) -> None:
    """Append the rows of any streaming DataFrame of fragments, until it ends or is interrupted."""
    refuse_connect(rows.sparkSession, "an ingest")
    failed: list[Error] = []

    def write(batch: DataFrame, epoch: int) -> None:
        writer = json.loads((checkpoint / "metadata").read_text())["id"]
        try:
            done.add(write_batch(batch, epoch, table, writer=writer, on_error=on_error))
        except Error as refused:
            failed.append(refused)
            raise
        if report is not None:
            report(done)

    writer = rows.writeStream.foreachBatch(write).option(
        "checkpointLocation", f"file://{checkpoint}"
    )
    writer = writer.trigger(processingTime=_LOOK) if follow else writer.trigger(availableNow=True)
    checkpoint.mkdir(parents=True, exist_ok=True)
    try:
        query = writer.start()
    except Exception as stopped:
        raise failure(stopped, writes=(table, checkpoint)) from None
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        query.stop()
    except Exception as stopped:
        if failed:
            raise failed[0] from None
        raise failure(stopped, writes=(table, checkpoint)) from None


def default_checkpoint(
    table: str | os.PathLike[str], stream: str, source: str | os.PathLike[str]
) -> Path:
    """The default folder for the progress of a source into a table."""
    short = hashlib.sha256(os.path.abspath(source).encode()).hexdigest()[:10]
    return Log(table).path.absolute() / "_checkpoints" / f"{stream}-{short}"


def _reached(checkpoint: Path) -> Offset:
    """The offset of the last batch in a checkpoint."""
    folder = checkpoint / "offsets"
    names = [int(p.name) for p in folder.iterdir() if p.name.isdigit()] if folder.is_dir() else []
    if not names:
        return Offset()
    report = (folder / str(max(names))).read_text().splitlines()[2]
    return Offset.of(json.loads(report))
