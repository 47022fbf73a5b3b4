"""The three translations give one answer, for every history and query."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.conftest import PROFILE
from tests.oracle import STRATEGIES, answer
from tests.streams_strategies import Case, cases

pytest.importorskip("saxonche")


@settings(
    max_examples=2000 if PROFILE == "thorough" else 30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(cases())
def test_the_three_translations_agree(case: Case) -> None:
    for query in case.queries:
        caq, qac, plus = (answer(query, {"s": case.wire}, strategy=one) for one in STRATEGIES)
        assert qac == caq, query
        assert plus == caq, query
