"""Killed at any moment and started again, an ingest has every fragment in the table once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.spark.feeds import write_feed

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.killing import Job, ends_within
from xstreamcast.edges.table import Log
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.files import read_files

pytestmark = pytest.mark.spark
PATIENCE = 120.0  # seconds


def started(feed: Path, table: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "xstreamcast", "ingest", str(feed), "--table", str(table)]
    return subprocess.Popen(
        [*command, "--stream", "credit", *more], stderr=subprocess.PIPE, start_new_session=True
    )


def killed_after(process: subprocess.Popen[bytes], table: Path, commits: int) -> None:
    """Wait for so many commits, then kill, wherever it is by then."""
    until = time.monotonic() + PATIENCE
    while len(Log(table).numbers()) < commits and time.monotonic() < until:
        if ends_within(process, 0.01):
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def counted(table: Path) -> Counter[tuple[str, int, bytes]]:
    rows = read_files(Log(table).path, list(Log(table).state().files))
    return Counter((row["id"], row["valid"], row["payload"]) for row in rows.to_pylist())


def ends_well(feed: Path, table: Path, *more: str) -> str:
    process = started(feed, table, *more)
    said = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 0, said
    return said


def test_killed_in_this_process(tmp_path: Path) -> None:
    feed, table, beside = write_feed(tmp_path / "feed", 2000), tmp_path / "t", tmp_path / "beside"
    options = ("--runner", "local", "--max-per-batch", "40")
    for commits in (1, 7, 20):
        killed_after(started(feed, table, *options), table, commits)
    compact(table)
    ends_well(feed, table, *options)
    assert "2001 fragments" in ends_well(feed, beside, *options)
    assert counted(table) == counted(beside)


def ingesting(feed: Path, table: Path) -> Job:
    checkpoint = table.with_name("checkpoint")
    words = ("ingest", str(feed), "--table", str(table), "--stream", "credit")
    return Job((*words, "--max-per-batch", "40", "--checkpoint", str(checkpoint)), checkpoint)


def test_killed_on_spark(tmp_path: Path) -> None:
    feed, table, beside = write_feed(tmp_path / "feed", 400), tmp_path / "t", tmp_path / "beside"
    job = ingesting(feed, table)
    job.kill(2, 0.1)
    job.kill(5, 0.4)
    said = job.finish(hurt=((7, 0.1), (9, 0.2)))
    assert said.splitlines()[-1].startswith("credit: ")
    assert job.begun() >= 11, "killed too late to show anything"
    ends_well(feed, beside, "--runner", "local")
    assert counted(table) == counted(beside)


@pytest.mark.thorough
def test_killed_fifty_times_on_spark(tmp_path: Path) -> None:
    dice = random.Random()
    feed, table, beside = write_feed(tmp_path / "feed", 2400), tmp_path / "t", tmp_path / "beside"
    job = ingesting(feed, table)
    for number in range(25):
        job.kill(1 + number, dice.random() * 2)
        job.kill_worker(2 + number, dice.random() * 2, dice)
    job.finish()
    ends_well(feed, beside, "--runner", "local")
    assert counted(table) == counted(beside)
