"""The fragment table in Spark: read as a DataFrame, written by batches of a streaming query."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from xstreamcast.edges.table.files import write_file
from xstreamcast.edges.table.log import File, Log, State, Stream, place, refused_place
from xstreamcast.edges.table.reading import stream_of
from xstreamcast.edges.table.schema import QUARANTINED, REFUSED, arrow, file_schema, row_schema
from xstreamcast.edges.table.values.indexing import FileValues
from xstreamcast.edges.table.writing import Batch, OnError, Written, commit, stopped, summaries
from xstreamcast.model.instant import START

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FRAGMENTS: Final = (
    "id string, operation string, valid bigint, zoned boolean, payload binary, "
    "holes array<struct<id: string, tag: int>>, batch bigint, ordinal bigint, "
    "timeless boolean, clock bigint, attributes string, stream string, tag int"
)
STAGING: Final = "_staging"
_NO_TAG: Final = "tag=__HIVE_DEFAULT_PARTITION__"


def read_fragments(
    spark: SparkSession,
    path: str | os.PathLike[str],
    stream: str | None = None,
    tags: Iterable[int] | None = None,
) -> DataFrame:
    """The committed fragments of a stream, or of some of its tags.

    Only the files of these tags are listed. Of two rows with one id and valid time the one with
    the larger (batch, ordinal) came later. Removals that name no tag have the tag -1.
    """
    log = Log(path)
    state = log.needed()
    name = stream_of(state, stream, str(path))
    files = state.files_of(name, None if tags is None else frozenset(tags))
    if not files:
        return spark.createDataFrame([], FRAGMENTS)
    base = f"file://{log.path.absolute()}"
    reader = spark.read.schema(FRAGMENTS).option("basePath", base)
    return reader.parquet(*[f"{base}/{file.path}" for file in files])


def write_batch(
    rows: DataFrame,
    epoch: int,
    path: str | os.PathLike[str],
    *,
    writer: str,
    on_error: OnError = "quarantine",
) -> Written:
    """Append the rows of a batch (columns of FragmentSource) as one commit.

    The same writer's same epoch is written once, however often it is tried.
    """
    log = Log(path)
    token = hashlib.sha256(f"{writer} {epoch}".encode()).hexdigest()[:16]
    staging = log.path.absolute() / STAGING / token

    def write(state: State) -> Batch:
        number = state.number
        _stage(rows, staging, number)
        said = _said(staging)
        if on_error == "stop":
            for row in said:
                if row["operation"] == REFUSED:
                    raise stopped(row)
        batch = _moved(log.path.absolute(), staging, said, number)
        _keep_values(rows.sparkSession, FileValues(log.path.absolute(), batch.files))
        return batch

    try:
        return commit(path, write, writer=writer, epoch=epoch)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _stage(rows: DataFrame, staging: Path, number: int) -> None:
    """Write all rows in one pass: a batch that is read twice costs twice."""
    from pyspark.sql import functions as f

    writer = rows.withColumn("batch", f.lit(number).cast("bigint")).write
    writer = writer.mode("overwrite").partitionBy("stream", "tag")
    writer.option("compression", "zstd").parquet(f"file://{staging}")


def _files(staging: Path, said: bool) -> list[Path]:
    return [p for p in sorted(staging.rglob("*.parquet")) if (p.parent.name == _NO_TAG) == said]


def _said(staging: Path) -> list[dict[str, Any]]:
    """The rows that are no fragments: few, and read here."""
    parquet, found = arrow().parquet, []
    for path in _files(staging, said=True):
        stream = unquote(path.parent.parent.name.removeprefix("stream="))
        for row in parquet.ParquetFile(path).read().to_pylist():
            found.append({**row, "stream": stream, "tag": None})
    return sorted(found, key=lambda row: int(row["ordinal"]))


def _moved(table: Path, staging: Path, said: list[dict[str, Any]], number: int) -> Batch:
    """The staged files at their places, and what is to be said of the batch."""
    files: list[File] = []
    streams: dict[str, Stream] = _streams(said)
    for path in _files(staging, said=False):
        stream = unquote(path.parent.parent.name.removeprefix("stream="))
        tag = int(path.parent.name.removeprefix("tag="))
        rows, newest, zoned = _measured(path)
        files.append(_move(table, path, place(stream, tag), number, rows))
        more = Stream(None, newest, zoned, rows)
        streams[stream] = streams.get(stream, Stream()).after(more)
    return Batch(files, _quarantined(table, said, number), streams)


def _keep_values(spark: SparkSession, files: FileValues) -> None:
    """Let tasks extract the values that the table keeps, each of one file."""
    if many := len(files.files):
        spark.range(0, many, 1, many).mapInArrow(files, "id bigint").collect()


def _streams(said: list[dict[str, Any]]) -> dict[str, Stream]:
    if not said:
        return {}
    return summaries(arrow().Table.from_pylist(said, row_schema()))


def _measured(path: Path) -> tuple[int, int, bool]:
    """Rows, the largest valid time and whether that has a zone, the last arrival's."""
    parquet, pc = arrow().parquet, arrow().compute
    metadata = parquet.read_metadata(path)
    if metadata.num_rows == 0:
        return 0, START, False
    rows = parquet.ParquetFile(path).read(columns=["valid", "zoned", "ordinal", "clock"])
    clock = rows["valid"]
    if "clock" in rows.column_names:
        clock = pc.coalesce(rows["clock"], clock)
    newest = pc.max(clock)
    last = rows.filter(pc.equal(clock, newest)).sort_by("ordinal")
    return metadata.num_rows, newest.as_py(), bool(last["zoned"][-1].as_py())


def _move(table: Path, path: Path, folder: str, number: int, rows: int) -> File:
    where = table / folder
    where.mkdir(parents=True, exist_ok=True)
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    kept = where / f"{number:010}-{path.name.split('.')[0].removeprefix('part-')}.parquet"
    size = path.stat().st_size
    path.replace(kept)
    return File(f"{folder}/{kept.name}", rows, size)


def _quarantined(table: Path, said: list[dict[str, Any]], number: int) -> list[File]:
    found = []
    refused = [row for row in said if row["operation"] == REFUSED]
    for stream in dict.fromkeys(row["stream"] for row in refused):
        mine = [row for row in refused if row["stream"] == stream]
        rows = arrow().Table.from_pylist(mine, file_schema(QUARANTINED))
        found.append(write_file(table, refused_place(stream), rows, number, QUARANTINED))
    return found


__all__ = ["FRAGMENTS", "read_fragments", "write_batch"]
