"""What each stage of a query says of a batch, in Spark's progress and plan.

A stage adds a row to what it emits. Above each stage Spark adds these up, under the name of the
stage (`observedMetrics` in `lastProgress`, and a node of that name in the plan of its UI), and
drops them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.partitions.host import Reading

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FACT: Final = "stage"  # the key of a row that is no change
NO_STEP: Final = -1  # the step of a message without a receiver
COUNTS: Final = ("fragments", "changes", "stateBytes", "late", "refused")
ONE_PLACE, ROUTER, UNITS, ANSWER = "one place", "router", "units", "answer"


def counts_of(host: Any) -> dict[str, int]:
    """What the operators of a place have seen, if they read fragments."""
    reading = getattr(host, "reading", host)
    return reading.counts() if isinstance(reading, Reading) else {}


def stage_name(step: int) -> str:
    """What a stage between the first and the last is called."""
    return UNITS if step == 0 else f"stage {step}"


def fact_row(columns: tuple[str, ...], query: str, counts: Mapping[str, int]) -> dict[str, Any]:
    """The row of a stage, in the form of the rows among which it is."""
    counted = json.dumps({name: counts.get(name, 0) for name in COUNTS})
    if "message" in columns:
        return {"query": query, "slot": 0, "step": NO_STEP, "message": counted.encode()}
    if "nth" in columns:
        return {"query": query, "nth": -1, "time": None, "diff": 0, "key": FACT, "item": counted}
    update = {"query": query, "key": None, "rank": None, "item": counted, "deleted": True}
    return update | {"time": 0, "version": -1}


def with_fact(rows: Any, query: str, counts: Mapping[str, int]) -> Any:
    """What a stage emits, and its row."""
    import pandas  # type: ignore[import-untyped]

    columns = tuple(rows.columns)
    one = fact_row(columns, query, counts)
    made = pandas.DataFrame({name: [one.get(name)] for name in columns}, dtype=object)
    made = made.astype(rows.dtypes.to_dict())
    return made if rows.empty else pandas.concat([rows, made], ignore_index=True)


def observed(rows: DataFrame, name: str) -> DataFrame:
    """Rows of a stage without those that it says of itself: Spark has their sums."""
    from pyspark.sql import functions as f

    is_fact, fact = _fact(rows)
    said = f.when(is_fact, fact)
    sums = [f.sum(f.get_json_object(said, f"$.{one}").cast("long")).alias(one) for one in COUNTS]
    return rows.observe(name, *sums).where(~is_fact)


def _fact(rows: DataFrame) -> tuple[Column, Column]:
    """Whether a row is one of these, and what it says."""
    from pyspark.sql import functions as f

    if "message" in rows.columns:
        return f.col("step") == NO_STEP, f.col("message").cast("string")
    if "nth" in rows.columns:
        return (f.col("diff") == 0) & (f.col("key") == FACT), f.col("item")
    return f.col("key").isNull(), f.col("item")


def stages_of_progress(progress: Any) -> dict[str, dict[str, int]]:
    """By stage, what its partitions said of a batch, added up."""
    if progress is None:
        return {}
    metrics = (
        progress["observedMetrics"] if isinstance(progress, dict) else progress.observedMetrics
    )
    found: dict[str, dict[str, int]] = {}
    for name, row in metrics.items():
        counts = row.asDict() if hasattr(row, "asDict") else dict(row)
        if set(COUNTS) <= set(counts):
            found[name] = {one: int(counts[one] or 0) for one in COUNTS}
    return found
