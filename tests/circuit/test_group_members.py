"""Rows of a group that are compared with a value of their group: kept up to date, never whole."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays

A = 'stream("a")//u'
V = "v[. castable as xs:decimal]/xs:decimal(.)"
BY = f"for $x in {A} group by $k := string($x/k[1]) let $m := avg($x/{V})"
COMPARED = (
    f"{BY} return <g>{{ count($x[{V} > $m]) }}</g>",
    f"{BY} return <g>{{ $k, sum($x[{V} <= $m]/{V}) }}</g>",
    f"{BY} return <g>{{ sum(for $y in $x return count($x[{V} > $y/{V}])) }}</g>",
    f"""for tumbling window $x in {A} start at $s when true() end at $e when $e - $s = 2
    return count($x[{V} > avg($x/{V})])""",
)
SETTINGS = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("query", COMPARED)
@SETTINGS
@given(play=plays())
def test_the_answer_is_the_query_asked_afresh(query, play):
    follow(query, play)
