"""Sequences without an end: what is refused, where, and what is left alone."""

from __future__ import annotations

import pytest

from tests.algebra.plans import program
from xstreamcast.algebra.analysis.infinite import blocked, refuse_blocked
from xstreamcast.errors import Error

STREAM = "declare variable $s as (temp)** external; "

BLOCKING = {
    "fn:max($s)": "fn:max",
    "count($s)": "fn:count",
    "sum($s/value)": "fn:sum",
    "for $x in $s order by $x return $x": "order by",
    "for $x in $s group by $k := $x/@a return count($x)": "group by",
    "$s[last()]": "last()",
    "$s[position() = last()]": "last()",
    "$s ! last()": "last()",
    "$s ! (string(), last())": "last()",
    "$s/value/last()": "last()",
    "$s[. = (for $x in 1 to last() return $x)]": "last()",
    "some $x in $s satisfies $x > 1": "some",
    "every $x in $s satisfies $x > 1": "every",
    "$s = 1": "a general comparison",
    "$s union <a/>": "union",
    "let $t := $s return avg($t)": "fn:avg",
    "avg($s[. > 3])": "fn:avg",
    "avg(distinct-values($s))": "fn:avg",
    "avg(for $x in $s return $x + 1)": "fn:avg",
    "if (true()) then 1 else min($s)": "fn:min",
    "count(for tumbling window $w in $s start when true() return 1)": "fn:count",
    "typeswitch ($s) case $t as item()* return sum($t) default return 1": "fn:sum",
    "$s instance of element()*": "instance of",
}
FLOWING = (
    "for $m in $s where $m ge 10 return <alarm>{ $m }</alarm>",
    "for tumbling window $w in $s start when true() return fn:max($w)",
    "forseq $w in $s sliding window start position $b when fn:true()"
    " end position $e when $e - $b eq 2 return fn:avg($w)",
    "distinct-values($s)",
    "$s[3] = 1",
    "sum($s[3])",
    "$s/value",
    "$s/value[last()]",
    "$s/string()",
    "$s ! name()",
    "$s/value/data()[. > 1]",
    "let $t := $s return $t[1]",
    "for $x in $s return count($x/*)",
    "exists($s)",
    "head($s)",
    "count(subsequence($s, 1, 10))",
    "for $x in $s count $n return $n",
    "count(1 to 10)",
)


@pytest.mark.parametrize("query", BLOCKING)
def test_what_needs_the_end_is_named(query: str) -> None:
    found = blocked(program(STREAM + query))
    assert [(one.what, one.endless) for one in found] == [(BLOCKING[query], "$s")]


@pytest.mark.parametrize("query", FLOWING)
def test_what_answers_item_by_item_is_left_alone(query: str) -> None:
    assert blocked(program(STREAM + query)) == ()


@pytest.mark.parametrize("query", BLOCKING)
def test_a_sequence_that_ends_blocks_nothing(query: str) -> None:
    ending = STREAM.replace("(temp)**", "element(temp)*")
    assert blocked(program(ending + query)) == ()


def test_a_function_is_looked_into_with_what_it_is_given() -> None:
    text = (
        STREAM + "declare function local:f($x, $n) { if ($n) then local:f($x, 0) else max($x) }; "
    )
    assert [one.what for one in blocked(program(text + "local:f($s, 1)"))] == ["fn:max"]
    assert blocked(program(text + "local:f((1, 2), 1)")) == ()


def test_a_stream_ends_or_not_as_the_caller_says() -> None:
    query = program('count(stream("credit")//account)')
    assert blocked(query) == ()
    found = blocked(query, streams=True)
    assert [one.endless for one in found] == ['stream("credit")']


def test_the_refusal_shows_the_place_and_a_way_out() -> None:
    with pytest.raises(Error) as caught:
        refuse_blocked(program(STREAM + "\nfn:max($s)"))
    assert caught.value.code == "XSCS0002"
    assert (caught.value.line, caught.value.column) == (2, 1)
    assert "window" in (caught.value.hint or "")
    assert caught.value.exit_status == 3


@pytest.mark.parametrize(
    "query",
    ['some $x in stream("s")//b satisfies $x = 1', 'stream("s")//b = 1', 'exists(stream("s")//b)'],
)
def test_a_witness_ends_the_wait_for_a_stream(query: str) -> None:
    assert blocked(program(query), streams=True) == ()


def test_nothing_in_a_stream_decides_what_holds_for_all_of_it() -> None:
    query = 'every $x in stream("s")//b satisfies $x = 1'
    assert [one.what for one in blocked(program(query), streams=True)] == ["every"]
