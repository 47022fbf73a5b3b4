"""Streams that come as a DataFrame with a column of text or bytes: Kafka, sockets, tables, …"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.table.schema import SPLIT
from xstreamcast.spark.source import ROWS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def fragments_in(
    messages: DataFrame, column: str = "value", *, stream: str, structure: str | None = None
) -> DataFrame:
    """The rows of FragmentSource from messages that hold one or more whole fragments each.

    `structure` is the tag structure as XML. Without it a task knows only what its own messages say,
    and refuses fragments that come without. Order of arrival is the order within a partition.
    """
    if structure is not None:
        from xstreamcast.edges.structures import read_structure

        read_structure(structure.encode())  # a mistake is reported here, not by a task
    chosen = messages.selectExpr(f"cast(`{column}` as binary) as message")
    return chosen.mapInArrow(_Decoding(stream, structure), ROWS)


class _Decoding:
    """What a task does with its messages; it must be found by name where it is unpickled."""

    def __init__(self, stream: str, structure: str | None) -> None:
        self.stream, self.structure = stream, structure

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        from xstreamcast.edges.structures import read_structure
        from xstreamcast.edges.table.rows import RowEncoder
        from xstreamcast.edges.wire.decoder import Decoder
        from xstreamcast.model.fragment import NewStructure

        known = None if self.structure is None else read_structure(self.structure.encode())
        decoder = Decoder(self.stream, known)
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        rows = RowEncoder(self.stream, decoder.ids, task << SPLIT)
        if known is not None:
            yield rows.rows(NewStructure(known))
        for batch in batches:
            for message in batch.column(0).to_pylist():
                if message is not None:
                    # each message is an input of its own: a broken one ends with itself
                    yield from map(rows.rows, decoder.feed(message))
                    yield from map(rows.rows, decoder.end_input())
        yield from map(rows.rows, decoder.close())
