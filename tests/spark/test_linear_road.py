"""Linear Road on Spark: the answers of the local runner, in any number of partitions."""

from __future__ import annotations

import argparse
import json
import queue
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.linear_road import add_arguments, main
from bench.linear_road.dialect import DIALECTS
from bench.linear_road.driver import QUERIES, seconds
from bench.linear_road.files import CLOSE, OPEN, PAST, ROAD, TOLLS, TOLLS_CSV, read_tolls, write
from bench.linear_road.outputs import from_element
from bench.linear_road.rules import truth
from bench.linear_road.segment_history import past
from bench.linear_road.validator import validate
from tests.bench.test_linear_road import SMALL, answers, tuples
from tests.spark.watched import Left

pytest.importorskip("pyspark", reason="the spark extra is not installed")
pytestmark = pytest.mark.spark
EXCERPT = replace(SMALL, halves=1, duration=300)
QUERY = (QUERIES / "linear-road.xq").read_text()


class Minutes:
    """The road, of which another minute comes when Spark has counted what came before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.left = folder, queue.Queue[Left]()

    def __iter__(self) -> Iterator[bytes]:
        yield OPEN
        left = self.left.get()
        for first in range(0, EXCERPT.duration, 60):
            of = [lines for at, lines in seconds(self.folder / ROAD) if first <= at < first + 60]
            yield b"".join(of)
            left.caught_up()
        yield CLOSE


def played(spark: Any, folder: Path, partitions: int) -> Left:
    """The answers to an excerpt, a batch for each minute."""
    road = Minutes(folder)
    left = Left(
        spark, QUERY, road=iter(road), tolls=folder / TOLLS, past=folder / PAST,
        checkpoint=folder / f"in-{partitions}", partitions=partitions,
    )  # fmt: skip
    road.left.put(left)
    left.ended()
    return left


def test_answers_are_those_of_the_local_runner_in_any_number_of_partitions(
    spark: Any, tmp_path: Path
) -> None:
    write(EXCERPT, tmp_path)
    expected = sorted(answers("linear-road.xq", tmp_path, 20_000))
    for partitions in (1, 2):
        left = played(spark, tmp_path, partitions)
        assert all(change.diff > 0 for change in left.changes)
        assert sorted(change.item for change in left.changes) == expected
        assert left.running.totals.batches >= 5
    rows, tolls = tuples(EXCERPT), read_tolls(tmp_path / TOLLS_CSV)
    found = truth(rows, tolls, DIALECTS["2004"], past(EXCERPT))
    verdict = validate(found, map(from_element, expected))
    assert verdict.valid, verdict
    assert len(verdict.checked) == 5


def test_the_command_plays_to_spark_and_validates(tmp_path: Path, capsys: Any) -> None:
    given = ["--scale", "0.5", "--duration", "90", "--segments", "10", "--folder", str(tmp_path)]
    given += ["--runner", "spark", "--partitions", "2", "--json", str(tmp_path / "play.json")]
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert main(parser.parse_args(given)) == 0
    said = capsys.readouterr().out
    assert "valid: " in said
    assert "JVM" in said
    play = json.loads((tmp_path / "play.json").read_text())
    assert (play["runner"], play["partitions"], play["verdict"]) == ("spark", 2, "yes")
    assert play["processor"] > play["before"] > play["byKind"]["driver"] > 0
    assert not list(tmp_path.glob("*/spark")), "the checkpoint is gone"
