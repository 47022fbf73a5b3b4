"""Fragments in fragments, of all types: after a snapshot a query tells what it would have told."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, assume, given, note, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.snapshot.going_on import going_on, snapshot
from tests.operators.snapshot.test_snapshot_law import fed
from tests.operators.test_inner import questions, structures
from tests.operators.test_law import chunks
from tests.operators.watched import Watched
from tests.streams_strategies import histories
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.snapshot.arrow import NotNow

KINDS = {"s": "fragments"}


@settings(
    max_examples=examples(60, 1500),
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.data(), structures(), st.lists(st.integers(0, 10**6), min_size=2, max_size=8))
def test_what_is_told_after_a_snapshot_is_what_is_told_without(data, structure, cuts):
    query = data.draw(questions())
    wire = data.draw(histories(structure, plain=data.draw(st.booleans())))
    note(query)
    whole, went_on = Watched(query, KINDS), 0
    for piece in chunks(wire, cuts):
        try:
            raw = snapshot(whole) if isinstance(whole.watch.pipeline, CircuitRun) else None
        except NotNow:
            raw = None
        note(repr(piece))
        told = fed(whole, "s", piece, True)
        if raw is not None:
            went_on += 1
            assert fed(going_on(raw, query, KINDS), "s", piece, True) == told
    assume(went_on)
