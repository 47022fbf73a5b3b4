"""The law over histories: we answer with every strategy as SaxonC-HE does over the translation."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import PROFILE
from tests.oracle import STRATEGIES, answer, canonical
from tests.streams_strategies import Case, cases

pytest.importorskip("saxonche")

INSTANTS = st.none() | st.integers(0, 9).map(lambda minute: f"2020-01-01T00:0{minute}:00")


@settings(
    max_examples=2000 if PROFILE == "thorough" else 40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases(), INSTANTS)
def test_we_answer_as_saxon_does_with_every_strategy(case: Case, as_of: str | None) -> None:
    for text in case.queries:
        expected = answer(text, {"s": case.wire}, as_of=as_of)
        query = xsc.query(text)
        for strategy in (*STRATEGIES, "auto"):
            found = query.run(as_of=as_of, strategy=strategy, s=case.wire).lines()
            assert [canonical(line) for line in found] == expected, (strategy, text)
