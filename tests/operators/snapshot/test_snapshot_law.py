"""The law of snapshots: a query that goes on from one tells what it would have told without."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, assume, given, note, settings
from hypothesis import strategies as st

from tests.circuit.grammar import END, queries
from tests.circuit.test_generated_queries import plays
from tests.circuit.test_group_members import COMPARED, OTHERS, SLICED
from tests.conftest import examples
from tests.operators.snapshot.going_on import going_on, snapshot
from tests.operators.watched import Watched
from xstreamcast.errors import Error
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.snapshot.arrow import NotNow

KINDS = {"a": "fragments", "b": "fragments"}
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def fed(running: Watched, name: str, chunk: bytes, ticked: bool) -> list[str] | str:
    """What is told, to the byte; or how it fails."""
    try:
        running.feed(name, chunk, tick=False)
        changes = running.watch.tick() if ticked else []
    except Error as refused:
        return refused.code
    return [change.to_json() for change in changes]


@settings(
    max_examples=examples(60, 1500),
    suppress_health_check=QUIET,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(queries(), plays(), st.integers(0, 1000))
def test_what_is_told_after_a_snapshot_is_what_is_told_without(query, play, cut):
    goes_on_alike(query, play, cut)


@settings(
    max_examples=examples(25, 300),
    suppress_health_check=QUIET,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.sampled_from((*COMPARED, *SLICED, *OTHERS)), plays(), st.integers(0, 1000))
def test_rows_beside_values_of_their_group_go_on(query, play, cut):
    goes_on_alike(query, play, cut)


def goes_on_alike(query, play, cut):
    play = [*play, ("a", END, True), ("b", END, True)]
    at = 2 + cut % (len(play) - 3)
    whole = Watched(query, KINDS)
    for name, chunk, ticked in play[:at]:
        fed(whole, name, chunk, ticked)
    try:
        whole.watch.tick()
    except Error:
        assume(False)
    assume(isinstance(whole.watch.pipeline, CircuitRun))
    try:
        raw = snapshot(whole)
    except NotNow:  # the query fails over the input so far
        assume(False)
    other = going_on(raw, query, KINDS)
    raw = snapshot(other)  # constructed trees stand by themselves now
    assert snapshot(going_on(raw, query, KINDS)) == raw, "what was restored is what was kept"
    for name, chunk, ticked in play[at:]:
        note(f"{name} {chunk.decode()} {ticked}")
        assert fed(other, name, chunk, ticked) == fed(whole, name, chunk, ticked)
        run = whole.watch.pipeline
        if ticked and isinstance(run, CircuitRun) and run._operators is not None:
            other = going_on(snapshot(whole), query, KINDS)
