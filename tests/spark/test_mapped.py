"""Feeds with a mapping, on Spark: read by a run, and into a table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.test_table import MAPPING, feed

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


def test_a_feed_left_running_on_spark_says_why_not(source: str) -> None:
    words = ["watch", "-q", QUERY, "-i", f"s={source}", "--runner", "spark"]
    done = subprocess.run(
        [sys.executable, "-m", "xstreamcast", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--runner local" in done.stderr
