"""A checkpoint to another number of partitions: its state is read, moved, and written as seeds.

Only Spark writes its state stores. So it starts with empty ones, with the offsets that it
had come to as the beginning of its sources, and each place begins with the state in its seed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.partitions.moving import Unmoved, move, unmoved
from xstreamcast.edges.partitions.places import QueryPlaces
from xstreamcast.edges.partitions.route import Router, why_at_all
from xstreamcast.errors import Error
from xstreamcast.spark.watching.checkpoint import write_partitions
from xstreamcast.spark.watching.ending import SPARK
from xstreamcast.spark.watching.seeds import (
    Moved,
    Seed,
    finish_move,
    moved_of,
    seeds_of,
    write_moved,
)
from xstreamcast.spark.watching.spread import (
    DirectStage,
    FirstStage,
    LastStage,
    LaterStage,
    Routing,
    layout_of,
    stages_in,
)
from xstreamcast.spark.watching.state import Hosting, Keeping, Stage, pickled
from xstreamcast.spark.watching.store import KeyValues, StateLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from xstreamcast.edges.partitions.host import WatchRequest
    from xstreamcast.spark.watching.steps import StepPlan

_HEAD: Final = 2  # lines of a file of offsets before those of sources
Name = tuple[str, tuple[Any, ...]]  # a stage, and the key of one of its places


def last_batch(folder: Path, kind: str) -> int:
    """The last batch that Spark has begun (`offsets`) or finished (`commits`); -1: none."""
    there = folder / SPARK / kind
    names = os.listdir(there) if there.exists() else []
    return max((int(name) for name in names if name.isdigit()), default=-1)


class _Stored(KeyValues):
    """What a store had for one key, read from a checkpoint."""

    def __init__(self, values: Mapping[int, Any]) -> None:
        self._values = _Values(values)


class _Values:
    def __init__(self, values: Mapping[int, Any]) -> None:
        self._of = values

    def getValue(self, key: tuple[int]) -> Any:
        return self._of.get(key[0])


def stored(spark: SparkSession, folder: Path, batch: int) -> dict[Name, KeyValues]:
    """The state of all places as it was behind a batch."""
    path = f"file://{folder / SPARK}"
    known = spark.read.format("state-metadata").load(path).select("operatorId").distinct()
    found: dict[Name, KeyValues] = {}
    for (operator,) in sorted(known.collect()):
        reader = spark.read.format("statestore").option("operatorId", operator)
        rows = reader.option("stateVarName", "kept").option("batchId", batch).load(path)
        found |= _places_in(rows.toLocalIterator())
    return found


def _places_in(rows: Iterator[Any]) -> Iterator[tuple[Name, KeyValues]]:
    places: dict[tuple[Any, ...], dict[int, Any]] = {}
    for row in rows:
        places.setdefault(tuple(row["key"]), {})[row["user_map_key"][0]] = row["user_map_value"]
    for key, values in places.items():
        store = _Stored(values)
        log = store.log()
        if log is not None:
            yield (log.stage, key), store


@dataclass(frozen=True, slots=True)
class Partitioned:
    """Queries in some number of partitions: their stages, and where the places of these are."""

    stages: Sequence[Stage]
    slots: Mapping[str, list[int]]  # by query; none in one place

    @staticmethod
    def of(
        spark: SparkSession, queries: dict[str, bytes], wall: bool, partitions: int, plan: StepPlan,
        keeping: Keeping,
    ) -> Partitioned:  # fmt: skip
        """As the runner has them."""
        if partitions == 1:
            return Partitioned([Hosting(queries, wall, False, keeping)], {})
        layout = layout_of(spark, list(queries), partitions, plan)
        return Partitioned(stages_in(queries, layout, wall, False, keeping), layout.slots)

    def keys(self, stage: Stage, query: str) -> list[tuple[Any, ...]]:
        """Of the places of a stage, in the order of partitions."""
        if isinstance(stage, Hosting | LastStage):
            return [(query,)]
        return [(query, slot) for slot in self.slots[query]]

    def places(self, query: str, known: Mapping[Name, KeyValues]) -> QueryPlaces:
        """All places of a query, with the state that is known of them."""
        found = QueryPlaces()
        for stage in self.stages:
            made = [_revived(stage, key, known) for key in self.keys(stage, query)]
            match stage:
                case Routing():
                    (found.router,) = made
                    found.log = _logged(stage, (query,), found.router)
                case Hosting():
                    (found.host,) = made
                case DirectStage() | FirstStage():
                    found.units = made
                case LaterStage() | LastStage():
                    found.later |= {(stage.step, at): one for at, one in enumerate(made)}
        return found

    def seeds(self, query: str, places: QueryPlaces) -> Iterator[tuple[Name, Seed]]:
        """What places begin with elsewhere."""
        for stage in self.stages:
            for at, key in enumerate(self.keys(stage, query)):
                place = _place(stage, places, at)
                raw = stage._frozen(place)
                if raw is None:
                    raise Unmoved("it has state that cannot be written")
                batches = places.log if stage.keeps_batches(place) else ()
                yield (stage.name, key), Seed(raw, batches)


def _place(stage: Stage, places: QueryPlaces, at: int) -> Any:
    match stage:
        case Routing():
            return places.router
        case Hosting():
            return places.host
        case DirectStage() | FirstStage():
            return places.units[at]
        case LaterStage() | LastStage():
            return places.later[stage.step, at]
    raise TypeError(stage)


def _revived(stage: Stage, key: tuple[Any, ...], known: Mapping[Name, KeyValues]) -> Any:
    """A place as it was; one that nothing has come to is new."""
    store = known.get((stage.name, key), _Stored({}))
    stage._store, stage._key = store, key
    return stage._host(key, _log(stage, key, store))


def _log(stage: Stage, key: tuple[Any, ...], store: KeyValues) -> StateLog | None:
    """What a store has, or what was moved to it and is not there yet."""
    return store.log() or stage._seeded(key)


def _logged(stage: Stage, key: tuple[Any, ...], router: Router) -> list[tuple[bytes, int | None]]:
    """All that a router was handed, if it may need it."""
    log = _log(stage, key, stage._store)
    if log is None or not stage.keeps_batches(router):
        return []
    return [stage.earlier(number) for number in range(log.number)]


@dataclass(frozen=True, slots=True)
class Moving:
    """Queries that move from one number of partitions to another."""

    spark: SparkSession
    folder: Path
    queries: dict[str, bytes]
    wall: bool
    plan: StepPlan
    inputs: Sequence[str | None]  # in the order in which Spark reads them

    def move(self, before: int, now: int) -> None:
        """Write what the checkpoint continues from; nothing of it counts if this fails."""
        batch, moved = last_batch(self.folder, "commits"), moved_of(self.folder)
        if batch < 0 and moved == Moved():
            write_moved(self.folder, moved, now, {})
            return
        try:
            seeds = dict(self._seeds(before, now, batch))
        except (Unmoved, Error) as why:
            raise unmoved(why, before, now) from None
        since = moved.since if batch < 0 else self._reached(batch)
        write_moved(self.folder, Moved(moved.base + batch + 1, since), now, seeds)

    def _seeds(self, before: int, now: int, batch: int) -> Iterator[tuple[Name, Seed]]:
        old = self._partitioned(before, Keeping(seeds=seeds_of(self.folder)))
        new = self._partitioned(now, Keeping())
        known = stored(self.spark, self.folder, batch) if batch >= 0 else {}
        for query in self.queries:
            places, made = old.places(query, known), new.places(query, {})
            made.parting = self.plan.parting(now)
            move(places, made, made.parting)
            yield from new.seeds(query, made)

    def _partitioned(self, partitions: int, keeping: Keeping) -> Partitioned:
        given = self.queries, self.wall, partitions, self.plan, keeping
        return Partitioned.of(self.spark, *given)

    def _reached(self, batch: int) -> dict[str, str]:
        """The offset of each source behind a batch."""
        lines = (self.folder / SPARK / "offsets" / str(batch)).read_text().splitlines()[_HEAD:]
        offsets = dict(zip(self.inputs, lines, strict=False))
        return {str(name): one for name, one in offsets.items() if one != "-" and json.loads(one)}


def move_checkpoint(
    spark: SparkSession, folder: Path, queries: Mapping[str, WatchRequest], plan: StepPlan,
    inputs: Mapping[str | None, Any], before: int, now: int,
) -> None:  # fmt: skip
    """Move the state of queries; where all of them are in one place, none has to move."""
    if all(why_at_all(one) is not None for one in queries.values()):
        write_partitions(folder, now)
        return
    frames = [str(name) for name, one in inputs.items() if not callable(one)]
    if frames:
        why = f"{frames[0]} is a DataFrame, and only Spark knows how far it was read"
        raise unmoved(Unmoved(why), before, now)
    written = {name: pickled(one) for name, one in queries.items()}
    wall = any(one.wall for one in queries.values())
    order = sorted(inputs, key=lambda name: name or "")
    Moving(spark, folder, written, wall, plan, order).move(before, now)
    finish_move(folder)
