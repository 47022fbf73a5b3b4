"""A query in partitions, in Spark's stateful processing: a step for each stage.

A router is before them where fragments do not say by themselves which unit they belong to.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.partitions.direct import DirectUnits, Pack, PartArrived
from xstreamcast.edges.partitions.later import Later, StagePlace
from xstreamcast.edges.partitions.messages import (
    ArrivedPacks,
    Failed,
    framed,
    message_bytes,
    message_of,
    unframed,
)
from xstreamcast.edges.partitions.route import Router
from xstreamcast.edges.partitions.units import UnitPartition
from xstreamcast.errors import Error
from xstreamcast.model.update import RankedAnswer
from xstreamcast.spark.watching.emitted import (
    CHANGES,
    FAILED,
    UPDATES,
    change_rows,
    failed_side,
    ranked_updates,
    side_rows,
    update_rows,
)
from xstreamcast.spark.watching.progress import ANSWER, ROUTER, observed, stage_name
from xstreamcast.spark.watching.state import Hosting, Keeping, Stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from xstreamcast.spark.watching.steps import StepPlan

_MESSAGES: Final = "query string, slot int, step int, message binary"
Addressed = tuple[int, int, bytes]  # a slot, a step, a message


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the places of queries are: slots of their partitions, and how many steps there are."""

    slots: Mapping[str, list[int]]
    steps: int
    routed: bool = True
    updates: bool = False  # in place of changes
    emits: bool = False  # where items are made: nothing puts them in order
    keyed: frozenset[str] = frozenset()  # streams whose fragments name their units

    @property
    def final(self) -> int:
        """The step that emits the answer."""
        return self.steps - 2 if self.emits else self.steps - 1

    @property
    def made_for(self) -> str:
        """What a checkpoint belongs to."""
        where = "behind a router" if self.routed else "that read fragments by unit"
        where += " and emit updates" if self.updates else ""
        return f"in {max(map(len, self.slots.values()))} partitions and {self.steps} stages {where}"


class Routing(Hosting):
    """Rows of a query's streams → a message for each partition."""

    can_be_asked = False  # it reads its log again, which only the worker of a task can

    def __init__(
        self, requests: dict[str, bytes], wall: bool, layout: Layout, keeping: Keeping
    ) -> None:
        super().__init__(requests, wall, False, keeping)
        self.layout, self.made_for = layout, layout.made_for

    def make(self, key: Any) -> Any:
        query = str(key[0])
        return Router(pickle.loads(self.requests[query]), len(self.layout.slots[query]))

    def take(self, host: Any, batch: ArrivedPacks, now: int | None) -> Any:
        host.earlier = self.earlier
        return {number: message_bytes(one) for number, one in host.take(batch, now).items()}

    def keeps_batches(self, host: Any) -> bool:
        """Until the query is in one place, where all that arrived is."""
        return host.why is None

    def changes_in(self, made: Any) -> int:
        return len(made)

    def rows(self, key: Any, made: Any) -> Any:
        slots = self.layout.slots[str(key[0])]
        return _frame(str(key[0]), [(slots[number], 0, one) for number, one in made.items()])

    def failed(self, key: Any, why: Error, host: Any) -> Any:
        if self.layout.emits:
            raise why
        failed = message_bytes(Failed(host.turn, (-1, ()), why))
        return _frame(str(key[0]), [(self.layout.slots[str(key[0])][0], 0, failed)])


