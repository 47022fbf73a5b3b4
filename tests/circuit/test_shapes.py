"""Queries whose operators were chosen badly once: the right ones run, and the answers hold."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text

A, B = 'stream("a")//u', 'stream("b")//u'
# a query, what its circuit must have, what it must not have
QUERIES = (
    (
        f"for $x in {A}, $y in {B} where $x/k = $y/k and number($x/v[1]) > number($y/v[1]) "
        "return <p>{ $x/v, $y/v }</p>",
        "join eq",
        "join gt",
    ),
    (
        f"for $x in {A} order by string($x/k[1]) count $n where $n <= 2 return <r>{{ $n }}</r>",
        "positions 1 to 2",
        "where",
    ),
    (
        f"for $x in {A} group by $k := string($x/k[1]) let $v := $x/v/number(.) "
        "return <g>{ min($v), max($v) }</g>",
        "min, max",
        "items",
    ),
    (
        f"for $x in {A} group by $k := string($x/k[1]) return <g>{{ sum($x/v/number(.)) }}</g>",
        ": sum",
        "items",
    ),
    (
        f"for $x in {A} return <s>{{ sum({B}[k = $x/k]/v/number(.)) }}</s>",
        "nest sum",
        "nest items",
    ),
    (
        f"forseq $w in {A} landmark window start curItem $s when $s/k "
        "end curItem $e when $e/v return <w>{ count($w/v) }</w>",
        "landmark windows",
        "recompute",
    ),
)


@pytest.mark.parametrize("query", [one[0] for one in QUERIES])
@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(play=plays())
def test_the_answer_is_the_query_asked_afresh(query, play):
    follow(query, play)


@pytest.mark.parametrize(("query", "has", "lacks"), QUERIES)
def test_the_circuit(query, has, lacks):
    text = circuit_text(query)
    assert has in text
    assert lacks not in text
