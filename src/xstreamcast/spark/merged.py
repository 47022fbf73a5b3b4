"""An answer as a Delta table: a row for each item, merged by key.

updates.writeStream.foreachBatch(merge_into("alerts")).start()

A batch that is merged again after a failure changes nothing: of a key the row with the greatest
version stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.table.delta import needed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

KEYS: Final = ("query", "key")
VALUES: Final = ("rank", "item", "time", "version")  # of an item; `deleted` needs no column
_NEWER: Final = "new.version >= old.version"


def newest(updates: DataFrame) -> DataFrame:
    """Of the updates of a batch, the last of each key."""
    from pyspark.sql import functions as f

    rows = f.max_by(f.struct(*VALUES, "deleted"), "version").alias("newest")
    return updates.groupBy(*KEYS).agg(rows).select(*KEYS, "newest.*")


def merge_into(
    path: str, storage: Mapping[str, str] | None = None
) -> Callable[[DataFrame, int], None]:
    """For foreachBatch over updates: one commit for each batch that changes the answer.

    `storage`: options of the object store, as deltalake takes them. The table is created if there
    is none.
    """
    needed()

    def write(batch: DataFrame, epoch: int) -> None:
        rows = newest(batch).toArrow()
        if len(rows):
            _merge(_table(path, rows.schema, storage), rows)

    return write


def _table(path: str, rows: pa.Schema, storage: Mapping[str, str] | None) -> Any:
    """The table, created with the columns of an item if there is none."""
    import pyarrow as pa

    delta = needed()
    options = None if storage is None else dict(storage)
    columns = pa.schema([rows.field(name) for name in (*KEYS, *VALUES)])
    return delta.DeltaTable.create(
        path, _delta_schema(columns), mode="ignore", name="answer", storage_options=options
    )


def _delta_schema(columns: pa.Schema) -> Any:
    return import_module("deltalake").Schema.from_arrow(columns)


def _merge(table: Any, rows: pa.Table) -> None:
    of_item = {name: f"new.{name}" for name in (*KEYS, *VALUES)}
    same = " AND ".join(f"old.{name} = new.{name}" for name in KEYS)
    merging = table.merge(rows, same, source_alias="new", target_alias="old")
    (
        merging.when_matched_delete(f"new.deleted AND {_NEWER}")
        .when_matched_update(of_item, f"NOT new.deleted AND {_NEWER}")
        .when_not_matched_insert(of_item, "NOT new.deleted")
        .execute()
    )