class _Hearing(Stage):
    """A stage that is handed messages: its own, and those that it only passes on."""

    def __init__(
        self, requests: dict[str, bytes], layout: Layout, step: int, keeping: Keeping
    ) -> None:
        super().__init__(keeping, layout.made_for)
        self.requests, self.layout, self.step = requests, layout, step

    @property
    def name(self) -> str:
        return f"{type(self).__name__} {self.step}"

    def read(self, rows: Iterator[Any]) -> list[Addressed]:
        return [
            (int(slot), int(step), bytes(one))
            for part in rows
            for slot, step, one in zip(part["slot"], part["step"], part["message"], strict=True)
        ]

    def logged(self, batch: list[Addressed]) -> bytes:
        return framed([raw for _, step, raw in batch if step == self.step])

    def unlogged(self, raw: bytes) -> list[Addressed]:
        return [(0, self.step, one) for one in unframed(raw)]

    def carried(self, batch: list[Addressed], logged: bytes) -> list[Addressed]:
        return batch  # with what is only passed on

    def uncarried(self, given: list[Addressed]) -> list[Addressed]:
        return given

    def mine(self, host: Any, batch: list[Addressed]) -> tuple[list[Any], list[Addressed]]:
        """The messages for this step, and those for later ones."""
        mine = [message_of(raw, host.names) for _, step, raw in batch if step == self.step]
        return mine, [one for one in batch if one[1] != self.step]

    @property
    def is_final(self) -> bool:
        """Whether this emits the answer, and hands nothing on."""
        return self.step == self.layout.final

    def rows(self, key: Any, made: list[Any]) -> Any:
        query = str(key[0])
        return update_rows(query, made) if self.is_final else _frame(query, _told(self, key, made))

    def handed(self, host: Any, made: list[Any]) -> list[Any]:
        """What is sent to the next stage; or, if there is none, what was emitted."""
        updates, host.updates = host.updates, []
        if self.is_final:
            return list(updates)
        return [one for one in made if one[0][0] <= self.layout.final]

    def addressed(self, key: Any, to: tuple[int, int], raw: bytes) -> Addressed:
        step, number = to
        return self.layout.slots[str(key[0])][number], step, raw

    def failed(self, key: Any, why: Error, host: Any) -> Any:
        if self.layout.emits:
            raise why
        raw = message_bytes(Failed(host.turn, host.order, why))
        return _frame(str(key[0]), [self.addressed(key, (self.layout.steps - 1, 0), raw)])


class FirstStage(_Hearing):
    """Messages of the router → rows of the units of a partition."""

    def make(self, key: Any) -> UnitPartition:
        slots = self.layout.slots[str(key[0])]
        request = pickle.loads(self.requests[str(key[0])])
        number, layout = slots.index(int(key[1])), self.layout
        return UnitPartition(request, number, len(slots), layout.steps, layout.emits)

    def take(self, host: UnitPartition, batch: list[Addressed], now: int | None) -> list[Any]:
        given, on = self.mine(host, batch)
        out: list[Any] = [((step, None), slot, raw) for slot, step, raw in on]
        for one in sorted(given, key=lambda one: int(one.turn)):
            host.turn = one.turn
            if isinstance(one, Failed) and self.layout.emits:
                raise one.why
            if isinstance(one, Failed):
                out.append(((self.layout.steps - 1, 0), None, message_bytes(one)))
                continue
            for to, handed in host.take(one):
                out.append((to, None, message_bytes(handed, host.names)))
        return self.handed(host, out)


class DirectStage(_Hearing):
    """Packs of the fragments of a partition → rows of its units; no router is before it."""

    def make(self, key: Any) -> DirectUnits:
        slots = self.layout.slots[str(key[0])]
        request = pickle.loads(self.requests[str(key[0])])
        number, layout = slots.index(int(key[1])), self.layout
        keyed = layout.keyed & {str(name) for name in request.kinds}
        return DirectUnits(request, number, len(slots), layout.steps, layout.emits, keyed)

    def read(self, rows: Iterator[Any]) -> Any:
        packs = list[Pack]()
        for one in rows:
            columns = (one[name] for name in Pack._fields)
            for stream, part, raw, newest, zoned, links in zip(*columns, strict=True):
                said = None if links is None else bytes(links)
                made = Pack(str(stream), int(part), bytes(raw), int(newest), bool(zoned), said)
                packs.append(made)
        return PartArrived(packs)

    def logged(self, batch: Any) -> bytes:
        return bytes(batch.blob)

    def unlogged(self, raw: bytes) -> Any:
        return PartArrived.of(raw)

    def carried(self, batch: Any, logged: bytes) -> Any:
        return logged

    def uncarried(self, given: Any) -> Any:
        return self.unlogged(given)

    def take(self, host: DirectUnits, batch: Any, now: int | None) -> list[Any]:
        made = host.take_batch(batch, now)
        out = [(to, None, message_bytes(one, host.names)) for to, one in made]
        return self.handed(host, out)


