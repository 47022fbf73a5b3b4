"""Killed at any moment and started again, a query on Spark has told each change once."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.spark.feeds import write_feed
from xstreamcast import query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.killing import Job
from xstreamcast.spark.watching.checkpoint import partitions_before
from xstreamcast.spark.watching.steps import StepPlan

pytestmark = pytest.mark.spark
QUERY = """for $a in stream("credit")//account
where sum($a/limit?[now]) > 4000 return <a no="{$a/@no}">{$a/limit?[now]/text()}</a>"""
MOST = 40  # fragments of a batch


GROUPS = """for $a in stream("credit")//account group by $k := string($a/limit?[now])
return <limit of="{$k}" accounts="{count($a)}">{max($a/xs:integer(@no))}</limit>"""
JOIN = """for $a in stream("credit")//account let $k := sum($a/limit?[now]) div 1000
for $b in stream("credit")//account where $b/@no = $k
return <m>{$a/@no, attribute to {$b/@no}}</m>"""
WINDOWS = """for tumbling window $w in stream("credit")//account?[now] start when true()
only end at $i when $i mod 5 = 0 return <five>{sum($w/limit/xs:integer(.))}</five>"""
DECLARED = """declare stream large := for $a in stream("credit")//account
  where sum($a/limit?[now]) > 4000 return <a no="{$a/@no}">{$a/limit?[now]/text()}</a>;
