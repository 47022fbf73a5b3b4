"""Whichever worker gets a batch, and however often: its operators are where the store says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.spark.watching import state
from xstreamcast.spark.watching.state import Keeping, Kept, Stage

Worker = dict[tuple[Any, ...], Kept]
KEY = ("query",)


@dataclass
class Store:
    """Spark's store for one key: values by number."""

    values: dict[Any, Any] = field(default_factory=dict)

    @property
    def batches(self) -> list[int]:
        return [number for (number,) in self.values if number >= 0]


@dataclass
class Values:
    store: Store

    def getValue(self, key: Any) -> Any:
        return self.store.values.get(key)

    def updateValue(self, key: Any, value: Any) -> None:
        self.store.values[key] = value

    def removeKey(self, key: Any) -> None:
        del self.store.values[key]


@dataclass
class Handle:
    """What Spark hands a stage."""

    store: Store

    def getMapState(self, name: str, key: str, value: str) -> Values:
        return Values(self.store)


class Counting(Stage):
    """Keeps all numbers that came; tells them, and counts how many it had to take in."""

    taken = 0
    reports = False

    def make(self, key: Any) -> list[int]:
        return []

    def read(self, rows: Iterator[Any]) -> int:
        return next(rows)  # type: ignore[no-any-return]

    def logged(self, batch: int) -> bytes:
        return b"%d" % batch

    def unlogged(self, raw: bytes) -> int:
        return int(raw)

    def take(self, host: list[int], batch: int, now: int | None) -> list[int]:
        self.taken += 1
        host.append(batch)
        return list(host)

    def rows(self, key: Any, made: list[int]) -> list[int]:
        return made

    def freeze(self, host: list[int]) -> bytes:
        return json.dumps(host).encode()

    def thaw(self, host: list[int], raw: bytes) -> None:
        host[:] = json.loads(raw)


def given_to(stage: Stage, worker: Worker, store: Store, batch: int) -> Any:
    stage.init(Handle(store))  # type: ignore[arg-type]
    state._KEPT = worker
    (told,) = stage.handleInputRows(KEY, iter([batch]), None)
    return told


@pytest.fixture(autouse=True)
def _one_worker_here() -> Iterator[None]:
    known = state._KEPT
    yield
    state._KEPT = known


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=40),
    st.integers(1, 12),
)
def test_no_batch_is_missed_and_none_counts_twice(
    tries: list[tuple[int, bool]], least: int
) -> None:
    """Each try is one of three workers; a try that fails leaves the store as it was."""
    stage, store = Counting(Keeping(least=least)), Store()
    workers: list[Worker] = [{}, {}, {}]
    done: list[int] = []
    for number, (worker, counts) in enumerate(tries):
        tried = copy.deepcopy(store)
        # what it holds in memory is not undone when the store is
        assert given_to(stage, workers[worker], tried, number) == [*done, number]
        if counts:
            store, done = tried, [*done, number]
    assert len(store.batches) <= len(done)


def test_a_worker_that_was_overtaken_takes_in_only_what_it_missed() -> None:
    stage, store = Counting(Keeping(least=10_000)), Store()
    one, other = Worker(), Worker()
    for number in range(20):
        given_to(stage, one, store, number)
    given_to(stage, other, store, 20)  # knows nothing: all of the log
    assert stage.taken == 20 + 21
    given_to(stage, one, store, 21)
    assert stage.taken == 41 + 2
    given_to(stage, one, store, 22)
    assert stage.taken == 43 + 1


def test_batches_that_two_snapshots_have_are_let_go() -> None:
    stage, store = Counting(Keeping(least=8)), Store()
    worker = Worker()
    for number in range(1000):
        given_to(stage, worker, store, number)
    assert len(store.batches) < 900  # 4 bytes each: a snapshot for as many as the last one took
