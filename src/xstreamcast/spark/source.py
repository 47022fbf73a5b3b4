"""Streams of fragments as a Spark source: files and folders that grow, read in splits.

spark.dataSource.register(FragmentSource)
spark.readStream.format("xstreamcast").option("path", "feeds/credit/").load()

An offset says how far each file is read, so a batch that is read again is the same batch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from xstreamcast.edges.inputs import stream_name
from xstreamcast.edges.partitions.packing import PACKED, Parting, packs
from xstreamcast.edges.replay import Offset, Replay, Split, split_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

NAME: Final = "xstreamcast"
ROWS: Final = (
    "stream string, tag int, id string, operation string, valid bigint, zoned boolean, "
    "payload binary, holes array<struct<id: string, tag: int>>, ordinal bigint, source string, "
    "position bigint, code string, reason string, timeless boolean, clock bigint, "
    "attributes string, unit string"
)


class FragmentSource(DataSource):
    """Rows of a stream: its fragments, and what is said between them.

    path: a file, a folder or a pattern. stream: its name. structure: a tag structure as XML.
    maxPerBatch: at most so many fragments. splits: tasks of a batch. validTime: for documents.
    over: until there is a file of this name, more may come, so fragments wait for their structure.
    packed: rows are packed, a few for each task, as operators of a query left running take them.
    since: an offset as JSON, from which it is read.
    follow: the last file of a feed may grow, so a message that is not whole is awaited.
    called: what messages call a file that was written down first.
    unitTags, partitions: fragments of these tags are packed by partition, which their ids decide.
    """

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return PACKED if self.options.get("packed") else ROWS

    def streamReader(self, schema: StructType) -> FragmentStream:
        return FragmentStream(self.options)

    def reader(self, schema: StructType) -> FragmentsThere:
        return FragmentsThere(self.options)


class _Part(InputPartition):
    """What one task reads."""

    def __init__(self, split: Split) -> None:
        self.split = split


class _Reading:
    """The options of a source, understood."""

    def __init__(self, options: Any) -> None:
        path = options["path"]
        self.stream = options.get("stream") or stream_name(path)
        most = options.get("maxPerBatch")
        self.most = None if most is None else int(most)
        self.since = options.get("since")
        self.packed = bool(options.get("packed"))
        self.parting = Parting.of(options, self.stream)
        splits = int(options.get("splits") or os.cpu_count() or 1)
        settings = options.get("structure"), splits, options.get("validTime"), options.get("over")
        follow, called = bool(options.get("follow")), options.get("called")
        self.replay = Replay(path, *settings, follow=follow, called=called)

    def rows(self, partition: Any) -> Iterator[Any]:
        rows = split_rows(self.stream, partition.split)
        return packs(self.stream, rows, self.parting) if self.packed else rows

    def parts(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        return [_Part(split) for split in self.replay.plan(start, end)]


class FragmentStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """What is there and what comes; the place reached is the offset."""

    def __init__(self, options: Any) -> None:
        self._reading = _Reading(options)

    def initialOffset(self) -> dict[str, Any]:
        since = self._reading.since
        return Offset().json() if since is None else dict(json.loads(since))

    def getDefaultReadLimit(self) -> ReadLimit:
        most = self._reading.most
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        return self._reading.replay.advance(Offset.of(start), most).json()

    def prepareForTriggerAvailableNow(self) -> None:
        """What is added to the files meanwhile is read too."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return self._reading.parts(Offset.of(start), Offset.of(end))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._reading.rows(partition)


class FragmentsThere(DataSourceReader):
    """What is there now."""

    def __init__(self, options: Any) -> None:
        self._reading = _Reading(options)

    def partitions(self) -> Sequence[InputPartition]:
        replay, start = self._reading.replay, Offset()
        splits: list[Split] = []
        while (end := replay.advance(start)) != start:
            splits += replay.plan(start, end)
            start = end
        numbered = [_renumbered(split, index) for index, split in enumerate(splits)]
        return [_Part(split) for split in numbered]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._reading.rows(partition)


def _renumbered(split: Split, index: int) -> Split:
    from dataclasses import replace

    return replace(split, index=index)


def register(spark: SparkSession) -> SparkSession:
    """Make the source known to a session."""
    spark.dataSource.register(FragmentSource)
    return spark