class LaterStage(_Hearing):
    """Rows that earlier stages made → rows for later ones."""

    def make(self, key: Any) -> Later:
        slots, steps = self.layout.slots[str(key[0])], self.layout.steps
        spot = StagePlace(self.step, steps, slots.index(int(key[1])), len(slots), self.layout.emits)
        return Later(pickle.loads(self.requests[str(key[0])]), spot)

    def take(self, host: Later, batch: list[Addressed], now: int | None) -> list[Any]:
        given, on = self.mine(host, batch)
        out: list[Any] = [((step, None), slot, raw) for slot, step, raw in on]
        _, handed = host.take(given)
        out += [(to, None, message_bytes(one, host.names)) for to, one in handed]
        return self.handed(host, out)


class LastStage(_Hearing):
    """What earlier stages made → changes of the answer."""

    def __init__(
        self, requests: dict[str, bytes], layout: Layout, keeping: Keeping, raises: bool
    ) -> None:
        super().__init__(requests, layout, layout.steps - 1, keeping)
        self.raises = raises

    def make(self, key: Any) -> Later:
        partitions = len(self.layout.slots[str(key[0])])
        spot = StagePlace(self.step, self.layout.steps, 0, partitions)
        made = Later(pickle.loads(self.requests[str(key[0])]), spot)
        made.ranked = RankedAnswer() if self.layout.updates else None
        return made

    def take(self, host: Later, batch: list[Addressed], now: int | None) -> Any:
        given, _ = self.mine(host, batch)
        changes, _ = host.take(given)
        if host.ranked is not None:
            return ranked_updates(host.ranked, changes)
        refused, host.refused = host.refused, []
        said = {what: count for what, count in host.said.items() if count}
        return changes, side_rows(refused, said if host.ended else None)

    def changes_in(self, made: Any) -> int:
        return len(made if self.layout.updates else made[0])

    def rows(self, key: Any, made: Any) -> Any:
        if self.layout.updates:
            return update_rows(str(key[0]), made)
        return change_rows(str(key[0]), *made)

    def failed(self, key: Any, why: Error, host: Any) -> Any:
        if self.raises:
            raise why
        return change_rows(str(key[0]), [], [failed_side(why)])


def _told(stage: _Hearing, key: Any, made: list[Any]) -> list[Addressed]:
    """Messages with their slots; those that are passed on have theirs."""
    return [
        (slot, to[0], raw) if slot is not None else stage.addressed(key, to, raw)
        for to, slot, raw in made
    ]


def _frame(query: str, sent: list[Addressed]) -> Any:
    import pandas  # type: ignore[import-untyped]

    made = pandas.DataFrame({"message": [raw for _, _, raw in sent]}, dtype=object)
    made.insert(0, "query", query)
    made.insert(1, "slot", [slot for slot, _, _ in sent])
    made.insert(2, "step", [step for _, step, _ in sent])
    return made.astype({"slot": "int32", "step": "int32"})


