"""Which fragments of a table stand below which of its units: rows for each range of units.

Spark joins holes with fillers level by level, and leaves out by windows over each id what has been
superseded. Of a table with few fragments the driver finds it sooner than Spark plans it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.table.codes import coded
from xstreamcast.edges.table.files import opened
from xstreamcast.edges.table.picking import Picked
from xstreamcast.edges.table.schema import arrow
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.spark.running.guides import links_of
from xstreamcast.spark.running.units import Told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.edges.table.log import File
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.spark.running.roots import Roots
    from xstreamcast.spark.running.units import Table

DEEPEST: Final = 64  # levels of fragments below each other that are followed
FEW: Final = 1_000_000  # fragments that the driver looks through by itself


@dataclass(frozen=True, slots=True)
class Reach:
    """What of a table may be seen: files; up to which instant; tags that show their latest alone.

    Of the latest, all that share its valid time are kept: only payloads tell which is repeated.
    """

    files: Sequence[File]
    until: int | None = None
    latest: frozenset[int] = frozenset()

    @property
    def timed(self) -> bool:
        """Whether valid times have a say."""
        return self.until is not None or any(file.tag in self.latest for file in self.files)


def levels(structure: TagStructure) -> int:
    """How many fragments may stand below each other under the root; DEEPEST if tags nest."""

    def below(tag: int, seen: frozenset[int]) -> int:
        if tag in seen:
            return DEEPEST
        inner = [below(child, seen | {tag}) for child in structure[tag].children]
        return min(DEEPEST, max(inner, default=0) + structure.travels(tag))

    return max(1, below(structure.root, frozenset()) - 1)


# -- by Spark --------------------------------------------------------------------------------------


def assigned(spark: SparkSession, table: Table, made: Roots, reach: Reach, depth: int) -> DataFrame:
    """Rows (range, tag, file, row, level, holes), and one row for each range with its root."""
    from pyspark.sql import functions as f

    pa = arrow()
    links = _links(spark, table, reach)
    units = pa.table({"id": made.ids, "range": pa.array(made.ranges, pa.int32())})
    level = spark.createDataFrame(units).distinct()
    edges = links.select("id", f.explode("holes.id").alias("child"))
    found = level.withColumn("level", f.lit(0))
    for number in range(1, depth):
        level = level.join(edges, "id").select(f.col("child").alias("id"), "range").distinct()
        found = found.unionByName(level.withColumn("level", f.lit(number)))
    joined = links.join(found, "id").select(
        "range", "tag", "file", "row", "level", f.size("holes").alias("holes"),
        f.lit(None).cast("binary").alias("root"),
    )  # fmt: skip
    both = joined.unionByName(_heads(spark, made))
    return both.repartitionById(len(made), f.col("range"))


def _links(spark: SparkSession, table: Table, reach: Reach) -> DataFrame:
    """Ids, holes and where they stand; no payload is among the columns."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    rows = links_of(spark, table, reach.files).select(
        "id", "valid", "holes", "tag",
        f.col("_metadata.file_name").alias("file"), f.col("_metadata.row_index").alias("row"),
    )  # fmt: skip
    if reach.until is not None:
        rows = rows.where(f.col("valid") <= reach.until)
    if reach.timed and reach.latest:
        by_id = Window.partitionBy("id").orderBy(f.col("valid").desc())
        rows = rows.withColumn("rank", f.rank().over(by_id))
        rows = rows.where(~f.col("tag").isin(*reach.latest) | (f.col("rank") == 1))
    return rows.select("id", "holes", "tag", "file", "row")


def _heads(spark: SparkSession, made: Roots) -> DataFrame:
    from pyspark.sql import functions as f

    pa = arrow()
    lines = pa.table({
        "range": pa.array(range(len(made)), pa.int32()),
        "root": pa.array(made.lines, pa.binary()),
    })  # fmt: skip
    nothing = {"tag": "int", "file": "string", "row": "bigint", "level": "int", "holes": "int"}
    heads: DataFrame = spark.createDataFrame(lines)
    for name, kind in nothing.items():
        heads = heads.withColumn(name, f.lit(None).cast(kind))
    return heads


# -- by the driver ---------------------------------------------------------------------------------


def followed(table: Table, made: Roots, reach: Reach) -> list[Told]:
    """What each task reads, found here."""
    links = _Links(table, made.ids, reach)
    return [
        Told(line, tuple(links.below(made.ranges == place)))
        for place, line in enumerate(made.lines)
    ]


class _Links:
    """Ids and holes of some files, by codes."""

    def __init__(self, table: Table, units: Any, reach: Reach) -> None:
        pa = arrow()
        columns = ["id", "holes", "valid"] if reach.timed else ["id", "holes"]
        self._files = reach.files
        read = [opened(table.path, file).read(columns=columns) for file in reach.files]
        self._ends = offsets_of(np.array([one.num_rows for one in read], np.int64))
        holes = [chunk for one in read for chunk in one["holes"].chunks]
        ids = Ids(1 << 14)
        self._own = coded(ids, (chunk for one in read for chunk in one["id"].chunks))
        children = coded(ids, (chunk.flatten().field("id") for chunk in holes))
        self._units = coded(ids, [units.cast(pa.string())])
        n = len(self._own)
        counts = [chunk.value_lengths().fill_null(0).to_numpy() for chunk in holes]
        lengths = np.concatenate([np.zeros(0, np.int64), *counts]).astype(np.int64)
        self._seen = np.ones(n, np.bool_)
        if reach.timed:
            valid = np.concatenate([np.zeros(0, np.int64), *(r["valid"].to_numpy() for r in read)])
            self._seen = _visible(self._own, self._tags(), valid, reach, len(ids))
        there = np.repeat(self._seen, lengths)
        parents, children = np.repeat(self._own, lengths)[there], children[there]
        order = np.argsort(parents, kind="stable")
        self._first = offsets_of(np.bincount(parents, minlength=len(ids)))
        self._children = children[order]

    def _tags(self) -> Any:
        return np.repeat([file.tag for file in self._files], np.diff(self._ends))

    def below(self, units: Any) -> Iterator[Picked]:
        """Rows that can be reached from units through holes, their own included."""
        met = np.zeros(len(self._first) - 1, np.bool_)
        fresh = _distinct(self._units[units], len(met))
        while len(fresh):
            met[fresh] = True
            first = self._first[fresh]
            inner = self._children[ranges(first, self._first[fresh + 1] - first)]
            fresh = _distinct(inner[~met[inner]], len(met))
        at = np.flatnonzero(met[self._own] & self._seen)
        cuts = np.searchsorted(at, self._ends)
        for number, file in enumerate(self._files):
            mine = at[cuts[number] : cuts[number + 1]]
            if len(mine):
                yield Picked.of(file, mine - self._ends[number])


def _distinct(codes: Any, count: int) -> Any:
    """Each code once, in order."""
    there = np.zeros(count, np.bool_)
    there[codes] = True
    return np.flatnonzero(there)


def _visible(own: Any, tags: Any, valid: Any, reach: Reach, codes: int) -> Any:
    """Which rows may be seen."""
    seen = np.ones(len(own), np.bool_) if reach.until is None else valid <= reach.until
    if reach.latest:
        top = np.full(codes, np.iinfo(np.int64).min, np.int64)
        np.maximum.at(top, own[seen], valid[seen])
        seen &= ~np.isin(tags, list(reach.latest)) | (valid == top[own])
    return seen
