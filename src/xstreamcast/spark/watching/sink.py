"""Where changes go: each batch once, however often it is tried, and what is reported with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.partitions.facts import error_from, refused_from
from xstreamcast.model.change import Change
from xstreamcast.model.instant import NOW
from xstreamcast.spark.watching.emitted import FAILED, REFUSED, SAID

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from xstreamcast.errors import Error
    from xstreamcast.model.fragment import Refused

Named = tuple[str, Change]  # a query, and a change of its answer
Write = Callable[[int, list[Named]], None]


@dataclass(slots=True)
class BatchTotals:
    """What came of batches, besides the changes that were written."""

    changes: int = 0
    batches: int = 0
    refused: list[Refused] = field(default_factory=list)
    failed: list[Error] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)


def once_each(write: Write, totals: BatchTotals, base: int = 0) -> Callable[[DataFrame, int], None]:
    """For foreachBatch: hand the changes of a batch on, in order; `base` is the first's number."""

    def take(batch: DataFrame, epoch: int) -> None:
        # computed in any case: state that a batch does not compute is not there for the next one
        rows = batch.toArrow().sort_by([("query", "ascending"), ("nth", "ascending")]).to_pylist()
        refused = [refused_from(_beside(row)) for row in rows if row["key"] == REFUSED and _is(row)]
        for row in rows:
            if _is(row) and row["key"] == FAILED:
                totals.failed.append(error_from(_beside(row)))
                raise totals.failed[-1]
            if _is(row) and row["key"] == SAID:
                totals.said[row["query"]] = _beside(row)
        changes = [_change(row) for row in rows if not _is(row)]
        write(base + epoch, changes)
        totals.refused += refused
        totals.changes += len(changes)
        totals.batches += 1

    return take


def _is(row: dict[str, Any]) -> bool:
    """Whether a row is no change."""
    return bool(row["diff"] == 0)


def _beside(row: dict[str, Any]) -> Any:
    return json.loads(row["item"])


def _change(row: dict[str, Any]) -> Named:
    instant = NOW if row["time"] is None else row["time"]
    return row["query"], Change(instant, row["diff"], row["key"], row["after"], row["item"])
