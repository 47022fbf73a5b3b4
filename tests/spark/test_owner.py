"""The process that owns the operators of a partition: found again, lost, and left half way."""

from __future__ import annotations

import copy
import os
import signal
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from pyspark import TaskContext

from tests.spark.test_overtaken import KEY, Counting, Handle, Store
from xstreamcast.errors import Error, error
from xstreamcast.spark.watching.owner import Here, Lost, Owned, reached
from xstreamcast.spark.watching.state import Keeping


class Told(Counting):
    """Tells which process took a batch in, and how many that process had to take in."""

    def make(self, key: Any) -> list[int]:
        return [0]

    def take(self, host: list[int], batch: int, now: int | None) -> list[int]:
        if batch == 13:
            raise error("XSCU0005", "no thirteen")
        if batch == 14:
            raise KeyError("a mistake of ours")
        host[0] += 1
        host.append(batch)
        return [os.getpid(), *host]


class Task:
    """What Spark says of a task."""

    def partitionId(self) -> int:
        return 3


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setattr(TaskContext, "get", Task)
    return Told(Keeping(least=40, home=uuid.uuid4().hex))


def given_to(stage: Told, store: Store, batch: int) -> Any:
    """A batch to a worker that has nothing but what Spark gave it."""
    worker = copy.copy(stage)
    worker.init(Handle(store))  # type: ignore[arg-type]
    try:
        (told,) = worker.handleInputRows(KEY, iter([batch]), None)
    finally:
        worker.close()
    return told


def test_one_process_takes_all_batches_in_once(stage: Told) -> None:
    store, owners = Store(), set()
    for number in range(12):
        owner, taken, *batches = given_to(stage, store, number)
        owners.add(owner)
        assert batches == list(range(number + 1))
        assert taken == number + 1  # none was taken in twice
    assert len(owners) == 1
    assert os.getpid() not in owners


def test_a_lost_owner_is_made_anew_from_the_log(stage: Told) -> None:
    store, owners = Store(), set()
    for number in range(12):
        owner, *_ = told = given_to(stage, store, number)
        assert told[2:] == list(range(number + 1))
        owners.add(owner)
        if number % 5 == 4:
            os.kill(owner, signal.SIGKILL)
            os.waitpid(owner, 0)
    assert len(owners) == 3


def test_what_a_task_left_half_way_is_not_gone_on_from(stage: Told) -> None:
    store = Store()
    given_to(stage, store, 0)
    with reached(stage.keeping.home, 3) as begun:
        half = Owned(stage, (stage.run, stage.name, *KEY), KEY, begun)
        assert half.begin() is not None
        half.take(99, None)
    assert given_to(stage, store, 1)[2:] == [0, 1]


def test_errors_come_back_as_they_were_and_mistakes_with_where(stage: Told) -> None:
    store = Store()
    given_to(stage, store, 0)
    with pytest.raises(Error, match="no thirteen"):
        given_to(stage, store, 13)
    with pytest.raises(RuntimeError, match=r"(?s)in take.*a mistake of ours"):
        given_to(stage, store, 14)
    assert given_to(stage, store, 1)[2:] == [0, 1]


def test_who_has_gone_is_missed(stage: Told) -> None:
    with reached(stage.keeping.home, 3) as begun:
        place = Owned(stage, ("x",), KEY, begun)
        place.make(None)
        (_, (owner, *_)) = place.take(1, None)
        os.kill(owner, signal.SIGKILL)
        os.waitpid(owner, 0)
        with pytest.raises(Lost):
            place.take(2, None)
        assert place.freeze() is None
        place.keep("token", 1)


def test_an_owner_ends_when_nobody_comes(stage: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xstreamcast.spark.watching.owner._IDLE", 0.2)
    monkeypatch.setattr("xstreamcast.spark.watching.owner._LOOK", 0.1)
    owner, *_ = given_to(stage, Store(), 0)
    until = time.monotonic() + 30
    while os.waitpid(owner, os.WNOHANG) == (0, 0):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert not Path(f"/proc/{owner}/fd").exists()


def test_a_stage_that_reads_the_store_stays_in_the_worker(stage: Told) -> None:
    stage.has_owner = False
    assert isinstance(stage._place(KEY), Here)