def spread_changes(
    rows: DataFrame, written: dict[str, bytes], wall: bool, raises: bool, partitions: int,
    keeping: Keeping, plan: StepPlan, updates: bool = False,
) -> DataFrame:  # fmt: skip
    """The changes of queries over rows that have a column `query`; or updates of their answers."""
    layout = layout_of(rows.sparkSession, list(written), partitions, plan, updates)
    first, *stages = stages_in(written, layout, wall, raises, keeping)
    form = UPDATES if updates else CHANGES
    mode = "processingTime" if wall else "none"
    if isinstance(first, DirectStage):
        assert plan.spread is not None
        grouped = _addressed(rows, layout, plan.spread).groupBy("query", "slot")
        made = form if first.is_final else _MESSAGES
        routed = grouped.transformWithStateInPandas(first, made, "append", mode)
        routed = observed(routed, stage_name(0))
    else:
        grouped = rows.groupBy("query")
        routed = grouped.transformWithStateInPandas(first, _MESSAGES, "append", mode)
        routed = observed(routed, ROUTER)
    for stage in stages if layout.emits else stages[:-1]:
        assert isinstance(stage, _Hearing)
        grouped = routed.groupBy("query", "slot")
        made = form if stage.is_final else _MESSAGES
        routed = grouped.transformWithStateInPandas(stage, made, "append", "none")
        routed = observed(routed, stage_name(stage.step))
    if layout.emits:
        return routed
    changes = routed.groupBy("query").transformWithStateInPandas(stages[-1], form, "append", "none")
    return observed(changes, ANSWER)


def _addressed(rows: DataFrame, layout: Layout, spread: Mapping[str, frozenset[str]]) -> DataFrame:
    """Packs with the slots that they go to: that of their partition, or all of the query's."""
    from pyspark.sql import functions as f

    places: Any = f.lit(None)
    for query, slots in layout.slots.items():
        everyone = f.array(*map(f.lit, slots))
        own = f.array(f.element_at(everyone, f.col("part") + 1))
        is_own = (f.col("part") >= 0) & f.col("stream").isin(*sorted(spread[query]))
        mine = f.when(is_own, own).otherwise(everyone)
        places = f.when(f.col("query") == query, mine).otherwise(places)
    return rows.withColumn("slot", f.explode(places))


def layout_of(
    spark: SparkSession, queries: list[str], partitions: int, plan: StepPlan, updates: bool = False
) -> Layout:
    """Where the places of queries are."""
    slots, emits = _slots(spark, queries, partitions), updates and plan.emits
    keyed = frozenset(plan.inside)
    return Layout(slots, plan.steps, plan.spread is None, updates, emits, keyed)


def stages_in(
    written: dict[str, bytes], layout: Layout, wall: bool, raises: bool, keeping: Keeping
) -> list[Stage]:
    """The stages in order; the last emits changes, where items are not emitted as they are made."""
    made: list[Stage] = []
    if layout.routed:
        made = [Routing(written, wall, layout, keeping), FirstStage(written, layout, 0, keeping)]
    else:
        made = [DirectStage(written, layout, 0, keeping)]
        made[0].wall = wall
    made += [LaterStage(written, layout, step, keeping) for step in range(1, layout.steps - 1)]
    return made if layout.emits else [*made, LastStage(written, layout, keeping, raises)]


def _slots(spark: SparkSession, queries: list[str], count: int) -> dict[str, list[int]]:
    """Numbers for the partitions of each query, such that Spark has them in different ones."""
    from pyspark.sql import functions as f

    partitions = max(count, len(queries))
    tried = spark.range(16 * partitions).select(
        f.explode(f.array(*map(f.lit, queries))).alias("query"),
        f.col("id").cast("int").alias("slot"),
    )
    place = f.pmod(f.hash("query", "slot"), f.lit(partitions)).alias("place")
    found: dict[str, dict[int, list[int]]] = {query: {} for query in queries}
    for query, slot, at in tried.select("query", "slot", place).orderBy("slot").collect():
        found[query].setdefault(at, []).append(slot)
    return {query: _one_each(found[query], n, count) for n, query in enumerate(queries)}


def _one_each(found: dict[int, list[int]], first: int, count: int) -> list[int]:
    places = sorted(found)
    return [found[places[(first + n) % len(places)]].pop(0) for n in range(count)]


__all__ = ["FAILED", "FirstStage", "LastStage", "LaterStage", "Routing", "spread_changes"]
