"""Answers as topics of Kafka: the answer by key, with tombstones, or each of its changes.

updates.writeStream.foreachBatch(write_upserts("kafka://HOST/TOPIC")).start()
query(…).spark(session).start(write_changes("kafka://HOST/TOPIC"), …)

A batch that is done again after a failure is written again: of an answer by key that changes
nothing, and a change that comes twice has the same key, item and time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.sinks.topic import TopicWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from xstreamcast.spark.watching.sink import Named, Write


def upserts(updates: DataFrame) -> DataFrame:
    """Of the updates of a batch, the last of each key: key, value; none where the key has gone."""
    from pyspark.sql import functions as f

    newest = f.max_by(f.struct("item"), "version").alias("newest")
    return updates.groupBy("key").agg(newest).select("key", f.col("newest.item").alias("value"))


def write_upserts(address: str) -> Callable[[DataFrame, int], None]:
    """For foreachBatch over updates: each task writes its keys."""

    def write(batch: DataFrame, epoch: int) -> None:
        upserts(batch).foreachPartition(_Writing(address))

    return write


def write_changes(address: str) -> Write:
    """For `start`: each change as JSON, in order, under the key of its item."""
    writer = TopicWriter(address)

    def write(epoch: int, changes: list[Named]) -> None:
        writer.write((change.key, change.to_json()) for _, change in changes)

    return write


class _Writing:
    """What a task does with its rows; found by name where it is unpickled."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __call__(self, rows: Iterable[Any]) -> None:
        TopicWriter(self._address).write((row.key, row.value) for row in rows)
