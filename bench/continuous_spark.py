"""Followers of a feed on Spark: our queries, and the floor below them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from bench.continuous_session import Case, Reached
from bench.credit import QUERIES, STREAM
from xstreamcast.api import query
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.model.change import Accumulated
from xstreamcast.spark.query import bound_programs
from xstreamcast.spark.quiet import quieten
from xstreamcast.spark.session import session
from xstreamcast.spark.watching.changes import rows_of
from xstreamcast.spark.watching.run import SparkWatching, watchings
from xstreamcast.spark.watching.sink import Named

INTERVAL: Final = "100 milliseconds"  # as `watch --runner spark` has it
_SETTINGS: Final = {"spark.sql.streaming.numRecentProgressUpdates": "100000"}
_PATIENCE: Final = 1.0  # seconds between two looks whether the query still runs


class _OnSpark:
    """A streaming query; what its sink is handed says how far it has come."""

    def __init__(self, case: Case, feed: Path, checkpoint: Path) -> None:
        self.reached: Reached = []
        self.changes = 0
        self._accumulated: dict[str, Accumulated] = {}
        self._came = threading.Condition()
        self._offsets, self._feed = checkpoint / "spark" / "offsets", str(feed)
        cores = case.partitions if case.bound else 2
        self.spark = session(cores=cores, memory="4g", quick=True, settings=_SETTINGS)
        self.query = self._started(case, checkpoint)

    def _started(self, case: Case, checkpoint: Path) -> Any:
        raise AssertionError("said by those below")

    def _told(self, epoch: int, changes: list[Named]) -> None:
        """A batch is in the sink; how far it reaches was written down before it began."""
        for name, change in changes:
            self._accumulated[name].apply(change)
        at = time.monotonic_ns()
        size = _position((self._offsets / str(epoch)).read_text(), self._feed)
        with self._came:
            self.reached.append((at, size))
            self.changes += len(changes)
            self._came.notify_all()

    def follow(self, done: Callable[[Reached], bool]) -> None:
        with self._came:
            while not done(self.reached):
                if not self._came.wait(_PATIENCE) and not self.query.isActive:
                    raise RuntimeError(f"the query ended: {self.query.exception()}")

    def answers(self) -> dict[str, list[str]]:
        return {name: one.items() for name, one in self._accumulated.items()}

    def phases(self, since: int) -> dict[str, float]:
        batches = [one for one in self.query.recentProgress if one["numInputRows"]][since:]
        names = {name for one in batches for name in one["durationMs"]}
        return {
            name: sum(one["durationMs"].get(name, 0) for one in batches) / len(batches)
            for name in sorted(names)
        }

    def close(self) -> None:
        self.query.stop()
        self.spark.stop()


def _position(offsets: str, feed: str) -> int:
    """The bytes of the feed that a batch reaches, from what Spark wrote down of it."""
    for line in offsets.splitlines()[2:]:
        if line.startswith("{") and feed in (files := json.loads(line).get("files", {})):
            return _line_end(feed, int(files[feed][0]))
    return 0


def _line_end(feed: str, position: int) -> int:
    """A fragment is whole before the end of its line has been read; its append has both."""
    with open(feed, "rb") as file:
        file.seek(position)
        return position + (file.read(1) == b"\n")


class Ours(_OnSpark):
    """Both queries, as `watch --runner spark` leaves them running."""

    def _started(self, case: Case, checkpoint: Path) -> Any:
        options = WatchOptions(follow=True, checkpoint=str(checkpoint))
        asked = {
            name: bound_programs(query(text).telling(""), None, {STREAM: self._feed})
            for name, text in QUERIES.items()
        }
        self._accumulated = {name: Accumulated() for name in QUERIES}
        more: dict[str, Any] = {"partitions": case.partitions} if can_partition() else {}
        watching = SparkWatching(
            self.spark, watchings(asked, options), options, case.most, INTERVAL, **more
        )
        return watching.start(self._told).query


def can_partition() -> bool:
    """Whether a query's units can be spread over several places."""
    return "partitions" in SparkWatching.__dataclass_fields__


class _Floor(_OnSpark):
    """What Spark does for any query: the same source, the same kind of sink."""

    def _started(self, case: Case, checkpoint: Path) -> Any:
        quieten(self.spark)
        rows = rows_of(self.spark, {STREAM: self._feed}, most=case.most)
        self.spark.conf.set("spark.sql.shuffle.partitions", str(case.partitions))
        told = self._said(rows.drop("holes", "source"), case.partitions).writeStream.foreachBatch(
            self._take
        )
        told = told.option("checkpointLocation", f"file://{checkpoint / 'spark'}")
        return told.trigger(processingTime=INTERVAL).start()

    def _said(self, rows: Any, partitions: int) -> Any:
        raise AssertionError("said by those below")

    def _take(self, batch: Any, epoch: int) -> None:
        if batch.toArrow().num_rows:
            raise RuntimeError("the floor tells nothing")
        self._told(epoch, [])


class Passing(_Floor):
    """Rows go by; none is told."""

    def _said(self, rows: Any, partitions: int) -> Any:
        return rows.where(f.length(_bytes(rows)) < 0).select("stream")


class Empty(_Floor):
    """Rows go by the Python of stateful processing, which keeps nothing and tells nothing."""

    def _said(self, rows: Any, partitions: int) -> Any:
        keyed = rows.withColumn("partition", f.pmod(f.hash(_bytes(rows)), f.lit(partitions)))
        grouped = keyed.groupBy("partition")
        return grouped.transformWithStateInPandas(_Nothing(), "id string", "append", "none")


def _bytes(rows: Any) -> str:
    """The column that holds what arrived, packed or fragment by fragment."""
    return "rows" if "rows" in rows.columns else "payload"


class _Nothing(StatefulProcessor):
    """Reads what it is given."""

    def init(self, handle: Any) -> None:
        """It keeps nothing."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        import pandas  # type: ignore[import-untyped]

        read = sum(len(part) for part in rows)
        yield pandas.DataFrame({"id": [] if read else [str(key)]}, dtype=object)

    def close(self) -> None:
        """Nothing is open."""
