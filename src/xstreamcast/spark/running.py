"""A query over what is there, on Spark: `run --runner spark`, `query(…).spark(session).run(…)`."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.algebra.division import Sorted
from xstreamcast.edges.binding import Options
from xstreamcast.edges.table.schema import arrow
from xstreamcast.errors import error
from xstreamcast.evaluate.context import Context
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.frame import Frame
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.column import Column
from xstreamcast.operators.document_feed import Forbidden
from xstreamcast.spark.running_inputs import Sources
from xstreamcast.spark.running_links import DEEPEST, FEW, levels
from xstreamcast.spark.running_plan import Spread, Together, spread
from xstreamcast.spark.running_ranges import RangesTask, ranges
from xstreamcast.spark.running_tables import LEVELS, Wish, over_units
from xstreamcast.spark.running_task import (
    AGAIN,
    FAILED,
    FOUND,
    UNSENT,
    Alone,
    Asking,
    Question,
    told,
)
from xstreamcast.spark.running_values import combined, sorted_places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.algebra.program import Program
    from xstreamcast.spark.running_units import Table

_COLUMNS: Final = ["place", "ordinal", "kind", "item"]  # of an answer
_SMALLEST: Final = 1 << 18  # bytes of a document that are worth a task
_EACH: Final = 2  # tasks for each core, so that none waits long for the last one


_KEPT: Final[list[SparkRun]] = []  # whose temporary tables a DataFrame still reads


class Again(Exception):
    """Fragments stand deeper below each other than was followed."""


@dataclass(frozen=True, slots=True)
class Work:
    """Tasks of a run: what each does, with which rows, their number where None; and in words."""

    task: Callable[[Iterable[Any]], Iterator[Any]]
    tasks: int
    words: tuple[str, ...]
    rows: DataFrame | None = None

    def found(self, spark: SparkSession) -> DataFrame:
        """What the tasks find, when somebody asks for it: rows of FOUND."""
        rows = spark.range(0, self.tasks, 1, self.tasks) if self.rows is None else self.rows
        return rows.mapInArrow(self.task, FOUND)


class SparkRun:
    """One run of a query on Spark."""

    def __init__(
        self, spark: Any, programs: Mapping[str, Program], document: Any,
        inputs: Mapping[str, Any], options: Options, *, form: str = "lines",
        tasks: int | None = None, few: int = FEW, smallest: int = _SMALLEST,
    ) -> None:  # fmt: skip
        self.spark, self.form, self._few, self._smallest = spark, form, few, smallest
        self.options = replace(options, keep=None)
        self.sources = Sources(programs, document, inputs, options)
        self.document, self.inputs = self.sources.document, self.sources.inputs
        self.programs = programs
        self.tasks = tasks or _EACH * spark.sparkContext.defaultParallelism
        self.words: tuple[str, ...] = ()  # what the tasks of the last work do

    # -- planning ---------------------------------------------------------------------------------

    @cached_property
    def plan(self) -> Spread | Together:
        """How the query is spread, by the largest input that it can be spread over."""
        if len(self.programs) > 1:
            return Together(("a query that declares streams is asked as a whole",))
        if self.options.clock not in ("event", "wall") or self._is_planned():
            return Together(("what is planned after now is seen only in the whole",))
        if self.sources.has_stream_as_variable():
            return Together(("a variable stands for a stream",))
        try:
            found = spread(self._program, self.sources.structures(self._program))
        except Forbidden as caught:
            return Together((str(caught),))
        return found

    @property
    def _program(self) -> Program:
        return next(iter(self.programs.values()))

    def _is_planned(self) -> bool:
        from xstreamcast.edges.binding import Binding

        return self.options.clock == "wall" and Binding(self._program, {}, self.options)._projects()

    # -- tasks ------------------------------------------------------------------------------------

    def _alone(self) -> Work:
        task = Alone(self.programs, self.document, self.inputs, self.options, self.form)
        reasons = self.plan.reasons if isinstance(self.plan, Together) else ()
        return Work(task, 1, ("one task, which reads everything", *reasons))

    def _given_up(self, why: str) -> Work:
        """One task after all, for a reason that the plan could not know."""
        self.plan = Together((why,))
        return self._alone()

    def _question(self, plan: Spread) -> Question:
        others = {n: one for n, one in self.inputs.items() if n != plan.input}
        for name, table in self.sources.tables.items():
            if name is not None and name != plan.input:
                others[name] = Path(f"table:{table.path}")
        return Question(
            plan.division.parts, plan.programs, plan.name, others, self.options,
            self.sources.when(), self.sources.current, plan.told, self.form,
        )  # fmt: skip

    def work(self, depth: int | None = None) -> Work:
        """The tasks of the run; `depth`: how far holes are followed."""
        plan = self.plan
        if isinstance(plan, Together):
            return self._alone()
        if plan.input in self.sources.tables:
            return self._over_units(plan, self.sources.tables[plan.input], depth)
        return self._over_ranges(plan)

    def _over_units(self, plan: Spread, table: Table, depth: int | None) -> Work:
        wish = Wish(self.tasks, self._few, depth)
        made = over_units(self.spark, plan, self._question(plan), table, wish)
        if isinstance(made, str):
            return self._given_up(made)
        return Work(made.task, made.tasks, (*made.words, *self._whole_words(plan)), made.rows)

    def _over_ranges(self, plan: Spread) -> Work:
        path = str(self.document if plan.input is None else self.inputs[plan.input])
        size = os.path.getsize(path)
        step = max(self._smallest, -(-size // self.tasks))
        cut = plan.division.levels(plan.input)[-1]
        found = ranges(path, cut, step, plan.division.held(plan.input))
        if isinstance(found, str):
            return self._given_up(found)
        n = len(found)
        task = RangesTask(self._question(plan), path, found)
        words = (
            f"{_tasks(n)} about {step >> 10} KiB of {plan.name}", *self._whole_words(plan)
        )  # fmt: skip
        return Work(task, n, words)

    def _whole_words(self, plan: Spread) -> list[str]:
        others = sorted(one for one in plan.division.whole if one is not None)
        said = [f"every task reads {name} whole" for name in others]
        if not plan.told:
            sorted_ = isinstance(plan.division.parts[0].shape, Sorted)
            said.append("the driver sorts" if sorted_ else "the driver puts values together")
        return said

    # -- answers ----------------------------------------------------------------------------------

    def frame(self) -> DataFrame:
        """The items of the answer in order: place, ordinal, kind, item."""
        from pyspark.sql import functions as f

        plan = self.plan
        if isinstance(plan, Spread) and not plan.told:
            made: DataFrame = self.spark.createDataFrame(self.collected())
            return made
        work = self.work()
        if work.rows is not None and self._nests(plan):
            made = self.spark.createDataFrame(self.collected())
            return made
        found = work.found(self.spark)
        if self.sources.is_temporary:
            _KEPT.append(self)
        bad = f.raise_error(f.coalesce(f.col("item"), f.lit("fragments nest too deep")))
        checked = f.when(f.col("part") < 0, bad).otherwise(f.col("item"))
        answer: DataFrame = found.select("place", "ordinal", "kind", checked.alias("item"))
        return answer

    def _nests(self, plan: Spread | Together) -> bool:
        """Whether only what tasks find tells how deep fragments stand below each other."""
        table = None if isinstance(plan, Together) else self.sources.tables.get(plan.input)
        return table is not None and levels(table.structure) > LEVELS

    def collected(self) -> Any:
        """The items of the answer in order, as an Arrow table."""
        depth: int | None = None
        while True:
            try:
                return self._collected(self.work(depth))
            except Again:
                depth = 2 * (depth or LEVELS)
                if depth > DEEPEST:
                    raise error("XSCU0005", f"fragments stand more than {DEEPEST} deep") from None

    def _collected(self, work: Work) -> Any:
        self.words = work.words
        return self.answered(work.found(self.spark).toArrow())

    def answered(self, found: Any) -> Any:
        """The answer from what the tasks found."""
        pc = arrow().compute
        if pc.any(pc.equal(found["part"], AGAIN)).as_py():
            raise Again
        if pc.any(pc.equal(found["part"], UNSENT)).as_py():
            return self._collected(self._given_up("what follows needs nodes where they stand"))
        failed = found.filter(pc.equal(found["part"], FAILED))
        if failed.num_rows:
            self._raise(failed)
        found = found.sort_by([("part", "ascending"), ("place", "ascending")])
        plan = self.plan
        if isinstance(plan, Together) or plan.told:
            return found.select(_COLUMNS)
        if isinstance(plan.division.parts[0].shape, Sorted):
            return self._sorted(plan, found)
        return self._followed(plan, found)

    def _raise(self, failed: Any) -> None:
        """The error that the whole query gives: not one that depends on how it was spread."""
        if not isinstance(self.plan, Together):
            pa = arrow()
            alone = [*self._alone().task([pa.record_batch([pa.array([0])], ["id"])])]
            failed = pa.Table.from_batches(alone)
            failed = failed.filter(pa.compute.equal(failed["part"], FAILED))
        made, told_again = pickle.loads(failed["value"][0].as_py())
        raise made(*told_again)

    def _sorted(self, plan: Spread, found: Any) -> Any:
        pa = arrow()
        pc = pa.compute
        keyed = found.filter(pc.is_valid(found["value"]))
        items = found.filter(pc.is_null(found["value"])).select(_COLUMNS)
        sent = [pickle.loads(one) for one in keyed["value"].to_pylist()]
        if not sent:
            return items
        shape = plan.division.parts[0].shape
        assert isinstance(shape, Sorted)
        order = deep(partial(sorted_places, shape, [keys for keys, _ in sent]))
        lengths = np.concatenate([counts for _, counts in sent])
        first = np.cumsum(lengths) - lengths
        at = np.repeat(first[order] - np.cumsum(lengths[order]) + lengths[order], lengths[order])
        taken = items.take(pa.array(at + np.arange(len(at))))
        numbers = pa.array(np.arange(len(at), dtype=np.int64))
        return taken.set_column(0, "place", pa.array(np.zeros(len(at), np.int64))).set_column(
            1, "ordinal", numbers
        )

    def _followed(self, plan: Spread, found: Any) -> Any:
        """What follows from the values of parts."""
        pa = arrow()
        program = replace(self._program, body=plan.division.rest)
        asking = Asking(
            program, self._values(), self.options, self.sources.when(), self.sources.current
        )
        context = Context(*deep(partial(asking.prepared, None)))

        def ask() -> Any:
            bound: dict[Any, Any] = {}
            for number, part in enumerate(plan.division.parts):
                mine = found.filter(pa.compute.equal(found["part"], number))["value"].to_pylist()
                value = combined(part, mine, context)
                bound[part.variable.number] = Column(value, np.array([0, len(value)], np.int64))
            frame = Frame(context, 1, context.root, None, bound)
            return evaluate(context.program.body, frame).items

        items = deep(ask)
        batches = list(told(0, 0, context.store, items, self.form))
        if not batches:
            return found.slice(0, 0).select(_COLUMNS)
        return pa.Table.from_batches(batches).select(_COLUMNS)

    def _values(self) -> dict[str, Any]:
        """Inputs that are values of variables."""
        names = {one.local for one in self._program.variables if one.external}
        return {name: one for name, one in self.inputs.items() if name in names}

    def explained(self) -> str:
        """How the query is spread, and Spark's own plan."""
        work = self.work()
        plan = self.plan
        lines = [*work.words]
        if isinstance(plan, Spread):
            lines += [f"part {n}: {_shape(part)}" for n, part in enumerate(plan.division.parts)]
        spark_plan = work.found(self.spark)._jdf.queryExecution().simpleString()
        return "\n".join([*self.sources.notes, *lines, "", spark_plan.strip()])


def _tasks(count: int) -> str:
    return "1 task," if count == 1 else f"{count} tasks, each"


def _shape(part: Any) -> str:
    kind = type(part.shape).__name__.lower()
    return kind if part.fold == "items" else f"{kind}, folded by {part.fold}"
