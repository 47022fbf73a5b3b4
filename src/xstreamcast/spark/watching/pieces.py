"""Documents as a Spark source: pieces of their bytes as they come, for operators that cut them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    SupportsTriggerAvailableNow,
)

from xstreamcast.edges.inputs import opened, paths
from xstreamcast.edges.partitions.host import BYTES
from xstreamcast.edges.partitions.packing import PACKED, packs
from xstreamcast.errors import error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

PIECES: Final = "xstreamcast-pieces"
_BATCH: Final = 16 << 20
_PIECE: Final = 1 << 20


class DocumentPieces(DataSource):
    """A document that may grow. path: its file; stream: its name."""

    @classmethod
    def name(cls) -> str:
        return PIECES

    def schema(self) -> str:
        return PACKED

    def streamReader(self, schema: StructType) -> PieceStream:
        return PieceStream(self.options)


class _Bytes(InputPartition):
    """What one task reads."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin, self.end = begin, end


class PieceStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The offset is how many bytes were read."""

    def __init__(self, options: Any) -> None:
        found = paths(options["path"])
        if len(found) != 1:
            raise error("XSCU0003", f"a document must be one file; got {len(found)}")
        self._path, self._stream = str(found[0]), options.get("stream") or ""

    def initialOffset(self) -> dict[str, Any]:
        return {"at": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        return {"at": min(self._size(start["at"]), start["at"] + _BATCH)}

    def _size(self, least: int) -> int:
        if self._path.endswith(".gz"):
            with opened(self._path) as file:
                return file.seek(0, os.SEEK_END)
        size = os.path.getsize(self._path)
        if size < least:
            raise error("XSCU0003", f"{self._path} is shorter than the part that was already read")
        return size

    def prepareForTriggerAvailableNow(self) -> None:
        """What is added meanwhile is read too."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [_Bytes(start["at"], end["at"])]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return packs(self._stream, self._pieces(partition))

    def _pieces(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, _Bytes)
        with opened(self._path) as file:
            file.seek(partition.begin)
            for at in range(partition.begin, partition.end, _PIECE):
                piece = file.read(min(_PIECE, partition.end - at))
                row = {"stream": self._stream, "operation": BYTES, "payload": piece, "ordinal": at}
                yield _row(row)


def _row(values: dict[str, Any]) -> Any:
    from xstreamcast.edges.table.schema import arrow, row_schema

    pa, schema = arrow(), row_schema()
    arrays = [pa.array([values.get(field.name)], field.type) for field in schema]
    return pa.record_batch(arrays, schema=schema)


def register_pieces(spark: SparkSession) -> SparkSession:
    """Make the source known to a session."""
    spark.dataSource.register(DocumentPieces)
    return spark
