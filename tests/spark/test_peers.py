"""A worker that has the operators takes batches in for others; without it nothing is lost."""

from __future__ import annotations

import copy
import multiprocessing
import os
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.test_overtaken import KEY, Counting, Store, Worker, given_to
from xstreamcast.spark.watching import peers, state
from xstreamcast.spark.watching.state import Keeping

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork") or not os.path.exists("/proc/net/unix"),
    reason="abstract addresses are Linux's",
)


class Other:
    """A worker of its own, that is given batches with the store as it is then."""

    def __init__(self, stage: Counting) -> None:
        here, there = multiprocessing.Pipe()
        self._pipe = here
        made = multiprocessing.get_context("fork").Process(target=_works, args=(stage, there))
        made.start()
        self.process = made

    def given(self, store: Store, batch: int) -> tuple[Any, Store]:
        self._pipe.send((store, batch))
        told: tuple[Any, Store] = self._pipe.recv()
        return told

    def taken(self) -> int:
        """How many batches it has taken in, for whomever."""
        self._pipe.send(None)
        return int(self._pipe.recv())

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


def _works(stage: Counting, pipe: Connection) -> None:
    worker: Worker = {}
    peers._LISTENING.__init__()  # type: ignore[misc]  # a thread of the parent is not here
    while True:
        told = pipe.recv()
        if told is None:
            pipe.send(sum(one.stage.taken for one in worker.values()))
            continue
        store, batch = told
        pipe.send((given_to(stage, worker, store, batch), store))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    monkeypatch.setattr(state, "is_possible", lambda: True)
    monkeypatch.setattr(state, "_KEPT", state._KEPT)
    made = Counting(Keeping(least=1000))
    yield made
    peers.give_up((made.run, made.name, *KEY))


@pytest.fixture
def other(stage: Counting) -> Iterator[Other]:
    made = Other(stage)
    yield made
    made.kill()


def test_who_has_the_operators_takes_batches_in(stage: Counting, other: Other) -> None:
    worker = Worker()
    _, store = other.given(Store(), 0)
    assert given_to(stage, worker, store, 1) == [0, 1]
    assert given_to(stage, worker, store, 2) == [0, 1, 2]
    assert (stage.taken, other.taken()) == (0, 3)
    told, store = other.given(store, 3)  # it has them, so it asks nobody
    assert told == [0, 1, 2, 3]


def test_who_was_killed_is_not_missed(stage: Counting, other: Other) -> None:
    worker = Worker()
    _, store = other.given(Store(), 0)
    assert given_to(stage, worker, store, 1) == [0, 1]
    other.kill()
    assert given_to(stage, worker, store, 2) == [0, 1, 2]
    assert stage.taken == 3


def test_a_batch_that_is_tried_again_counts_once(stage: Counting, other: Other) -> None:
    worker = Worker()
    _, store = other.given(Store(), 0)
    failed = copy.deepcopy(store)
    assert given_to(stage, worker, failed, 1) == [0, 1]  # and the task fails: not in the store
    assert given_to(stage, worker, store, 2) == [0, 2]
    assert given_to(stage, worker, store, 3) == [0, 2, 3]
    told, store = other.given(store, 4)
    assert told == [0, 2, 3, 4]


def test_snapshots_of_others_are_written(stage: Counting, other: Other) -> None:
    stage.keeping = Keeping(least=4)
    worker = Worker()
    _, store = other.given(Store(), 0)
    for number in range(1, 30):
        assert given_to(stage, worker, store, number) == [*range(number + 1)]
    other.kill()
    assert given_to(stage, worker, store, 30) == [*range(31)]
    assert stage.taken < 31  # the snapshot had some of them


def test_who_is_busy_leaves_it_to_others(stage: Counting, other: Other) -> None:
    """Both at once in one process would gain nothing."""
    worker = Worker()
    store = Store()
    given_to(stage, worker, store, 0)
    with state._WORKING:
        told, store = other.given(store, 1)
    assert told == [0, 1]
    assert (stage.taken, other.taken()) == (1, 2)
