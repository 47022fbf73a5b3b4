"""A query over the units of a fragment table: what is read of it, and the input of each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.batch.current import current_tags
from xstreamcast.edges.batch.hollow import hollow_tags
from xstreamcast.edges.batch.root_elements import step_up
from xstreamcast.edges.batch.units import UnitReach, UnitsTask
from xstreamcast.edges.table.pruning import TagPruning, choice_of
from xstreamcast.edges.table.unit_building import unit_index
from xstreamcast.edges.table.values.choosing import sifting_of
from xstreamcast.edges.table.values.searching import search_of
from xstreamcast.model.counted import counted
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.spark.running.guides import table_guide
from xstreamcast.spark.running.links import followed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from xstreamcast.algebra.analysis.strategies import Choice
    from xstreamcast.circuit.batch.parts import Distributed
    from xstreamcast.edges.batch.task import Question
    from xstreamcast.edges.batch.units import Table
    from xstreamcast.edges.binding import Options
    from xstreamcast.edges.table.picking import RowSifting
    from xstreamcast.edges.table.unit_index import UnitIndex
    from xstreamcast.edges.table.values.searching import PayloadSearch
    from xstreamcast.model.structure import TagStructure

_RANGE: Final = 12 << 20  # bytes of files that a task reads at a time
_LITTLE: Final = 3 << 19  # where a range may show that others need not be read


@dataclass(frozen=True, slots=True)
class UnitWork:
    """The work on a table: the task, their number, that of ranges, and a description."""

    task: UnitsTask
    tasks: int
    ranges: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a strategy reads of a table: tags, of some only the links; and why it is the one."""

    strategy: str
    why: str
    tags: frozenset[int]
    links: frozenset[int]
    current: frozenset[int]  # of which only what is alive now is seen


def over_units(
    spark: SparkSession, plan: Distributed, question: Question, table: Table, tasks: int, few: int
) -> UnitWork | str:
    """The tasks over ranges of a table's units, or why there are none."""
    kept = table_guide(spark, table, few)
    pruned = None if kept is None else _pruned(plan, question.options, kept, table.structure)
    is_large = sum(file.rows for file in table.state.files_of(table.stream)) > few
    try:
        index = _index(spark, table, question, is_large)
    except Forbidden as caught:
        return str(caught)
    if index is None:
        return "its root has no units"
    sifting = None if pruned is None else _sifting(plan, question.options, table, kept)
    search = None if sifting else _search(plan, question.options, kept)
    up = step_up(plan, search)
    pieces = max(tasks, _pieces(table, pruned, None if up else search, _LITTLE if up else _RANGE))
    reach = _reach(table, question, kept, pruned, index.labels(), pieces)
    shown = None if kept is None or pruned is None else kept.guide
    if shown is None and any(part.around is not None for part in plan.parts):
        # what a task sees of its own fragments does not say what the root is needed for
        question = replace(question, options=replace(question.options, strategy="caq"))
    links = {} if pruned is None else {t: table.structure[t].local for t in pruned.links}
    task = UnitsTask(
        question, table, index, reach, shown, links, apart=kept is not None,
        plain=kept is not None and kept.plain, sifting=sifting,
        search=search, up=up,
    )  # fmt: skip
    words = (
        _counted(reach, plan.name, tasks),
        *_read(table, pruned, question.options),
        *(() if sifting is None else sifting.words()),
        *(() if search is None else search.words()),
        *(() if up is None else ("units read only where they may lead to other elements around",)),
        _found(index, is_large),
    )
    return UnitWork(task, min(tasks, len(reach.ranges)), len(reach.ranges), words)


