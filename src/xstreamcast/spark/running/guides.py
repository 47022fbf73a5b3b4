"""The content of files of a table where it is not known yet: each task reads some of them.

Files that a streaming query of Spark wrote say nothing of it; who first asks for it finds it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.table.files import filled, opened
from xstreamcast.edges.table.fillers import Fillers, fillers
from xstreamcast.edges.table.insides import PayloadNames, inside_of, keep_inside
from xstreamcast.edges.table.pruning import TagPruning, guide_of
from xstreamcast.edges.table.schema import FRAGMENT, arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.edges.batch.units import Table
    from xstreamcast.edges.table.log import File

_SMALL: Final = 16 << 20  # bytes that the driver looks through sooner than Spark starts tasks
_LOOKED: Final = "path string, inside string"


def table_guide(spark: SparkSession, table: Table, few: int) -> TagPruning | None:
    """The guide of a table; what is not yet known of it is found out, and kept."""

    def look(files: Sequence[File]) -> Mapping[str, str]:
        return _looked(spark, table, files)

    def fill(files: Sequence[File]) -> Fillers:
        if sum(file.rows for file in files) <= few:
            return fillers(table.path, files)
        return _joined(spark, table, files)

    return guide_of(table.path, table.state, table.stream, table.structure, look, fill)


class _Looking:
    """Looks into files by their number."""

    def __init__(self, table: Table, files: Sequence[File]) -> None:
        self._path, self._structure, self._files = table.path, table.structure, files

    def inside(self, file: File) -> PayloadNames:
        found = PayloadNames()
        source = opened(self._path, file)
        for group in range(source.num_row_groups):
            rows = source.read_row_groups([group], FRAGMENT)
            rows = filled(rows, FRAGMENT)
            found |= inside_of(rows, file.tag, self._structure)
        return found

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow()
        for number in (one for batch in batches for one in batch.column(0).to_pylist()):
            file = self._files[number]
            arrays = [pa.array([file.path]), pa.array([self.inside(file).json()])]
            yield pa.record_batch(arrays, ["path", "inside"])


def _looked(spark: SparkSession, table: Table, files: Sequence[File]) -> dict[str, str]:
    """By the path of a file: the name under which is kept what is in it."""
    looking = _Looking(table, files)
    if sum(file.nbytes for file in files) <= _SMALL:
        insides = {file.path: looking.inside(file) for file in files}
    else:
        _check(table, files)
        tasks = spark.range(0, len(files), 1, len(files)).mapInArrow(looking, _LOOKED)
        insides = {row.path: PayloadNames.of(row.inside) for row in tasks.collect()}
    names = {path: keep_inside(table.path, inside) for path, inside in insides.items()}
    return {path: name for path, name in names.items() if name is not None}


def _joined(spark: SparkSession, table: Table, files: Sequence[File]) -> Fillers:
    """Which tags fill which holes, by a join of holes with ids."""
    from pyspark.sql import functions as f

    rows = links_of(spark, table, files).select("id", "operation", "holes", "tag")
    named = rows.where("tag >= 0").select("id", "tag").distinct()
    if named.groupBy("id").count().where("count > 1").limit(1).count():
        return Fillers(None)
    filling = rows.where("operation != 'remove' and tag >= 0")
    filling = filling.select("id", f.col("tag").alias("child")).distinct()
    holes = rows.select(f.col("tag").alias("parent"), f.explode("holes").alias("hole"))
    holes = holes.select("parent", f.col("hole.id").alias("id"), f.col("hole.tag").alias("label"))
    found = holes.join(filling, "id").select("parent", "label", "child").distinct().collect()
    return Fillers(
        frozenset((r.parent, -1 if r.label is None else r.label, r.child) for r in found)
    )


def links_of(spark: SparkSession, table: Table, files: Sequence[File]) -> DataFrame:
    """Some files of a table; of their columns only those are read that are selected."""
    from xstreamcast.spark.table import FRAGMENTS

    _check(table, files)
    base = f"file://{table.path}"
    reader = spark.read.schema(FRAGMENTS).option("basePath", base)
    return reader.parquet(*[f"{base}/{file.path}" for file in files])


def _check(table: Table, files: Sequence[File]) -> None:
    """A mismatch with the log is reported here, not by a task."""
    for file in files:
        opened(table.path, file)
