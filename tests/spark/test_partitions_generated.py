"""Generated queries over generated streams: partitions emit what one place emits, errors too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.circuit.grammar import queries
from tests.circuit.test_generated_queries import plays
from tests.conftest import examples
from xstreamcast.api import compiled
from xstreamcast.errors import Error

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from tests.spark.test_partitions_law import Alone, tables
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.table.schema import arrow

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


def ticks(play: list[tuple[str, bytes, bool]]) -> list[Any]:
    """The rows of each tick, of both streams."""
    pieces: list[dict[str, str]] = [{"a": "", "b": ""}]
    for name, chunk, ticked in play:
        pieces[-1][name] += chunk.decode()
        if ticked:
            pieces.append({"a": "", "b": ""})
    both = [tables([one[name] for one in pieces], name) for name in "ab"]
    return [arrow().concat_tables(pair) for pair in zip(*both, strict=True)]


def told(place: Any, table: Any) -> Any:
    try:
        return place.take(table)
    except Error as why:
        return why.render()


@settings(max_examples=examples(40, 500), suppress_health_check=QUIET, deadline=None)
@given(queries(), plays(), st.integers(1, 3), st.integers(2, 5), st.booleans())
def test_partitions_emit_what_one_place_emits(
    query: str, play: Any, partitions: int, steps: int, moving: bool
) -> None:
    asked = WatchRequest({"": compiled(query)}, {"a": "fragments", "b": "fragments"})
    there, here = InPartitions(asked, partitions, moving, steps), Alone(asked)
    note(query)
    for number, table in enumerate(ticks(play)):
        expected = told(here, table)
        assert told(there, table) == expected, number
        if isinstance(expected, str):
            break