def _pieces(table: Table, pruned: Pruned | None, search: PayloadSearch | None, most: int) -> int:
    """Ranges that are small enough: of more bytes at a time the tapes would only cost memory."""
    tags = None if pruned is None else pruned.tags - pruned.links
    tags = tags if tags is None or search is None else tags - search.runs.keys()
    files = table.state.files_of(table.stream)
    size = sum(file.nbytes for file in files if tags is None or file.tag in tags)
    return -(-size // most)


def _sifting(
    plan: Distributed, options: Options, table: Table, kept: TagPruning | None
) -> RowSifting | None:
    """Which payloads tasks see, by values that the table keeps."""
    if kept is None:
        return None
    return sifting_of(
        table.path, table.stream, plan.programs, plan.name, kept.guide, options.strategy
    )


def _search(plan: Distributed, options: Options, kept: TagPruning | None) -> PayloadSearch | None:
    """Which payloads tasks see, by their bytes."""
    if kept is None or not _is_prunable(plan, options):
        return None
    return search_of(plan.programs, plan.name, kept.guide, options.strategy, apart=True)


def _index(
    spark: SparkSession, table: Table, question: Question, is_large: bool
) -> UnitIndex | None:
    """Which rows are below which unit: kept, found here, or found by Spark."""
    until = None if question.when is None else question.when.now.instant
    follow = partial(followed, spark, table) if is_large else None
    return unit_index(table.path, table.state, table.stream, table.structure, until, follow)


def _found(index: UnitIndex, is_large: bool) -> str:
    if index.kept:
        return "the rows of each unit are stored with the table"
    who = "joins of Spark" if is_large else "the driver"
    return f"{who} computed the rows of each unit, and stored them with the table"


def _reach(
    table: Table, question: Question, kept: TagPruning | None, pruned: Pruned | None, labels: Any,
    tasks: int,
) -> UnitReach:  # fmt: skip
    """What of a table's fragments can be seen: as of an instant, the latest where no other is."""
    options, structure = question.options, table.structure
    leading = tags = None
    if kept is not None and pruned is not None:
        leading = frozenset(one for one, to in kept.labels.items() if to & pruned.tags)
        tags = pruned.tags | {-1}
    wanted = np.ones(len(labels), np.bool_) if leading is None else np.isin(labels, list(leading))
    units, ranges = int(np.count_nonzero(wanted)), _ranges(wanted, tasks)
    if options.clock != "event":  # what is planned after now may be seen
        return UnitReach(ranges, units, leading, tags)
    limited = options.as_of is not None or options.between is not None
    until = question.when.now.instant if limited and question.when is not None else None
    latest = _of_type(structure, "snapshot") | (frozenset() if pruned is None else pruned.current)
    return UnitReach(ranges, units, leading, tags, until, latest - {structure.root})


def _ranges(wanted: Any, tasks: int) -> tuple[tuple[int, int], ...]:
    """Ranges with about as many of the wanted units each; one that is empty where there is none."""
    at = np.flatnonzero(wanted)
    if len(at) == 0:
        return ((0, 0),)
    cuts = np.linspace(0, len(at), min(tasks, len(at)) + 1).round().astype(np.int64)
    edges = at[cuts[:-1]].tolist()
    return tuple(zip(edges, [*edges[1:], int(at[-1]) + 1], strict=True))


def _of_type(structure: TagStructure, kind: str) -> frozenset[int]:
    return frozenset(tag.id for tag in structure.tags.values() if tag.type == kind)


def _pruned(
    plan: Distributed, options: Options, kept: TagPruning, structure: TagStructure
) -> Pruned | None:
    """What is read of the tags, None for all: as a single process would decide.

    caq    all of it
    qac    the tags along the paths, from the root down
    qac+   the tags that are read; of those above them the links
    """
    if not _is_prunable(plan, options):
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
    timed = _of_type(structure, "temporal")
    seen = current_tags(plan.programs, plan.name, kept.guide, options.strategy, timed)
    current = seen & (full | link)
    links = (link - full) | hollow_tags(plan.programs, found, structure, kept.guide)
    links -= kept.guide.binding
    return Pruned(last.strategy, last.why, full | link, links, current)


def _is_prunable(plan: Distributed, options: Options) -> bool:
    """Whether it is known what is seen: other inputs have a say in the strategy."""
    return options.between is None and options.clock == "event" and not plan.whole


def _counted(reach: UnitReach, name: str, tasks: int) -> str:
    ranges = len(reach.ranges)
    many = min(tasks, ranges)
    said = "1 task," if many == 1 else f"{many} tasks, each"
    what = "a range" if ranges == many else f"some of {ranges} ranges"
    return f"{said} {what} of the {counted(reach.units, 'unit')} of {name}"


def _read(table: Table, pruned: Pruned | None, options: Options) -> Sequence[str]:
    """In words, which fragments are read and what of them."""
    if pruned is None:
        chosen = "" if options.strategy == "auto" else f", with {options.strategy} in each task"
        return [f"fragments read: all tags{chosen}"]

    def named(tags: frozenset[int]) -> str:
        return ", ".join(table.structure[tag].name for tag in sorted(tags))

    said = [f"{pruned.strategy}: {pruned.why}", f"fragments read: {named(pruned.tags)}"]
    said += [f"by their links alone: {named(pruned.links)}"] if pruned.links else []
    said += [f"as they are now alone: {named(pruned.current)}"] if pruned.current else []
    return said
