"""A query left running on Spark: rows of its streams in, a streaming DataFrame of changes out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.inputs import kind_of, opened, paths
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.partitions.packing import (
    KEYED,
    PACKED,
    READ,
    Packing,
    Parting,
    said,
)
from xstreamcast.edges.partitions.route import why_at_all
from xstreamcast.edges.table.schema import EOS, HEARTBEAT
from xstreamcast.errors import error
from xstreamcast.model.instant import START
from xstreamcast.spark.source import NAME, register
from xstreamcast.spark.watching.emitted import CHANGES, UPDATES
from xstreamcast.spark.watching.pieces import PIECES, register_pieces
from xstreamcast.spark.watching.progress import ONE_PLACE, observed
from xstreamcast.spark.watching.spread import spread_changes
from xstreamcast.spark.watching.state import Hosting, Keeping, pickled
from xstreamcast.spark.watching.steps import StepPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.operators.watching.inputs import Kind

_HEAD: Final = 1 << 16
_LATER: Final = (("timeless", "boolean"), ("clock", "bigint"), ("attributes", "string"))
_LAST: Final = 1 << 62  # behind all else that comes in the same batch
ARRIVED: Final = "arrived"  # the name of what is observed, in Spark's progress
ENDS: Final = "ends"  # the folder of a checkpoint that says which streams are over


def changes_of(
    rows: DataFrame,
    requests: Mapping[str, WatchRequest],
    *,
    raises: bool = True,
    everything: bool = False,
    keeping: Keeping | None = None,
    partitions: int = 1,
    plan: StepPlan | None = None,
    updates: bool = False,
) -> DataFrame:
    """The changes of some queries over the rows of their streams (columns of FragmentSource, or
    packed).

    Each query runs in so many `partitions`, if it can, in the steps of a `plan`. Where rows have no
    column `query`, every query that reads a row's stream gets it. `everything`: with
    rows that are no changes. `updates`: of the answers, in place of changes.
    """
    from pyspark.sql import functions as f

    wall = any(one.wall for one in requests.values())
    written = {name: pickled(one) for name, one in requests.items()}
    rows = rows if "rows" in rows.columns else _packed(rows)
    # Spark counts packs as input rows; the number of fragments is next to it
    rows = rows.observe(ARRIVED, f.sum("count").alias("fragments"))
    if "query" not in rows.columns:
        rows = rows.withColumn("query", f.explode(_readers(requests)))
    if partitions > 1 and any(why_at_all(one) is None for one in requests.values()):
        keeping = keeping or Keeping()
        made_rows = spread_changes(
            rows, written, wall, raises, partitions, keeping, plan or StepPlan(), updates
        )
        return made_rows if everything or updates else made_rows.where("diff <> 0")
    hosting = Hosting(written, wall, raises, keeping or Keeping(), updates)
    grouped = rows.groupBy("query")
    mode = "processingTime" if wall else "none"
    form = UPDATES if updates else CHANGES
    made_rows = observed(
        grouped.transformWithStateInPandas(hosting, form, "append", mode), ONE_PLACE
    )
    return made_rows if everything or updates else made_rows.where("diff <> 0")


def _packed(rows: DataFrame, parting: Parting | None = None) -> DataFrame:
    """Rows with the columns of READ, and perhaps the query that they are for, packed."""
    outside = ["query"] if "query" in rows.columns else []
    schema = ", ".join([*(f"{name} string" for name in outside), PACKED])
    read = [*READ, *(name for name in KEYED if name in rows.columns)]
    return rows.select(*outside, *read).mapInArrow(Packing(parting or Parting()), schema)


def _readers(requests: Mapping[str, WatchRequest]) -> Any:
    """The queries that read a row's stream."""
    from pyspark.sql import functions as f

    streams = sorted({name or "" for one in requests.values() for name in one.kinds})
    pairs: list[Any] = []
    for stream in streams:
        mine = [query for query, one in requests.items() if (stream or None) in one.kinds]
        pairs += [f.lit(stream), f.array(*map(f.lit, mine))]
    return f.element_at(f.create_map(*pairs), f.col("stream"))


