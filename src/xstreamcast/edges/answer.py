"""The answer of a query, as Python values, tables and text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from xstreamcast.model.counted import counted

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]
    import pyarrow

    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.loading import Loaded
    from xstreamcast.model.items import Items
    from xstreamcast.tape.store import Store


Frame = TypeVar("Frame", covariant=True)


class MakesFrames(Protocol[Frame]):
    """A session of Spark, as far as an answer needs it: pyspark is not imported for it."""

    def createDataFrame(self, data: Any, /) -> Frame:
        """A DataFrame with the rows of a table of Arrow."""


class Answer:
    """The items of an answer, as Python values and nodes."""

    def __init__(
        self,
        store: Store,
        items: Items,
        loaded: Sequence[Loaded] = (),
        program: Program | None = None,
    ) -> None:
        self.store = store
        self.items = items
        self.loaded = loaded  # the streams it was evaluated over, with their counts
        self.program = program

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        """Items as plain Python values.

        Numbers are numbers, maps dicts, arrays lists, times those of `datetime`, and nodes have
        `xml`, `name`, `string` and `["child"]`.
        """
        from xstreamcast.evaluate.results.plain import plain

        for tag, value in self.items.pairs():
            yield plain(self.store, tag, value)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each item: its attributes and children, or the entries of a map, by name."""
        from xstreamcast.edges.columns import rows
        from xstreamcast.evaluate.results.results import records

        return rows(records(self.store, self.items))

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame of pandas."""
        from xstreamcast.edges.columns import columns
        from xstreamcast.edges.sources.extras import needed

        return needed("pandas").DataFrame(columns(self.rows()))

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a table of Arrow."""
        from xstreamcast.edges.columns import columns
        from xstreamcast.edges.sources.extras import needed

        return needed("pyarrow").table(columns(self.rows()))

    def to_spark(self, spark: MakesFrames[Frame]) -> Frame:
        """The rows as a DataFrame of this session of Spark.

        To evaluate the query itself on Spark: `query.spark(spark).run(…)`.
        """
        return spark.createDataFrame(self.to_arrow())

    def lines(self) -> Iterator[str]:
        """One line per item: nodes as XML, maps and arrays as JSON, atomic values as strings."""
        from xstreamcast.evaluate.results.results import lines

        return lines(self.store, self.items)

    def serialize(self, **parameters: str) -> str:
        """The whole answer as one text, by the query's output declarations and these parameters.

        answer.serialize(method="json", indent="yes")
        """
        from xstreamcast.evaluate.results.serializing import answer_text

        return answer_text(self.store, self.items, self.program, parameters)

    def __repr__(self) -> str:
        return f"<Answer: {counted(len(self), 'item')}>"

    def _repr_html_(self) -> str:
        """A table, in a notebook."""
        from xstreamcast.edges.html_table import SHOWN, html_table

        first = Answer(self.store, self.items.slice(0, min(SHOWN, len(self))))
        return html_table(first.rows(), len(self))
