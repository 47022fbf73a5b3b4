"""Queries that compare by order, with one value for each row: kept up to date, never whole."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text
from tests.conftest import examples

A, B = 'stream("a")//u', 'stream("b")//u'
QUERIES = (
    f"for $x in {A} return <n>{{ $x/k, count(for $y in {B} where $x/v > $y/v return $y) }}</n>",
    f"for $x in {A} return count({B}[v <= $x/v])",
    f"for $x in {A} return <s>{{ sum({B}[number(v[1]) < number($x/v[1])]/v/number(.)) }}</s>",
    f"for $x in {A} return <m>{{ max({B}[k ge $x/k[1]]/k/string(.)) }}</m>",
    f"for $x in {A} where $x/k > {B}/k return $x/k",
    f"for $x in {A} where not($x/v >= {B}/v) return $x/k",
    f"for $x in {A} where every $y in {B} satisfies $y/k < $x/k return $x/k",
    f"max(for $x in {A} return count({B}[k < $x/k]))",
    f"for $x in {A} where number($x/v[1]) > avg({A}/v/number(.)) return $x/k",
    f"for $x in {A} where 2 * count({B}) ge number($x/v[1]) return $x/k",
    f"for $x in {A} where $x/v < max({B}/v/number(.)) and $x/k = 'x' return $x/k",
    f"let $m := avg({A}/v/number(.)) for $x in {A} where number($x/v[1]) > $m return $x/k",
    f"let $m := avg({A}/v/number(.)) for $x in {A} where $x/v > $m return <o>{{ $x/v, $m }}</o>",
    f"""let $m := max({A}/v/number(.)), $n := count({B})
    for $x in {A} where $x/v >= $m and count($x/k) < $n return <o>{{ $x/k, $m, $n }}</o>""",
    f"for $x in {A} where number($x/v[1]) = max({B}/v/number(.)) return $x/k",
    f"for $x in {A} where string($x/k[1]) eq min({B}/k/string(.)) return $x/v",
    f"let $m := max({A}/k/string(.)) return count({A}[string(k[1]) = $m])",
    f"""let $t := max({A}/k/xs:date(concat("2020-01-0", 1 + string-length(.))))
    for $x in {A} where xs:date(concat("2020-01-0", 1 + string-length($x/k[1]))) = $t
    return $x/k""",
    f"""let $t := max({A}/k/xs:date(concat("2020-01-0", 1 + string-length(.))))
    for $x in {A} where xs:date(concat("2020-01-0", 1 + string-length($x/k[1])))
      > $t - xs:dayTimeDuration("P1D") return <o>{{ $x/k }}</o>""",
    f"for $x at $i in {A} return sum(({A})[position() <= $i]/v/number(.))",
    f"for $x at $i in {A} return <n>{{ count(({B})[position() > $i]/v) }}</n>",
    """for $x at $i in stream("a")/r/u return <t>{
      sum(stream("a")/r/u[position() <= $i]/v[. castable as xs:decimal]/xs:decimal(.)) }</t>""",
)


@pytest.mark.parametrize("query", QUERIES)
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(play=plays())
def test_the_answer_is_the_query_asked_afresh(query, play):
    follow(query, play)


@pytest.mark.parametrize("query", QUERIES)
def test_no_pair_is_kept(query):
    text = circuit_text(query)
    assert "of rows that compare" in text
    assert "recompute" not in text
    assert "join" not in text
