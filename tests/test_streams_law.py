"""The law over histories: we answer with every strategy as SaxonC-HE does over the translation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from tests.oracle import STRATEGIES, answer, canonical
from tests.streams_strategies import Case, cases

pytest.importorskip("saxonche")

MINUTES = st.integers(0, 9).map(lambda minute: f"2020-01-01T00:0{minute}:00")
CLOCKS = st.sampled_from(("2019-12-31T00:00:00", "2020-01-01T00:05:30")) | MINUTES
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def _agree(case: Case, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for text in case.queries:
        expected = answer(text, {"s": case.wire}, **theirs)
        query = xsc.query(text)
        for strategy in (*STRATEGIES, "auto"):
            found = query.run(strategy=strategy, s=case.wire, **ours).lines()
            assert [canonical(line) for line in found] == expected, (strategy, text)


@settings(max_examples=examples(40, 2000), suppress_health_check=SLOW)
@given(cases(), st.none() | MINUTES)
def test_we_answer_as_saxon_does_with_every_strategy(case: Case, as_of: str | None) -> None:
    _agree(case, {"as_of": as_of}, {"as_of": as_of})


@settings(max_examples=examples(40, 2000), suppress_health_check=SLOW)
@given(cases(), CLOCKS)
def test_we_answer_as_saxon_does_where_states_are_planned(case: Case, clock: str) -> None:
    _agree(case, {"clock": clock}, {"now": clock})


@settings(max_examples=examples(25, 1000), suppress_health_check=SLOW)
@given(cases(), MINUTES, MINUTES)
def test_we_answer_as_saxon_does_between_two_instants(case: Case, one: str, two: str) -> None:
    between = min(one, two), max(one, two)
    _agree(case, {"between": between}, {"between": between})
