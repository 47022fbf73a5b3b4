"""The tasks of a run as Spark sees them, and how Spark combines their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Task = Callable[[Iterable[Any]], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class RunTasks:
    """Tasks of a run: what each does with numbers up to `count`, and in words.

    `then`: what is done with what they find, brought together by the bucket in `ordinal`.
    """

    task: Task
    tasks: int
    words: tuple[str, ...]
    count: int | None = None
    then: Task | None = None
    buckets: int = 1
    is_sorted: bool = False  # by Spark

    def found(self, spark: SparkSession) -> DataFrame:
        """What the tasks find, evaluated on demand: rows of FOUND."""
        from pyspark.sql import functions as f

        numbers = spark.range(0, self.count or self.tasks, 1, self.tasks)
        found = numbers.mapInArrow(self.task, found_type())
        if self.then is not None:
            found = found.repartitionById(self.buckets, f.col("ordinal").cast("int"))
            found = found.mapInArrow(self.then, found_type())
        return found

    def whole(self, spark: SparkSession) -> DataFrame:
        """All of it: what they find, in order if that is for Spark to bring it in."""
        return in_order(self.found(spark)) if self.is_sorted else self.found(spark)


def in_order(found: DataFrame) -> DataFrame:
    """What tasks found, by the bytes that encode its place."""
    return found.filter("part >= 0").sort("value", "place", "ordinal")


@cache
def found_type() -> Any:
    """FOUND as Spark has it: it takes longer to read that than to say it."""
    from pyspark.sql import types as t

    kinds = (
        ("part", t.IntegerType()), ("place", t.LongType()), ("ordinal", t.LongType()),
        ("kind", t.StringType()), ("item", t.StringType()), ("value", t.BinaryType()),
    )  # fmt: skip
    return t.StructType([t.StructField(name, kind) for name, kind in kinds])


def parallelism(spark: Any) -> int:
    """How many tasks may run at the same time."""
    context = getattr(spark, "sparkContext", None)  # a client of a server has none
    return 2 if context is None else int(context.defaultParallelism)
