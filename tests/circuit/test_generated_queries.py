"""The law for generated queries: after every tick the answer is the query asked afresh."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from tests.circuit.grammar import END, REGROUPED, arrivals, queries, with_ordered_groups
from tests.conftest import examples
from tests.operators.watched import Watched
from tests.oracle import answer, canonical
from xstreamcast.errors import Error


@st.composite
def plays(draw):
    """What arrives from two streams, one after the other, and where no tick is made."""
    one, other = draw(arrivals()), draw(arrivals())
    out = [("a", one.pop(0)), ("b", other.pop(0))]
    while one or other:
        name = draw(st.sampled_from("ab")) if one and other else ("a" if one else "b")
        out.append((name, (one if name == "a" else other).pop(0)))
    ticks = [draw(st.integers(0, 3)) > 0 for _ in out]
    ticks[0] = False  # nothing is told before the structures of both streams are known
    return [(name, chunk, tick) for (name, chunk), tick in zip(out, ticks, strict=True)]


def follow(query: str, play) -> Watched:
    beside = Watched(query, {"a": "fragments", "b": "fragments"})
    for name, chunk, ticked in [*play, ("a", END, True), ("b", END, True)]:
        note(f"{name} {chunk.decode()} {ticked}")
        try:
            beside.feed(name, chunk, tick=ticked)
        except Error:
            assert beside.afresh() is None, "fails only in watch"
            continue
        found = beside.afresh() if ticked else None
        assert found is None or beside.told.items() == found
    return beside


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=examples(60, 1500), suppress_health_check=QUIET, deadline=None)
@given(queries(), plays())
def test_the_answer_is_the_query_asked_afresh(query, play):
    follow(query, play)


@settings(max_examples=examples(15, 300), suppress_health_check=QUIET, deadline=None)
@given(queries(), plays())
def test_we_answer_as_saxon_does(query, play):
    saxonche = pytest.importorskip("saxonche")
    assume(REGROUPED not in query)
    query = with_ordered_groups(query)
    beside = follow(query, play)
    wires = {n: b"".join(chunk for name, chunk, _ in play if name == n) + END for n in "ab"}
    try:
        expected = answer(query, wires)
    except saxonche.PySaxonApiError:
        return
    assert [canonical(item) for item in beside.told.items()] == expected