def kinds_of(inputs: Mapping[str | None, Any]) -> dict[str | None, Kind]:
    """What kind each input is, a path or a streaming DataFrame."""
    kinds: dict[str | None, Kind] = {}
    for name, source in inputs.items():
        is_path = isinstance(source, str | os.PathLike)
        document = is_path and (name is None or _kind(os.path.abspath(source)) == "document")
        kinds[name] = "document" if document else "fragments"
    return kinds


def rows_of(
    spark: SparkSession,
    inputs: Mapping[str | None, Any],
    *,
    most: int | None = None,
    ends: Path | None = None,
    parting: Parting | None = None,
    since: Mapping[str, str] | None = None,
) -> DataFrame:
    """The rows of all inputs, packed, and with `ends` of what is said of them there.

    `since`: offsets from which inputs are read.
    """
    parting, since = parting or Parting(), since or {}
    found: DataFrame | None = None
    kinds = kinds_of(inputs)
    for name, source in sorted(inputs.items(), key=lambda one: one[0] or ""):
        if isinstance(source, str | os.PathLike):
            rows = _read(spark, name, os.path.abspath(source), kinds[name], most, parting)
        elif callable(source):
            rows = _given(name, source(parting, since.get(str(name))), parting)
        else:
            rows = _given(name, source, parting)
        found = rows if found is None else found.unionByName(rows)
    if found is None:
        raise error("XSCU0001", "a continuous query must read an input")
    if ends is not None:
        ends.mkdir(parents=True, exist_ok=True)
        found = found.unionByName(spark.readStream.schema(PACKED).json(f"file://{ends.absolute()}"))
    return found


def _given(name: str | None, frame: DataFrame, parting: Parting) -> DataFrame:
    """The rows of a DataFrame, under the name that the query has for them."""
    from pyspark.sql import functions as f

    called = f.lit(name).alias("stream")
    if "rows" in frame.columns:
        return frame.select(called, "part", "count", "rows", "newest", "zoned", "links")
    for later, kind in _LATER:
        if later not in frame.columns:
            frame = frame.withColumn(later, f.lit(None).cast(kind))
    missing = [one for one in READ if one not in frame.columns]
    if missing:
        raise error(
            "XSCU0005", f"the DataFrame for {name} has no column {missing[0]}",
            hint="xstreamcast.spark.frames.fragments_in decodes one with text or bytes",
        )  # fmt: skip
    return _packed(frame.select(called, *READ[1:]), parting)


def _read(
    spark: SparkSession, name: str | None, path: str, kind: Kind, most: int | None,
    parting: Parting,
) -> DataFrame:  # fmt: skip
    if kind == "document":
        reader = register_pieces(spark).readStream.format(PIECES)
        return reader.option("path", path).option("stream", name or "").load()
    reader = register(spark).readStream.format(NAME).option("path", path).option("stream", name)
    reader = reader.option("packed", "true").options(**parting.options(str(name)))
    return (reader if most is None else reader.option("maxPerBatch", most)).load()


def _kind(path: str) -> str:
    for first in paths(path):
        with opened(first) as file:
            head = file.read(_HEAD)
        if head.strip():
            return kind_of(head)
    return "fragments"


def end_all(ends: Path, names: Mapping[str | None, Any]) -> None:
    """Mark streams as ended; the next batch reads that."""
    rows = [json.dumps(said(one or "", EOS, _LAST)) for one in names]
    _write(ends, "all.json", rows)


def call_all(ends: Path, names: Mapping[str | None, Any]) -> None:
    """Hand each place a row that says nothing: the first batch after a move reaches all of them."""
    rows = [json.dumps(said(one or "", HEARTBEAT, 0, START)) for one in names]
    _write(ends, "moved.json", rows)


def _write(ends: Path, name: str, rows: list[str]) -> None:
    part = ends / ".part"
    ends.mkdir(parents=True, exist_ok=True)
    part.write_text("\n".join(rows) + "\n")
    part.replace(ends / name)
