"""A fragment table as a Spark source: what it holds, then what is appended to it.

The offset is how many commits were read, and how many rows of the next one. A commit is what it was
after compacting too: each row carries the number of the commit that brought it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from xstreamcast.edges.partitions.packing import PACKED, Parting, packs
from xstreamcast.edges.table.files import read_files
from xstreamcast.edges.table.log import File, Log
from xstreamcast.edges.table.reading import stream_of
from xstreamcast.edges.table.schema import SPLIT, STRUCTURE, arrow, row_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

TABLE: Final = "xstreamcast-table"
_ROWS: Final = 10_000  # of a record batch


class Reach(NamedTuple):
    """A place in a table: all of the commits before `log`, and so many rows of it."""

    log: int = 0
    row: int = 0


class TableSource(DataSource):
    """path: the table. stream: the name. maxPerBatch: at most so many fragments. splits: tasks.
    since: an offset as JSON, from which it is read.
    """

    @classmethod
    def name(cls) -> str:
        return TABLE

    def schema(self) -> str:
        return PACKED

    def streamReader(self, schema: StructType) -> TableStream:
        return TableStream(self.options)


class _Commits(InputPartition):
    """What one task reads, and as which part of the batch."""

    def __init__(self, index: int, begin: Reach, end: Reach) -> None:
        self.index, self.begin, self.end = index, begin, end


class TableStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """What is there and what is appended, commit by commit."""

    def __init__(self, options: Any) -> None:
        self._log = Log(options["path"])
        self._stream = stream_of(self._log.needed(), options.get("stream"), options["path"])
        self._parting = Parting.of(options, self._stream)
        most = options.get("maxPerBatch")
        self._most = None if most is None else int(most)
        self._since = options.get("since")
        self._splits = int(options.get("splits") or os.cpu_count() or 1)

    def initialOffset(self) -> dict[str, Any]:
        return Reach()._asdict() if self._since is None else dict(json.loads(self._since))

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable() if self._most is None else ReadMaxRows(self._most)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        begin, now = Reach(**start), self._log.state().number
        left = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        if left is None:
            return Reach(max(now, begin.log))._asdict()
        while begin.log < now:
            there = self._count(begin.log) - begin.row
            if there > left:
                return Reach(begin.log, begin.row + left)._asdict()
            begin, left = Reach(begin.log + 1), left - there
        return begin._asdict()

    def _count(self, number: int) -> int:
        """Fragments of the stream that a commit brought."""
        return sum(file.rows for file in self._files(number))

    def _files(self, number: int) -> list[File]:
        entry = self._log.entry(number)
        mine = () if entry.whole else entry.files
        return [file for file in mine if file.stream == self._stream]

    def prepareForTriggerAvailableNow(self) -> None:
        """What is appended meanwhile is read too."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        begin, until = Reach(**start), Reach(**end)
        last = until.log + (until.row > 0)
        step = max(-(-(last - begin.log) // self._splits), 1)
        inner = (Reach(number) for number in range(begin.log + step, last, step))
        parts = pairwise([begin, *inner, until])
        return [_Commits(index, *part) for index, part in enumerate(parts)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return packs(self._stream, self._batches(partition), self._parting)

    def _batches(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, _Commits)
        first = partition.index << SPLIT
        if partition.index == 0:
            yield from self._described(first)
        rows = self._rows(partition.begin, partition.end)
        yield from _arrived(rows, self._stream, first + 1).to_batches(max_chunksize=_ROWS)

    def _rows(self, begin: Reach, end: Reach) -> Any:
        """The fragments between two places, in order of arrival."""
        pc = arrow().compute
        last = end.log + (end.row > 0)
        files = [file for number in range(begin.log, last) for file in self._files(number)]
        if not all((self._log.path / file.path).exists() for file in files):
            files = self._log.state().files_of(self._stream)  # compacted since
        rows = read_files(self._log.path, files)
        batch = rows["batch"]
        rows = rows.filter(pc.and_(pc.greater_equal(batch, begin.log), pc.less(batch, last)))
        beyond = pc.sum(pc.equal(rows["batch"], end.log)).as_py() or 0
        count = rows.num_rows - begin.row - (beyond - end.row if end.row else 0)
        return rows.slice(begin.row, count)

    def _described(self, ordinal: int) -> Iterator[Any]:
        known = self._log.state().streams[self._stream].structure
        if known is not None:
            values: dict[str, Any] = {"stream": self._stream, "operation": STRUCTURE}
            values |= {"payload": known.encode(), "ordinal": ordinal}
            pa, schema = arrow(), row_schema()
            arrays = [pa.array([values.get(field.name)], field.type) for field in schema]
            yield pa.record_batch(arrays, schema=schema)


def _arrived(rows: Any, stream: str, first: int) -> Any:
    """Rows of a table as they once arrived, in their order here."""
    pa, schema = arrow(), row_schema()
    count = rows.num_rows
    known = {name: rows[name] for name in rows.column_names if name != "ordinal"}
    known["stream"] = pa.repeat(pa.scalar(stream, pa.string()), count)
    known["ordinal"] = pa.array(range(first, first + count), pa.int64())
    columns = [known.get(field.name, pa.nulls(count, field.type)) for field in schema]
    return pa.table(columns, schema=schema)


def fragments_of(
    spark: SparkSession, table: str | os.PathLike[str], stream: str | None,
    most: int | None, parting: Parting, since: str | None = None,
) -> DataFrame:  # fmt: skip
    """A streaming DataFrame of a table's fragments, packed; `since` an offset."""
    spark.dataSource.register(TableSource)
    path = str(Log(table).path.absolute())
    name = stream_of(Log(path).needed(), stream, os.fspath(table))
    reader = spark.readStream.format(TABLE).option("path", path).option("stream", name)
    reader = reader.options(**parting.options(name))
    reader = reader if since is None else reader.option("since", since)
    return (reader if most is None else reader.option("maxPerBatch", most)).load()
