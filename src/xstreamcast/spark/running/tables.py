"""A query over the units of a fragment table: what is read of it, and what each task is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from xstreamcast.edges.table.pruning import Kept, choice_of
from xstreamcast.operators.document_feed import Forbidden
from xstreamcast.spark.running.current import current_tags
from xstreamcast.spark.running.guides import table_guide
from xstreamcast.spark.running.links import Reach, assigned, followed, levels
from xstreamcast.spark.running.roots import Roots, linked_roots, roots
from xstreamcast.spark.running.units import UnitsTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.algebra.strategies import Choice
    from xstreamcast.edges.binding import Options
    from xstreamcast.spark.running.plan import Spread
    from xstreamcast.spark.running.task import Question
    from xstreamcast.spark.running.units import Table

LEVELS: Final = 8  # fragments below each other that joins follow before anybody says more


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


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a strategy reads of a table: tags, of some only the links; and why it is the one."""

    strategy: str
    why: str
    tags: frozenset[int]
    links: frozenset[int]
    current: frozenset[int]  # of which only what is alive now is seen


def over_units(
    spark: SparkSession, plan: Spread, question: Question, table: Table, wish: Wish
) -> Units | str:
    """The tasks over ranges of a table's units, or why there are none."""
    kept = table_guide(spark, table, wish.few)
    pruned = (
        None if kept is None else _pruned(plan, question.options, kept, _of_type(table, "temporal"))
    )
    until = None if question.when is None else question.when.now.instant
    try:
        made, linked = _roots(table, until, wish.tasks, kept, pruned)
    except Forbidden as caught:
        return str(caught)
    if made is None:
        return "its root has no units"
    reach = _reach(table, question, pruned, linked)
    shown = None if kept is None or pruned is None else kept.guide
    if shown is None and any(part.around is not None for part in plan.division.parts):
        # what a task sees of its own fragments does not say what the root is needed for
        question = replace(question, options=replace(question.options, strategy="caq"))
    links = {} if pruned is None else {t: table.structure[t].local for t in pruned.links}
    few = sum(file.rows for file in reach.files) <= wish.few
    depth = None if few else wish.depth or min(levels(table.structure), LEVELS)
    known = followed(table, made, reach) if few else None
    task = UnitsTask(
        question,
        table,
        shown,
        links,
        apart=kept is not None,
        plain=kept is not None and kept.plain,
        depth=depth,
        known=known,
    )
    rows = None if depth is None else assigned(spark, table, made, reach, depth)
    by = "the driver follows the links" if few else "joins follow the links"
    words = (_counted(made, plan.name), *_read(table, pruned, question.options), by)
    return Units(task, len(made), words, rows)


def _roots(
    table: Table, until: int | None, count: int, kept: Kept | None, pruned: Pruned | None
) -> tuple[Roots | None, bool]:
    """The root for each task, and whether it was made of its links alone."""
    if kept is not None and pruned is not None and table.structure.root in pruned.links:
        made = linked_roots(table, until, count, kept, pruned.tags)
        if made is not None:
            return made, True
    return roots(table, until, count), False


def _reach(table: Table, question: Question, pruned: Pruned | None, linked: bool) -> Reach:
    """What of a table's fragments can be seen: as of an instant, the latest where no other is."""
    options, structure = question.options, table.structure
    files = table.state.files_of(table.stream, None if pruned is None else pruned.tags)
    if linked:
        files = [file for file in files if file.tag != structure.root]
    if options.clock != "event":  # what is planned after now may be seen
        return Reach(files)
    asked = options.as_of is not None or options.between is not None
    until = question.when.now.instant if asked and question.when is not None else None
    latest = _of_type(table, "snapshot") | (frozenset() if pruned is None else pruned.current)
    return Reach(files, until, latest - {structure.root})


def _of_type(table: Table, kind: str) -> frozenset[int]:
    return frozenset(tag.id for tag in table.structure.tags.values() if tag.type == kind)


def _pruned(plan: Spread, options: Options, kept: Kept, timed: frozenset[int]) -> Pruned | None:
    """What is read of the tags, None for all: as a single process would tell.

    caq    all of it
    qac    the tags along the paths, from the root down
    qac+   the tags that are read; of those above them the links
    """
    if options.between is not None or options.clock != "event":
        return None
    if plan.division.whole:  # what is read beside it has a say in the strategy
        return None
    found: list[Choice] = []
    for one in plan.programs:
        choice = choice_of(one, plan.name, kept.guide, options.strategy)
        if choice is None or choice.strategy == "caq":
            return None
        found.append(choice)
    full = frozenset[int]().union(*(one.full for one in found))
    link = frozenset[int]().union(*(one.link for one in found))
    last = found[-1]
    seen = current_tags(plan.programs, plan.name, kept.guide, options.strategy, timed)
    current, links = seen & (full | link), link - full - kept.guide.binding
    return Pruned(last.strategy, last.why, full | link, links, current)


def _counted(made: Roots, name: str) -> str:
    said = "1 task," if len(made) == 1 else f"{len(made)} tasks, each"
    return f"{said} a range of the {len(made.ids)} units of {name}"


def _read(table: Table, pruned: Pruned | None, options: Options) -> Sequence[str]:
    """In words, which fragments are read and what of them."""
    if pruned is None:
        asked = "" if options.strategy == "auto" else f", with {options.strategy} in each task"
        return [f"fragments read: all tags{asked}"]

    def named(tags: frozenset[int]) -> str:
        return ", ".join(table.structure[tag].name for tag in sorted(tags))

    said = [f"{pruned.strategy}: {pruned.why}", f"fragments read: {named(pruned.tags)}"]
    said += [f"by their links alone: {named(pruned.links)}"] if pruned.links else []
    said += [f"as they are now alone: {named(pruned.current)}"] if pruned.current else []
    return said
