"""Killed at any moment and started again, a query on Spark has told each change once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.spark.feeds import write_feed
from xstreamcast import query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

pytestmark = pytest.mark.spark
PATIENCE = 300.0  # seconds
QUERY = """for $a in stream("credit")//account
where sum($a/limit?[now]) > 4000 return <a no="{$a/@no}">{$a/limit?[now]/text()}</a>"""
MOST = 40  # fragments of a batch


def started(feed: Path, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "xstreamcast", "watch", "-q", QUERY, "-i", f"credit={feed}"]
    command += ["--runner", "spark", "--checkpoint", str(folder / "checkpoint")]
    command += ["-o", str(folder / "told"), "--max-per-batch", str(MOST)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)


def batches(folder: Path) -> int:
    """How many batches Spark has begun."""
    offsets = folder / "checkpoint" / "spark" / "offsets"
    return len([one for one in offsets.glob("*") if one.name.isdigit()]) if offsets.exists() else 0


def killed_after(process: subprocess.Popen[bytes], folder: Path, count: int, rest: float) -> None:
    """Wait for so many batches and a part of the next one, then kill it and all that it started."""
    until = time.monotonic() + PATIENCE
    while batches(folder) < count and process.poll() is None:
        assert time.monotonic() < until, "nothing happens"
        time.sleep(0.02)
    time.sleep(rest)
    os.killpg(process.pid, signal.SIGKILL)
    said = process.communicate()[1].decode()
    assert process.returncode == -signal.SIGKILL, said


def told(folder: Path) -> list[Change]:
    return [Change.from_json(line) for line in (folder / "told").read_text().splitlines()]


def ticked(feed: Path) -> list[Change]:
    """What a query that was left alone tells, with the same batches."""
    from xstreamcast.edges.replay import Offset, Replay, split_rows
    from xstreamcast.edges.table.schema import arrow
    from xstreamcast.spark.watching_host import Asked, Host

    host = Host(Asked(query(QUERY).programs, {"credit": "fragments"}))
    replay, start, changes = Replay(str(feed), None, 2), Offset(), list[Change]()
    while (end := replay.advance(start, MOST)) != start:
        rows = [one for split in replay.plan(start, end) for one in split_rows("credit", split)]
        changes += host.take(arrow().Table.from_batches(rows), None)
        start = end
    return changes


def check(tmp_path: Path, kills: list[tuple[int, float]], count: int) -> None:
    feed = write_feed(tmp_path / "feed", count)
    for begun, rest in kills:
        killed_after(started(feed, tmp_path), tmp_path, begun, rest)
    process = started(feed, tmp_path)
    said = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 0, said
    changes = told(tmp_path)
    assert changes == ticked(feed)
    expected = list(query(QUERY).run(credit=feed).lines())
    assert Accumulated(changes).items() == expected
    assert len(expected) > 10


def test_killed_and_started_again(tmp_path: Path) -> None:
    check(tmp_path, [(2, 0.1), (5, 0.4)], 400)
    assert batches(tmp_path) >= 11, "killed too late to show anything"


@pytest.mark.thorough
def test_killed_fifty_times(tmp_path: Path) -> None:
    dice = random.Random()
    kills = [(1 + n // 2, dice.random() * 2) for n in range(50)]
    check(tmp_path, kills, 2400)
