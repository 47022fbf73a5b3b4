"""Which fragments of a large table are below which of its units, by joins of Spark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.table.insides import FOLDER
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.unit_index import ROWS, rows_bytes
from xstreamcast.errors import error
from xstreamcast.spark.running.guides import links_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.edges.batch.units import Table
    from xstreamcast.edges.table.log import File
    from xstreamcast.edges.table.unit_index import Held

DEEPEST: Final = 64  # levels of fragments below each other that are followed
FEW: Final = 8_000_000  # fragments that the driver looks through by itself


def followed(
    spark: SparkSession, table: Table, files: Sequence[File], ids: Any, path: Path
) -> tuple[Held, ...]:
    """The rows below units, found by joins of holes with ids, level by level, and kept there."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    links = _links(spark, table, files)
    latest = f.max("valid").over(Window.partitionBy("id"))
    rows = links.withColumn("last", f.col("valid") == latest)
    found = rows.join(_reached(spark, links, ids), "id").select(*ROWS)
    return _kept(found, table, path)


def _links(spark: SparkSession, table: Table, files: Sequence[File]) -> DataFrame:
    """Ids, holes and where they are; no payload is among the columns."""
    from pyspark.sql import functions as f

    pa = arrow()
    known = pa.table({
        "name": pa.array([Path(file.path).name for file in files]),
        "tag": pa.array([file.tag for file in files], pa.int32()),
        "file": pa.array(range(len(files)), pa.int32()),
    })  # fmt: skip
    rows = links_of(spark, table, files).select(
        "id", "valid", "holes", "tag", f.col("_metadata.file_name").alias("name"),
        f.col("_metadata.row_index").alias("row"),
    )  # fmt: skip
    numbers = f.broadcast(spark.createDataFrame(known))
    return rows.join(numbers, ["name", "tag"]).select("id", "valid", "holes", "file", "row")


def _reached(spark: SparkSession, links: DataFrame, ids: Any) -> DataFrame:
    """Ids with the units that they are below, or are."""
    from pyspark.sql import functions as f

    pa = arrow()
    units = pa.table({"id": ids, "unit": pa.array(range(len(ids)), pa.int32())})
    edges = links.select("id", f.explode("holes.id").alias("child"))
    found = fresh = spark.createDataFrame(units)
    for _ in range(DEEPEST):
        below = fresh.join(edges, "id").select(f.col("child").alias("id"), "unit").distinct()
        fresh = below.join(found, ["id", "unit"], "left_anti").localCheckpoint()
        if fresh.isEmpty():
            return found
        found = found.unionByName(fresh)
    raise error("XSCU0005", f"fragments are nested more than {DEEPEST} deep")


def _kept(found: DataFrame, table: Table, path: Path) -> tuple[Held, ...]:
    """In a folder next to the table; where that cannot be written, every task gets all of it."""
    if not os.access(table.path / FOLDER, os.W_OK):
        made = found.sort("file", "row", "unit").toArrow()
        return (rows_bytes([made[name].to_numpy() for name in ROWS]),)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    ordered = found.repartitionByRange("file", "row").sortWithinPartitions("file", "row", "unit")
    ordered.write.parquet(f"file://{unfinished}")
    try:
        unfinished.rename(path)
    except OSError:
        if not path.is_dir():
            raise
        shutil.rmtree(unfinished)  # another process has kept the same meanwhile
    return tuple(sorted(path.glob("*.parquet")))
