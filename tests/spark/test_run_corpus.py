"""Every script of the corpus on Spark, in several tasks: the local runner's answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstreamcast as xsc
from tests.corpus_format import Script, read_script
from tests.corpus_functions import register
from xstreamcast.circuit.batch.parts import Distributed
from xstreamcast.edges.binding import Options
from xstreamcast.spark.running.spark_run import SparkRun

FOLDER = Path(__file__).parents[1] / "corpus"
FILES = [*sorted(FOLDER.glob("*.stream")), *sorted((FOLDER / "updates").glob("*.stream"))]


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    register()


def test_every_script_answers_as_locally(spark: Any) -> None:
    runs = [one for path in FILES for one in _runs(spark, read_script(path), "auto", last=True)]
    _agree(runs)
    assert sum(isinstance(run.plan, Distributed) for run, _ in runs) > len(runs) // 3


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["caq", "qac", "qac+"])
def test_every_moment_of_every_script_with_every_strategy(spark: Any, strategy: str) -> None:
    for path in FILES:
        _agree(list(_runs(spark, read_script(path), strategy, last=False)))


def _runs(
    spark: Any, script: Script, strategy: str, last: bool
) -> Iterator[tuple[SparkRun, list[str]]]:
    """A run for each question, and what the local runner answers."""
    query = xsc.query(script.query)
    questions = script.questions()[-1:] if last else script.questions()
    for _, wire, instant in questions:
        inputs: dict[str, Any] = dict(wire)
        options = Options(as_of=instant, strategy=strategy)
        expected = list(query.run(as_of=instant, strategy=strategy, **inputs).lines())
        yield SparkRun(spark, query.telling(""), None, inputs, options, tasks=2), expected


def _agree(runs: list[tuple[SparkRun, list[str]]]) -> None:
    """All in one job of Spark: starting many would cost more than their tasks."""
    from pyspark.sql import functions as f

    frames = [
        run.work().found(run.spark).withColumn("run", f.lit(number))
        for number, (run, _) in enumerate(runs)
    ]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionAll(frame)
    found = whole.toArrow()
    numbers = np.array(found["run"])
    for number, (run, expected) in enumerate(runs):
        mine = found.take(np.flatnonzero(numbers == number))
        answer = run.answered(mine.drop_columns(["run"]))["item"].to_pylist()
        run.sources.close()
        assert answer == expected, run.programs[""].source.text
