"""Generated streams whose query moves to another number of partitions between two batches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st

from tests.circuit.grammar import queries
from tests.circuit.test_generated_queries import plays
from tests.conftest import examples
from tests.spark import test_partitions_direct as direct
from tests.spark import test_partitions_keyed as keyed
from tests.spark.moved import Running
from tests.spark.test_partitions_generated import ticks
from tests.spark.test_partitions_law import Alone, tables, told
from xstreamcast.api import compiled
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.partitions.moving import Unmoved
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated, Change

PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # a case takes a second: shrinking, hours
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


def play_out(running: Running, here: Alone, batches: list[Any], numbers: list[int]) -> int:
    """Take batches in, and move before each to the next of the numbers → how often it moved."""
    expected, moved = list[Change](), 0
    for at, table in enumerate(batches):
        wanted = numbers[at % len(numbers)]
        if wanted != running.partitions:
            try:
                running, moved = running.moved(wanted), moved + 1
            except (Unmoved, Error) as why:
                event(f"not moved: {why}")
        found = told(here, table)
        note(f"{at}: {running.partitions}")
        if isinstance(found, str):
            assert told(running, table) == found
            return moved
        expected += found
        running.take(table)
        assert Accumulated(running.changes).items() == Accumulated(expected).items(), at
        if not running.deep:
            assert running.changes == expected, at
    return moved


NUMBERS = st.lists(st.integers(1, 4), min_size=2, max_size=7)


@pytest.mark.parametrize("asked", direct.QUERIES)
@given(data=st.data())
@settings(max_examples=examples(8, 100), suppress_health_check=QUIET, deadline=None, phases=PHASES)
def test_units_that_are_partitioned_as_they_are_read(asked: str, data: st.DataObject) -> None:
    line = direct.lines(attached=data.draw(st.booleans()))
    made = data.draw(st.lists(st.lists(line, max_size=8), min_size=2, max_size=7))
    pieces = ["".join(one) for one in made]
    pieces[0] = direct.HEAD + pieces[0]
    pieces[data.draw(st.integers(0, 1))] += direct.ROOT
    how, numbers = WatchRequest({"": compiled(asked)}, {"s": "fragments"}), data.draw(NUMBERS)
    play_out(Running(how, numbers[0], direct.TAGS), Alone(how), tables(pieces), numbers)


@pytest.mark.parametrize("asked", keyed.DIRECT)
@given(data=st.data())
@settings(max_examples=examples(8, 100), suppress_health_check=QUIET, deadline=None, phases=PHASES)
def test_fragments_that_name_their_units(asked: str, data: st.DataObject) -> None:
    pieces = keyed._pieces(data, keyed.lines())
    how, numbers = WatchRequest({"": compiled(asked)}, {"s": "fragments"}), data.draw(NUMBERS)
    running = Running(how, numbers[0], keyed.TAGS, keyed.INSIDE)
    play_out(running, Alone(how), tables(pieces), numbers)


@settings(max_examples=examples(30, 500), suppress_health_check=QUIET, deadline=None, phases=PHASES)
@given(queries(), plays(), NUMBERS, st.integers(2, 5))
def test_generated_queries_behind_a_router(
    query: str, play: Any, numbers: list[int], steps: int
) -> None:
    asked = WatchRequest({"": compiled(query)}, {"a": "fragments", "b": "fragments"})
    note(query)
    running = Running(asked, numbers[0], steps=steps)
    play_out(running, Alone(asked), ticks(play), numbers)
