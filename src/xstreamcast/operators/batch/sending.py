"""Values on their way from tasks to the driver, or from task to task: Arrow streams of one row."""

from __future__ import annotations

from typing import Any

from xstreamcast.operators.snapshot.arrow import arrow
from xstreamcast.operators.snapshot.values import ColumnReader, ColumnWriter


def encoded(value: Any) -> bytes:
    """Numbers, texts, bytes, atomic values, and tuples and lists of these."""
    pa = arrow()
    batch = pa.record_batch({"value": ColumnWriter().column([value])})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def decoded(sent: bytes) -> Any:
    """The value; lists have become tuples."""
    batch = arrow().ipc.open_stream(sent).read_next_batch()
    (value,) = ColumnReader().values(batch.column(0))
    return value
