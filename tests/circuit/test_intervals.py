"""Queries that compare lifespans: kept up to date by an index of intervals, as versions come."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text
from tests.conftest import examples

A, B = 'stream("a")//u', 'stream("b")//u'
WORDS = (
    *("before", "after", "meets", "overlaps", "during", "contains", "starts", "finishes"),
    "equals",
)
QUERIES = (
    *(f"for $x in {A}, $y in {B} where $x {w} $y return <p>{{ $x/k, $y/k }}</p>" for w in WORDS),
    *(f"for $x in {A}, $y in {A} where $y {w} $x return $y/v" for w in WORDS),
    f"for $x in {A} return <n>{{ $x/k, count({B}[. overlaps $x]) }}</n>",
    f"for $x in {A}, $y in {B}[k] where $x during $y and $y/v > 1 return $y/k",
    f"for $x in {A} where exists({B}[. contains $x]) return $x/k",
    f"for $x in {A} return <j>{{ $x/k, {B}?[vtFrom($x), vtTo($x)]/v/string() }}</j>",
    f"for $x in {A} return count({B}?[vtFrom($x), vtTo($x)])",
    f"for $x in {A}, $y in {B} where $x overlaps $y "
    "group by $k := string($x/k[1]) return <g>{ $k, count($y) }</g>",
)


@pytest.mark.parametrize("query", QUERIES)
@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(play=plays())
def test_the_answer_is_the_query_asked_afresh(query, play):
    follow(query, play)


@pytest.mark.parametrize("query", QUERIES)
def test_only_pairs_that_compare_are_kept(query):
    text = circuit_text(query)
    assert "recompute" not in text
    assert "join" in text
    assert "product" not in text
