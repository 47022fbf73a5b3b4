"""`let $v := e?[now]`: read in several places, it costs what a change costs; nodes stay."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text
from tests.conftest import examples

A = 'let $o := stream("a")//u?[now] let $c := stream("b")//u?[now] '
COPIED = (
    A + "return (count($o), sum($o/v[. castable as xs:decimal]/xs:decimal(.)), $o[k = 'x']/v)",
    A + "for $x in $o where number($x/v[1]) > 1 return <n of='{ count($o) }'>{ $x/v }</n>",
    A + "let $m := $o[k = 'x'] return (count($m), $m[v = 1]/k/string(), count($c))",
    A + "for $x in $o group by $k := string($x/k[1]) order by $k "
    "return <g k='{ $k }'>{ count($x), $x/v }</g>",
    A + "for $y in $c let $mine := $o[k = $y/k] return <n>{ count($mine), $mine/v }</n>",
    A + "return if (exists($o[v = 1])) then count($o) else count($c)",
    "declare variable $o := stream('a')//u?[now]; count($o) + count($o[v = 1])",
)
# nodes of two places meet: they are compared, taken once or sorted
MEET = (
    A + "return (count($o | $o[k]), count($c))",
    A + "for $x in $o, $y in $o where $x << $y return <p>{ $x/v, $y/v }</p>",
    A + "for $x in $o, $y in $o where $x is $y return <p>{ $x/v, $y/v }</p>",
    A + "return ($o[k = 'x'], $o[v = 1])/v",
    A + "return (for $y in $c, $x in $o return $x)/v",
    A + "return (for $y in $c return $o[1])/v/string()",
    A + "let $m := $o[k] return count((for $y in $c return $m)/.)",
    A + "return count($c ! $o/v | $o/v)",
    A + "for $y in $c group by $k := string($y/k[1]) let $m := $y ! $o return count($m/v)",
    A + "let $m := $o[k = 'x'] return ($o except $m)/v",
)


@pytest.mark.parametrize("query", [*COPIED, *MEET])
@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(play=plays())
def test_the_answer_is_the_query_asked_afresh(query, play):
    follow(query, play)


@pytest.mark.parametrize("query", COPIED)
def test_nothing_holds_all_units(query):
    text = circuit_text(query)
    assert "recompute" not in text
    assert ":= $nested" not in text or "$mine" in query  # those of one row


@pytest.mark.parametrize("query", MEET)
def test_nodes_that_meet_are_made_once(query):
    assert ":= $nested" in circuit_text(query)
