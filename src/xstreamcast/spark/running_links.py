"""Which fragments of a table stand below which of its units: rows for each range of units.

Spark joins holes with fillers level by level. Of a table with few fragments the driver finds it
sooner than Spark plans it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.table.schema import arrow
from xstreamcast.model.column import offsets_of, ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.model.structure import TagStructure
    from xstreamcast.spark.running_units import Roots, Table

DEEPEST: Final = 64  # levels of fragments below each other that are followed
FEW: Final = 200_000  # fragments that the driver looks through by itself
_FIELDS: Final = ("range", "tag", "file", "row", "level", "root")


def levels(structure: TagStructure) -> int:
    """How many fragments may stand below each other under the root; DEEPEST if tags nest."""

    def below(tag: int, seen: frozenset[int]) -> int:
        if tag in seen:
            return DEEPEST
        inner = [below(child, seen | {tag}) for child in structure[tag].children]
        return min(DEEPEST, max(inner, default=0) + structure.travels(tag))

    return max(1, below(structure.root, frozenset()) - 1)


def assigned(
    spark: SparkSession, table: Table, made: Roots, tags: frozenset[int] | None, depth: int
) -> DataFrame:
    """Rows (range, tag, file, row, level), and one row for each range with its root."""
    from pyspark.sql import functions as f

    from xstreamcast.spark.table import FRAGMENTS

    pa = arrow()
    files = table.state.files_of(table.stream, tags)
    base = f"file://{table.path}"
    reader = spark.read.schema(FRAGMENTS).option("basePath", base)
    links = reader.parquet(*[f"{base}/{file.path}" for file in files]).select(
        "id", "holes", "tag",
        f.col("_metadata.file_name").alias("file"), f.col("_metadata.row_index").alias("row"),
    )  # fmt: skip
    units = pa.table({"id": made.ids, "range": pa.array(made.ranges, pa.int32())})
    level = spark.createDataFrame(units).distinct()
    edges = links.select("id", f.explode("holes").alias("hole"))
    edges = edges.select("id", f.col("hole.id").alias("child"))
    found = level.withColumn("level", f.lit(0))
    for number in range(1, depth):
        level = level.join(edges, "id").select(f.col("child").alias("id"), "range").distinct()
        found = found.unionByName(level.withColumn("level", f.lit(number)))
    joined = links.join(found, "id").select(
        "range", "tag", "file", "row", "level", f.lit(None).cast("binary").alias("root")
    )
    lines = pa.table({
        "range": pa.array(range(len(made)), pa.int32()),
        "root": pa.array(made.lines, pa.binary()),
    })  # fmt: skip
    nothing = {"tag": "int", "file": "string", "row": "bigint", "level": "int"}
    heads = spark.createDataFrame(lines)
    for name, kind in nothing.items():
        heads = heads.withColumn(name, f.lit(None).cast(kind))
    both = joined.unionByName(heads)
    return both.repartitionById(len(made), f.col("range"))


def followed(table: Table, made: Roots, tags: frozenset[int] | None) -> list[Any]:
    """The same rows for each range, found here."""
    pa = arrow()
    files = table.state.files_of(table.stream, tags)
    paths = [table.path / file.path for file in files]
    read = [pa.parquet.ParquetFile(path).read(columns=["id", "holes"]) for path in paths]
    holes = [chunk for one in read for chunk in one["holes"].chunks]
    ids = pa.concat_arrays(
        [
            *(chunk for one in read for chunk in one["id"].chunks),
            *(chunk.flatten().field("id") for chunk in holes),
            pa.array(made.ids, pa.string()),
        ]
    ).dictionary_encode()
    codes = ids.indices.to_numpy().astype(np.int64)
    n, m = sum(one.num_rows for one in read), len(made.ids)
    own, children, units = codes[:n], codes[n : len(codes) - m], codes[len(codes) - m :]
    counts = [chunk.value_lengths().fill_null(0).to_numpy() for chunk in holes]
    parents = np.repeat(own, np.concatenate([np.zeros(0, np.int64), *counts]).astype(np.int64))
    order = np.argsort(parents, kind="stable")
    first = offsets_of(np.bincount(parents, minlength=len(ids.dictionary)))
    number = np.repeat(np.arange(len(files)), [one.num_rows for one in read])
    row = np.concatenate([np.zeros(0, np.int64), *(np.arange(one.num_rows) for one in read)])
    names = pa.array([f.path.rpartition("/")[2] for f in files], pa.string())
    tag_of = np.array([f.tag for f in files], np.int32)
    out = []
    for place, line in enumerate(made.lines):
        met = _below(units[made.ranges == place], first, children[order])
        at = np.flatnonzero(met[own])
        out.append(
            _told(line, tag_of[number[at]], names.take(pa.array(number[at])), row[at], place)
        )
    return out


def _below(units: Any, first: Any, children: Any) -> Any:
    """Which ids can be reached from units through holes, themselves included."""
    met = np.zeros(len(first) - 1, np.bool_)
    fresh = np.unique(units)
    while len(fresh):
        met[fresh] = True
        inner = children[ranges(first[fresh], first[fresh + 1] - first[fresh])]
        fresh = np.unique(inner[~met[inner]])
    return met


def _told(line: bytes, tags: Any, files: Any, rows: Any, place: int) -> Any:
    """The rows of a range as Spark would hand them over, its root first."""
    pa, n = arrow(), len(rows)
    head = [[place], [None], [None], [None], [None], [line]]
    kinds = [pa.int32(), pa.int32(), pa.string(), pa.int64(), pa.int32(), pa.binary()]
    root = pa.table([pa.array(*both) for both in zip(head, kinds, strict=True)], list(_FIELDS))
    level = pa.array(np.full(n, -1, np.int32))  # none is the last one
    same = pa.array(np.full(n, place, np.int32))
    rest = [same, pa.array(tags), files, pa.array(rows), level, pa.nulls(n, pa.binary())]
    return pa.concat_tables([root, pa.table(rest, list(_FIELDS))])
