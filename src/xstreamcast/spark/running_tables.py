"""A query over the units of a fragment table: what is read of it, and what each task is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xstreamcast.edges.table.pruning import guide_of, needed_tags
from xstreamcast.operators.document_feed import Forbidden
from xstreamcast.spark.running_links import DEEPEST, assigned, followed, levels
from xstreamcast.spark.running_units import UnitsTask, roots

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.algebra.guide import Guide
    from xstreamcast.edges.binding import Options
    from xstreamcast.spark.running_plan import Spread
    from xstreamcast.spark.running_task import Question
    from xstreamcast.spark.running_units import Table

LEVELS = 8  # fragments below each other that joins follow before anybody says more


@dataclass(frozen=True, slots=True)
class Units:
    """What is asked of a table: the task, how many there are, in words, and rows for them."""

    task: UnitsTask
    tasks: int
    words: tuple[str, ...]
    rows: DataFrame | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """How many tasks there should be, how many fragments the driver follows, and how deep joins."""

    tasks: int
    few: int
    depth: int | None = None


def over_units(
    spark: SparkSession, plan: Spread, question: Question, table: Table, wish: Wish
) -> Units | str:
    """The tasks over ranges of a table's units, or why there are none."""
    until = None if question.when is None else question.when.now.instant
    try:
        made = roots(table, until, wish.tasks)
    except Forbidden as caught:
        return str(caught)
    if made is None:
        return "its root has no units"
    kept = guide_of(table.path, table.state, table.stream, table.structure)
    guide = None if kept is None else kept.guide
    tags = _tags(plan, question.options, guide)
    shown = guide if tags is not None else None
    files = table.state.files_of(table.stream, tags)
    rows = None
    if sum(file.rows for file in files) <= wish.few:
        task = UnitsTask(question, table, shown, DEEPEST, followed(table, made, tags))
        by = "the driver follows the links"
    else:
        depth = wish.depth or min(levels(table.structure), LEVELS)
        task = UnitsTask(question, table, shown, depth)
        rows, by = assigned(spark, table, made, tags, depth), "joins follow the links"
    words = (_counted(len(made), len(made.ids), plan.name), _read(table, tags), by)
    return Units(task, len(made), words, rows)


def _counted(tasks: int, units: int, name: str) -> str:
    said = "1 task," if tasks == 1 else f"{tasks} tasks, each"
    return f"{said} a range of the {units} units of {name}"


def _read(table: Table, tags: frozenset[int] | None) -> str:
    names = [] if tags is None else [table.structure[tag].name for tag in sorted(tags)]
    return "fragments read: " + (", ".join(names) if tags is not None else "all tags")


def _tags(plan: Spread, options: Options, guide: Guide | None) -> frozenset[int] | None:
    """The tags whose fragments are needed, None for all: as a single process would tell."""
    if guide is None or options.between is not None or options.clock != "event":
        return None
    if plan.division.whole:  # what is read beside it has a say in the strategy
        return None
    found = [needed_tags(one, plan.name, guide, options.strategy) for one in plan.programs]
    known = [one for one in found if one is not None]
    return frozenset[int]().union(*known) if len(known) == len(found) else None
