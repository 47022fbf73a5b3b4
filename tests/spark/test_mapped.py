"""Feeds with a mapping, on Spark: read by a run, and into a table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.test_table import MAPPING, feed
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

QUERY = 'for $u in stream("s")//u return concat($u/@id, $u, " ", $u/@vtFrom, " ", $u/@vtTo)'


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "m.toml").write_text(MAPPING)
    feed(tmp_path / "feed", 1, 1, '<u id="a">1</u>', '<u id="b" to="2024-01-01T00:04:00Z">1</u>')
    feed(tmp_path / "feed", 2, 5, '<u id="a">2</u>')
    return f"{tmp_path / 'm.toml'}:{tmp_path / 'feed'}"


def told(*words: str) -> str:
    """What a command prints; it ends its own session, not one that other tests share."""
    command = [sys.executable, "-m", "xstreamcast", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_run_on_spark_answers_as_one_here(source: str, tmp_path: Path) -> None:
    here = told("run", "-q", QUERY, "-i", f"s={source}")
    assert here.count("\n") == 3
    assert told("run", "-q", QUERY, "-i", f"s={source}", "--runner", "spark") == here
    table = tmp_path / "table"
    told("ingest", source, "--table", str(table), "--stream", "s")
    assert told("run", "-q", QUERY, "-i", f"s=table:{table}") == here
    spark = told("run", "-q", QUERY, "-i", f"s=table:{table}", "--runner", "spark")
    assert spark == here


@pytest.mark.parametrize("partitions", ["1", "2"])
def test_a_feed_is_left_running_on_spark_as_here(source: str, partitions: str) -> None:
    words = ["watch", "-q", QUERY, "-i", f"s={source}"]
    here = answer(told(*words))
    assert len(here) == 3
    assert answer(told(*words, "--runner", "spark", "--partitions", partitions)) == here


def answer(changes: str) -> list[str]:
    """What changes add up to."""
    return Accumulated(Change.from_json(line) for line in changes.splitlines()).items()


def test_a_feed_whose_peer_is_not_there_says_so(source: str) -> None:
    mapping = source.partition(".toml")[0] + ".toml"
    words = ["watch", "-q", QUERY, "-i", f"s={mapping}:tcp://127.0.0.1:1", "--runner", "spark"]
    done = subprocess.run(
        [sys.executable, "-m", "xstreamcast", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "cannot connect to tcp://127.0.0.1:1" in done.stderr
