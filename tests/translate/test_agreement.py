"""The three translations give one answer, for every history and query."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.conftest import PROFILE
from tests.oracle import STRATEGIES, answer
from tests.streams_strategies import Case, cases

pytest.importorskip("saxonche")


@settings(
    max_examples=2000 if PROFILE == "thorough" else 50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases())
def test_the_three_translations_agree(case: Case) -> None:
    answers = [answer(case.query, {"s": case.wire}, strategy=one) for one in STRATEGIES]
    assert answers[1] == answers[0]
    assert answers[2] == answers[0]
