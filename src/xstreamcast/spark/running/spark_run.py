"""A query over what is there, on Spark: `run --runner spark`, `query(…).spark(session).run(…)`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.show import show
from xstreamcast.circuit.batch.parts import BatchPart, Distributed, OneTask
from xstreamcast.circuit.batch.ranges import batch_plan
from xstreamcast.edges.batch.answer import followed, is_mixed, listed, numbered, ranked
from xstreamcast.edges.batch.grouping import GroupsTask
from xstreamcast.edges.batch.ranges import RangesTask, ranges
from xstreamcast.edges.batch.task import FAILED, UNSENT, Alone, ClockBinding, Question
from xstreamcast.edges.binding import Options
from xstreamcast.edges.immutable import paths_of
from xstreamcast.edges.partitions.facts import error_from
from xstreamcast.edges.table.schema import arrow
from xstreamcast.model.counted import counted
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.spark.running.inputs import Sources
from xstreamcast.spark.running.links import FEW
from xstreamcast.spark.running.tables import over_units
from xstreamcast.spark.running.work import RunTasks, in_order, parallelism

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.batch.groups import Groups
    from xstreamcast.edges.batch.units import Table

_SMALLEST: Final = 1 << 22  # bytes of a document that are worth a task
_RANGE: Final = 1 << 24  # bytes that a task reads at a time: more of them only cost memory
_EACH: Final = 2  # tasks for each core, so that none waits long for the last one
_LARGE: Final = 1 << 30  # bytes of an input of which the driver does not sort the answer


_KEPT: Final[list[SparkRun]] = []  # whose temporary tables a DataFrame still reads


class SparkRun:
    """One run of a query on Spark."""

    def __init__(
        self, spark: Any, programs: Mapping[str, Program], document: Any,
        inputs: Mapping[str, Any], options: Options, *, form: str = "lines",
        tasks: int | None = None, few: int = FEW, smallest: int = _SMALLEST, large: int = _LARGE,
    ) -> None:  # fmt: skip
        self.spark, self.form, self._few = spark, form, few
        self._smallest, self._large = smallest, large
        self.options = replace(options, keep=None)
        self.sources = Sources(programs, document, inputs, options)
        self.document, self.inputs = self.sources.document, self.sources.inputs
        self.programs = programs
        self.cores = 1 if spark is None else parallelism(spark)
        self.tasks = tasks or _EACH * self.cores
        self.words: tuple[str, ...] = ()  # what the tasks of the last work do

    # -- planning ---------------------------------------------------------------------------------

    @cached_property
    def plan(self) -> Distributed | OneTask:
        """How the query is spread, by the largest input that it can be spread over."""
        if len(self.programs) > 1:
            return OneTask(("a query that declares streams is not distributed",))
        if self.options.clock not in ("event", "wall") or self._is_planned():
            return OneTask(("planned states are visible only in the complete stream",))
        if attaching := self.sources.attaches():
            return OneTask(
                (f"{attaching}: units that are attached to their parents are in no hole",)
            )
        if paths_of(self._program):
            return OneTask(("immutable elements are known only in the complete stream",))
        if self.sources.has_stream_as_variable():
            return OneTask(("a variable denotes a stream",))
        try:
            found = batch_plan(self._program, self.sources.structures(self._program))
        except Forbidden as caught:
            return OneTask((str(caught),))
        return found

    @property
    def _program(self) -> Program:
        return next(iter(self.programs.values()))

    def _is_planned(self) -> bool:
        from xstreamcast.edges.binding import Binding

        return self.options.clock == "wall" and Binding(self._program, {}, self.options)._projects()

    # -- tasks ------------------------------------------------------------------------------------

    def _alone(self) -> RunTasks:
        task = Alone(self.programs, self.document, self.inputs, self.options, self.form)
        reasons = self.plan.reasons if isinstance(self.plan, OneTask) else ()
        return RunTasks(task, 1, ("one task, which reads everything", *reasons))

    def _given_up(self, why: str) -> RunTasks:
        """One task after all, for a reason that the plan could not know."""
        self.plan = OneTask((why,))
        return self._alone()

    def _question(self, plan: Distributed) -> Question:
        others = {n: one for n, one in self.inputs.items() if n != plan.input}
        for name, table in self.sources.tables.items():
            if name is not None and name != plan.input:
                others[name] = Path(f"table:{table.path}")
        return Question(
            plan.parts, plan.programs, plan.name, others, self.options,
            self.sources.when(), self.sources.current, plan.is_listed, self.form, plan.groups,
            self.tasks,
        )  # fmt: skip

    def work(self) -> RunTasks:
        """The tasks of the run."""
        plan = self.plan
        if isinstance(plan, OneTask):
            return self._alone()
        table = self.sources.tables.get(plan.input)
        made = self._over_ranges(plan) if table is None else self._over_units(plan, table)
        if isinstance(made, str):
            return self._given_up(made)
        words = (*made.words, *self._whole_words(plan))
        then = None if plan.groups is None else self._grouping(plan, plan.groups)
        return replace(
            made, words=words, then=then, buckets=self.tasks, is_sorted=self._sorts_on_spark(plan)
        )

    def _over_units(self, plan: Distributed, table: Table) -> RunTasks | str:
        made = over_units(self.spark, plan, self._question(plan), table, self.tasks, self._few)
        if isinstance(made, str):
            return made
        return RunTasks(made.task, made.tasks, made.words, count=made.ranges)

    def _over_ranges(self, plan: Distributed) -> RunTasks | str:
        path = self._path(plan)
        step = max(self._smallest, -(-os.path.getsize(path) // self.tasks))
        if not plan.whole:  # which every range would read again
            step = min(step, max(self._smallest, _RANGE))
        cut = plan.levels[-1]
        threads = min(self.cores, os.cpu_count() or 1)
        found = ranges(path, cut, step, plan.held, threads)
        if isinstance(found, str):
            return found
        tasks = min(self.tasks, len(found))
        many = "1 task," if tasks == 1 else f"{tasks} tasks, each"
        words = f"{many} about {os.path.getsize(path) // tasks >> 10} KiB of {plan.name}"
        task = RangesTask(self._question(plan), path, found)
        return RunTasks(task, tasks, (words,), count=len(found))

    def _grouping(self, plan: Distributed, groups: Groups) -> GroupsTask:
        when, current = self.sources.when(), self.sources.current
        given = self._program, self._values(), self.options, when, current
        return GroupsTask(groups, *given, self.form, plan.is_plain)

    def _sorts_on_spark(self, plan: Distributed) -> bool:
        return plan.is_sorted and self._size(plan) > self._large

    def _size(self, plan: Distributed) -> int:
        """The bytes of the input that is spread."""
        table = self.sources.tables.get(plan.input)
        if table is not None:
            return sum(file.nbytes for file in table.state.files_of(table.stream))
        return os.path.getsize(self._path(plan))

    def _path(self, plan: Distributed) -> str:
        return str(self.document if plan.input is None else self.inputs[plan.input])

    def _whole_words(self, plan: Distributed) -> list[str]:
        others = sorted(plan.whole)
        said = [f"every task reads {name} whole" for name in others]
        if plan.groups is not None:
            said.append(f"Spark brings groups together by their keys, in {self.tasks} buckets")
        if plan.is_sorted:
            said.append("Spark sorts" if self._sorts_on_spark(plan) else "the driver sorts")
        elif not plan.is_listed:
            said.append("the driver puts values together")
        return said

    # -- answers ----------------------------------------------------------------------------------

    def frame(self) -> DataFrame:
        """The items of the answer in order: place, ordinal, kind, item."""
        from pyspark.sql import functions as f

        plan, work = self.plan, self.work()
        if isinstance(plan, Distributed) and work.is_sorted:
            return self._sorted_frame(work)
        later = isinstance(plan, OneTask) or plan.is_listed
        if not later:
            made: DataFrame = self.spark.createDataFrame(self.collected())
            return made
        found = work.found(self.spark)
        if self.sources.is_temporary:
            _KEPT.append(self)
        bad = f.raise_error(f.col("item"))
        checked = f.when(f.col("part") < 0, bad).otherwise(f.col("item"))
        answer: DataFrame = found.select("place", "ordinal", "kind", checked.alias("item"))
        return answer

    def _sorted_frame(self, work: RunTasks) -> DataFrame:
        """The answer sorted by Spark, from what tasks found, which is kept on disk."""
        from pyspark.sql import functions as f

        found = self._kept(work)
        if self.asked_again(found.filter("part < 0").toArrow()):
            made: DataFrame = self.spark.createDataFrame(self.collected())
            return made
        number = f.monotonically_increasing_id()
        return in_order(found).select(
            f.lit(0).cast("bigint").alias("place"), number.alias("ordinal"), "kind", "item"
        )

    def _kept(self, work: RunTasks) -> DataFrame:
        from pyspark import StorageLevel

        return work.found(self.spark).persist(StorageLevel.DISK_ONLY)

    def collected(self) -> Any:
        """The items of the answer in order, as an Arrow table."""
        return self._collected(self.work())

    def _collected(self, work: RunTasks) -> Any:
        self.words = work.words
        if not work.is_sorted:
            return self.answered(work.found(self.spark).toArrow())
        found = self._kept(work)  # sorting looks at it twice
        try:
            if self.asked_again(found.filter("part < 0").toArrow()):
                return self.collected()
            return numbered(in_order(found).toArrow())
        finally:
            found.unpersist()

    def answered(self, found: Any) -> Any:
        """The answer from what the tasks found."""
        plan = self.plan
        if self.asked_again(found):
            return self._collected(self.work())
        if isinstance(plan, OneTask) or plan.is_listed:
            return listed(found)
        return (
            ranked(found) if plan.is_sorted else followed(plan, found, self._rest(plan), self.form)
        )

    def asked_again(self, found: Any) -> bool:
        """Whether one task must evaluate the query after all. An error that tasks met is raised."""
        pc = arrow().compute
        failed = found.filter(pc.equal(found["part"], FAILED))
        if failed.num_rows:
            self._raise(failed)
            self._given_up("a part of it raises an error that the complete query does not raise")
        elif pc.any(pc.equal(found["part"], UNSENT)).as_py():
            self._given_up("a later operator navigates from nodes")
        elif is_mixed(found):
            self._given_up("values of several types are compared or added where all of them are")
        else:
            return False
        return True

    def _raise(self, failed: Any) -> None:
        """The error that the whole query gives: not one that depends on how it was spread."""
        if not isinstance(self.plan, OneTask):
            pa = arrow()
            alone = [*self._alone().task([pa.record_batch([pa.array([0])], ["id"])])]
            alone = [one for one in alone if one.column("part")[0].as_py() == FAILED]
            if not alone:
                return
            failed = pa.Table.from_batches(alone)
        raise error_from(json.loads(failed["value"][0].as_py()))

    def _rest(self, plan: Distributed) -> ClockBinding:
        program = replace(self._program, body=plan.rest)
        when, current = self.sources.when(), self.sources.current
        return ClockBinding(program, self._values(), self.options, when, current)

    def _values(self) -> dict[str, Any]:
        """Inputs that are values of variables."""
        names = {one.local for one in self._program.variables if one.external}
        return {name: one for name, one in self.inputs.items() if name in names}

    def explained(self) -> str:
        """How the query is spread, and Spark's own plan."""
        work = self.work()
        plan = self.plan
        lines = [*work.words]
        if isinstance(plan, Distributed):
            lines += [f"part {n}: {_shown(part)}" for n, part in enumerate(plan.parts)]
        spark_plan = work.whole(self.spark)._jdf.queryExecution().simpleString()
        return "\n".join([*self.sources.notes, *lines, "", spark_plan.strip()])


def _shown(part: BatchPart) -> str:
    """What tasks do for a part, in words."""
    body = " ".join(show(part.expression).split())
    said = f"sorted by {counted(len(part.order), 'key')}" if part.order else "in the order of units"
    if part.fold == "rows" and (part.first != 1 or part.last is not None):
        last = "the last" if part.last in (None, -1) else str(part.last)
        said += f", positions {part.first} to {last}"
    elif isinstance(part.tuples, p.GroupBy):
        said = "in groups by their keys"
    elif part.fold != "items":
        said = f"folded by {part.fold}"
    return f"{said}, of {body}"
