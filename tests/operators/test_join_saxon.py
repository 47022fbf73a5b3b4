"""Joins of two streams beside SaxonC-HE over the translation, on the way and at last."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.test_join_law import JOINED, QUERIES, _interleaved, streams
from tests.operators.watched import Watched
from tests.oracle import answer, canonical
from xstreamcast.errors import Error

saxonche = pytest.importorskip("saxonche")
END = b"</stream:fragments>"


def expected(query: str, wires: dict[str, bytes]) -> list[str] | None:
    try:
        return answer(query, {name: wire + END for name, wire in wires.items()})
    except saxonche.PySaxonApiError:
        return None


@settings(
    max_examples=examples(25, 400),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
)
@given(st.data(), st.sampled_from(sorted(JOINED)), streams(), streams())
def test_we_answer_as_saxon_does(data, number, one, other):
    beside = Watched(QUERIES[number], {"a": "fragments", "b": "fragments"})
    wires = {"a": b"", "b": b""}
    arrivals = data.draw(_interleaved({"a": one, "b": other}))
    asked = data.draw(st.sets(st.integers(2, len(arrivals)), max_size=2)) | {len(arrivals)}
    for at, (name, chunk) in enumerate(arrivals, start=1):
        wires[name] += chunk or b""
        try:
            beside.end(name) if chunk is None else beside.feed(name, chunk)
        except Error:
            return
        if at in asked and beside.afresh() is not None:
            found = expected(QUERIES[number], wires)
            told = [canonical(item) for item in beside.told.items()]
            assert found is None or told == found, QUERIES[number]
