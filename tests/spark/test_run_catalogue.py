"""Queries of many kinds in several tasks: the answers of one process, and which are distributed.

Tasks are called here, in this process, with the numbers that Spark would hand to them.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from bench.growth.catalogue import ENTRIES
from bench.growth.entry import Entry
from tests.circuit.grammar import END, arrivals, queries
from tests.conftest import examples
from tests.spark.test_run_law import _answer, _here
from xstreamcast.circuit.batch.parts import Distributed, OneTask
from xstreamcast.circuit.batch.ranges import batch_plan
from xstreamcast.edges.binding import Options
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.edges.wire.encoder import CLOSE
from xstreamcast.model.structure import TagStructure
from xstreamcast.spark.running.spark_run import SparkRun

pytest.importorskip("pyarrow", reason="the spark extra is not installed")
UNITS = 40


def _inputs(entry: Entry) -> dict[str, Any]:
    wires = entry.opening(UNITS)
    for k in range(3):
        for name, chunk in (entry.added(UNITS, k), entry.corrected(UNITS, k)):
            wires[name] += chunk
    return {name: wire + CLOSE for name, wire in wires.items()}


def _run(entry: Entry, inputs: dict[str, Any]) -> SparkRun:
    return SparkRun(None, xsc.query(entry.query).telling(""), None, inputs, Options(), tasks=3)


@settings(
    max_examples=examples(40, 1500), deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
@given(queries(), arrivals(), arrivals(), st.integers(1, 4))
def test_generated_queries_answer_as_in_one_process(
    query: str, one: list[bytes], other: list[bytes], tasks: int
) -> None:
    inputs: dict[str, Any] = {"a": b"".join(one) + END, "b": b"".join(other) + END}
    run = SparkRun(None, xsc.query(query).telling(""), None, dict(inputs), Options(), tasks=tasks)
    found = _answer(lambda: _here(run))
    run.sources.close()
    assert found == _answer(lambda: xsc.query(query).run(**inputs).lines())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_tasks_answer_as_one_process(entry: Entry) -> None:
    inputs = _inputs(entry)
    run = _run(entry, dict(inputs))
    found = _answer(lambda: _here(run))
    run.sources.close()
    assert found == _answer(lambda: xsc.query(entry.query).run(**inputs).lines())


def test_most_of_these_are_distributed() -> None:
    plans = []
    for entry in ENTRIES:
        structures: dict[str | None, TagStructure | None] = {
            name: _structure(name, wire) for name, wire in entry.opening(4).items()
        }
        program = xsc.query(entry.query).telling("")[""]
        plans.append(batch_plan(program, structures))
    assert sum(isinstance(one, Distributed) for one in plans) >= 91
    assert all(one.reasons for one in plans if isinstance(one, OneTask))


def _structure(name: str, wire: bytes) -> TagStructure | None:
    decoder = Decoder(name)
    decoder.feed(wire)
    return decoder.structure
