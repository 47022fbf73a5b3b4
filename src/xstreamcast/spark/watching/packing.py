"""Many rows as one: Spark hands rows to stateful Python one by one, which costs more than ours do.

A source packs what a task reads; what comes as a DataFrame is packed by a step of its own.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.table.schema import WORDS, arrow, row_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PACKED: Final = "stream string, count bigint, rows binary"  # count: fragments among the rows
READ: Final = (
    "stream", "tag", "id", "operation", "valid", "zoned", "payload", "ordinal", "position", "code",
    "reason", "timeless", "attributes",
)  # fmt: skip
_INSIDE: Final = READ[1:]  # the stream stands outside: each query has its own name for it
_MOST: Final = 32 << 20  # bytes in one, about


@cache
def read_schema() -> Any:
    """The columns that operators read."""
    known = row_schema()
    return arrow().schema([known.field(name) for name in READ])


def packs(stream: str, batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches of a stream's rows → a few of one row each."""
    held: list[Any] = []
    for batch in batches:
        held.append(batch.select(list(_INSIDE)))
        if sum(one.nbytes for one in held) > _MOST:
            yield _pack({"stream": stream}, held)
            held = []
    if any(one.num_rows for one in held):
        yield _pack({"stream": stream}, held)


def _pack(known: Mapping[str, str], batches: list[Any]) -> Any:
    pa = arrow()
    table = pa.Table.from_batches(batches)
    columns = {name: pa.array([value], pa.string()) for name, value in known.items()}
    fragments = pa.compute.is_in(table["operation"], pa.array(WORDS))
    columns["count"] = pa.array([pa.compute.sum(fragments).as_py() or 0], pa.int64())
    columns["rows"] = pa.array([_written(table)], pa.binary())
    return pa.record_batch(columns)


def _written(table: Any) -> bytes:
    pa = arrow()
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def rows_in(stream: str, rows: bytes) -> Any:
    """The rows in one, under the name that the query has for their stream."""
    pa = arrow()
    table = pa.ipc.open_stream(rows).read_all()
    name = pa.repeat(pa.scalar(stream, pa.string()), table.num_rows)
    return table.add_column(0, "stream", name).cast(read_schema())


def packed(rows: DataFrame) -> DataFrame:
    """Rows with the columns of READ, and perhaps the query that they are for, packed."""
    outside = ["query"] if "query" in rows.columns else []
    schema = ", ".join([*(f"{name} string" for name in outside), PACKED])
    return rows.select(*outside, *READ).mapInArrow(Packing(), schema)


class Packing:
    """What a task does with its rows; found by name where it is unpickled."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow()
        held = list(batches)
        if not held:
            return
        table = pa.Table.from_batches(held).combine_chunks()
        outside = [name for name in ("query", "stream") if name in table.column_names]
        grouped = table.select(outside).group_by(outside, use_threads=False).aggregate([])
        for group in grouped.to_pylist():
            mine = table
            for name, value in group.items():
                mine = mine.filter(pa.compute.equal(mine[name], value))
            yield _pack(group, mine.select(list(_INSIDE)).to_batches())


def said(stream: str, operation: str, ordinal: int) -> dict[str, Any]:
    """One row that says something of a stream, packed, for a file of JSON."""
    pa = arrow()
    told = {"operation": operation, "ordinal": ordinal}
    fields = [read_schema().field(name) for name in _INSIDE]
    arrays = [pa.array([told.get(field.name)], field.type) for field in fields]
    batch = pa.record_batch(arrays, schema=pa.schema(fields))
    rows = base64.b64encode(_written(pa.Table.from_batches([batch]))).decode()
    return {"stream": stream, "count": 0, "rows": rows}