for $a in stream("large")/answer/a group by $k := string($a)
return <limit of="{$k}" accounts="{count($a)}"/>"""
SNAPSHOTS = ("--snapshot-every", "1")  # in each batch


def watching(feed: Path, folder: Path, *more: str, asked: str = QUERY) -> Job:
    checkpoint = folder / "checkpoint"
    words = ("watch", "-q", asked, "-i", f"credit={feed}", "--runner", "spark", *more)
    words += ("--checkpoint", str(checkpoint), "-o", str(folder / "told"))
    return Job((*words, "--max-per-batch", str(MOST)), checkpoint / "spark")


def told(folder: Path) -> list[Change]:
    return [Change.from_json(line) for line in (folder / "told").read_text().splitlines()]


def ticked(feed: Path, asked: str = QUERY) -> list[Change]:
    """What a query that was left alone tells, with the same batches."""
    from xstreamcast.edges.partitions.host import Host, WatchRequest
    from xstreamcast.edges.replay import Offset, Replay, split_rows
    from xstreamcast.edges.table.schema import arrow

    host = Host(
        WatchRequest(query(asked).programs, {"credit": "fragments"}), shallow=True
    )  # with the keys that partitions give
    replay, start, changes = Replay(str(feed), None, 2), Offset(), list[Change]()
    while (end := replay.advance(start, MOST)) != start:
        rows = [one for split in replay.plan(start, end) for one in split_rows("credit", split)]
        changes += host.take(arrow().Table.from_batches(rows), None)
        start = end
    return changes


def check(feed: Path, folder: Path, asked: str = QUERY, least: int = 11) -> None:
    changes = told(folder)
    assert changes == ticked(feed, asked)
    expected = list(query(asked).run(credit=feed).lines())
    assert Accumulated(changes).items() == expected
    assert len(expected) >= least


def test_killed_and_started_again(tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", 400)
    job = watching(feed, tmp_path)
    job.kill(2, 0.1)
    job.kill(5, 0.4)
    job.finish(hurt=((7, 0.1), (9, 0.2)))
    check(feed, tmp_path)
    assert job.begun() >= 11, "killed too late to show anything"


_KILLED = [(GROUPS, 5), (JOIN, 5), (WINDOWS, 11)]


@pytest.mark.parametrize(
    ("asked", "least", "more"),
    [(GROUPS, 5, SNAPSHOTS), (JOIN, 5, ()), (WINDOWS, 11, SNAPSHOTS)],
    ids=["groups", "join", "windows"],
)
def test_killed_in_partitions_of_what_is_exchanged(
    tmp_path: Path, asked: str, least: int, more: tuple[str, ...]
) -> None:
    feed = write_feed(tmp_path / "feed", 400, keyed=True)
    job = watching(feed, tmp_path, "--partitions", "2", *more, asked=asked)
    job.kill(3, 0.3)
    job.finish(hurt=((5, 0.1), (8, 0.4)))
    plan = StepPlan.of((tmp_path / "checkpoint" / "stages").read_text())
    assert plan.spread == {"query": frozenset({"credit"})}
    check(feed, tmp_path, asked, least)
    assert job.begun() >= 11, "killed too late to show anything"


@dataclass(frozen=True, slots=True)
class Moving(Job):
    """A command whose checkpoint moves to a number of partitions: batches count after that."""

    partitions: int = 0
    amid: bool = False  # or when the move has begun

    def begun(self) -> int:
        folder = self.checkpoint.parent
        if partitions_before(folder) == self.partitions:
            return max(Job.begun(self), 1)
        return int(self.amid and any(folder.glob("moved.*")))


def moving(feed: Path, folder: Path, partitions: int, asked: str, amid: bool = False) -> Moving:
    job = watching(feed, folder, "--partitions", str(partitions), asked=asked)
    return Moving(job.words, job.checkpoint, partitions=partitions, amid=amid)


@pytest.mark.parametrize("keyed", [True, False], ids=["direct", "routed"])
def test_killed_and_started_with_another_number_of_partitions(tmp_path: Path, keyed: bool) -> None:
    feed = write_feed(tmp_path / "feed", 400, keyed=keyed)
    moving(feed, tmp_path, 2, GROUPS).kill(3, 0.3)
    moving(feed, tmp_path, 3, GROUPS, amid=True).kill(1, 0.0)
    moving(feed, tmp_path, 3, GROUPS).kill(2, 0.2)
    moving(feed, tmp_path, 1, GROUPS).kill(2, 0.4)
    moving(feed, tmp_path, 2, GROUPS).finish(hurt=((2, 0.1),))
    check(feed, tmp_path, GROUPS, 5)


@pytest.mark.thorough
@pytest.mark.parametrize(("asked", "least"), _KILLED, ids=["groups", "join", "windows"])
def test_killed_and_moved_ten_times(tmp_path: Path, asked: str, least: int) -> None:
    dice = random.Random()
    feed = write_feed(tmp_path / "feed", 1200, keyed=True)
    before = 2
    moving(feed, tmp_path, before, asked).kill(2, dice.random())
    for _ in range(10):
        before = dice.choice([number for number in (1, 2, 3) if number != before])
        amid = dice.random() < 0.5
        moving(feed, tmp_path, before, asked, amid).kill(1, dice.random() * (0.2 if amid else 2))
    moving(feed, tmp_path, 2, asked).finish()
    check(feed, tmp_path, asked, least)


@pytest.mark.thorough
@pytest.mark.parametrize("more", [(), SNAPSHOTS], ids=["log", "snapshots"])
@pytest.mark.parametrize(
    ("asked", "least"), [*_KILLED, (DECLARED, 3)], ids=["groups", "join", "windows", "declared"]
)
def test_killed_twenty_times_in_partitions(
    tmp_path: Path, asked: str, least: int, more: tuple[str, ...]
) -> None:
    dice = random.Random()
    feed = write_feed(tmp_path / "feed", 1200, keyed=True)
    job = watching(feed, tmp_path, "--partitions", "2", *more, asked=asked)
    for number in range(10):
        job.kill(1 + number, dice.random() * 2)
        job.kill_worker(2 + number, dice.random() * 2, dice)
    job.finish()
    check(feed, tmp_path, asked, least)


@pytest.mark.thorough
def test_killed_fifty_times(tmp_path: Path) -> None:
    dice = random.Random()
    feed = write_feed(tmp_path / "feed", 2400)
    job = watching(feed, tmp_path)
    for number in range(25):
        job.kill(1 + number, dice.random() * 2)
        job.kill_worker(2 + number, dice.random() * 2, dice)
    job.finish()
    check(feed, tmp_path)
