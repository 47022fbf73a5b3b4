"""Rows of a group that are compared with a value of their group: kept up to date, never whole."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text
from tests.conftest import examples

A = 'stream("a")//u'
V = "v[. castable as xs:decimal]/xs:decimal(.)"
BY = f"for $x in {A} group by $k := string($x/k[1]) let $m := avg($x/{V})"
ONE = "v[1][. castable as xs:decimal]"
COMPARED = (
    f"{BY} return <g>{{ count($x[{V} > $m]) }}</g>",
    f"{BY} return <g>{{ $k, sum($x[{V} <= $m]/{V}) }}</g>",
    f"{BY} order by $k return <g>{{ $x[{V} > 2 * $m]/v }}</g>",
    f"{BY} return $x[{V} < $m]/v/string()",
    f"{BY} return for $y in $x where $y/v > $m return <over g='{{ $k }}'>{{ $y/v }}</over>",
    f"{BY} return <g>{{ string-join($x[v > $m and k = 'x']/v, ' ') }}</g>",
    f"{BY} where exists($x[v >= $m + 1]) return <g>{{ $k, $m }}</g>",
    f"""for $x in {A} group by $k := string($x/k[1]) let $m := max($x/{V})
    return <g>{{ $x[xs:decimal({ONE}) = $m]/k/string() }}</g>""",
    f"""for $x in {A} group by $k := string($x/k[1]) let $m := min($x/k ! string(.))
    order by $k return <g>{{ count($x[string(k[1]) eq $m]) }}</g>""",
    f"""for $x in {A} group by $k := number($x/v[1]) let $n := count($x)
    return <g>{{ count($x/v[number(.) < $n]) }}</g>""",
    f"""for $x in {A}, $y in stream("b")//u where $x/k = $y/k group by $k := string($y/k[1])
    let $m := avg($x/{V}) return <g>{{ $k, count($x[v > $m]) }}</g>""",
    f"""max(for $x in {A} group by $k := string($x/k[1]) let $m := avg($x/v/number(.))
    return count($x[v/number(.) > $m]))""",
)
ORDERED = (
    f"""for $x in {A} group by $k := string($x/k[1]) let $c := (for $y in $x/{V}
    order by $y descending return $y)[2] return <g>{{ $k,
    for $y in $x where xs:decimal($y/{ONE}) >= $c
    order by xs:decimal($y/{ONE}) descending, string($y/k[1])
    return <y>{{ $y/v, $y/k }}</y> }}</g>""",
    f"""{BY} order by $k return <g>{{ (for $y in $x where $y/v > $m order by $y/k[2]
    return $y)[1]/v }}</g>""",
    f"""{BY} return <g>{{ (for $y in $x where $y/v > $m
    order by $y/k[1] descending return $y)/v }}</g>""",
)
READ_TOGETHER = (
    f"{BY} return <g>{{ sum(for $y in $x return count($x[{V} > $y/{V}])) }}</g>",
    f"{BY} return <g>{{ for $y in $x where $y/v > $m return number($y/v[1]) - $m }}</g>",
    f"{BY} return <g>{{ count($x[v > $m][2]) }}</g>",
    f"""for tumbling window $x in {A} start at $s when true() end at $e when $e - $s = 2
    return count($x[{V} > avg($x/{V})])""",
)
SLICED = (
    f"{BY} return <g>{{ $k, $x[1]/v, $x[last()]/v }}</g>",
    f"{BY} order by $k return <g>{{ head($x)/v/string(), $x[position() > last() - 2]/k }}</g>",
    f"{BY} return <g>{{ reverse(sort($x/v ! string(.)))[2] }}</g>",
    f"{BY} return <g>{{ reverse(sort($x/v ! string(.)))[position() <= 2] }}</g>",
    f"{BY} return <g>{{ sort(distinct-values($x/v)) }}</g>",
    f"reverse({A}/v/string(.))[3]",
    f"({A})[last() - 1]/v/string()",
)
OTHERS = (
    "avg(for $x in stream('a')//u return xs:dayTimeDuration('PT1M') * count($x/v))",
    "sum(for $x in stream('a')//u return (xs:dayTimeDuration('PT1M') * count($x/v))[. > 0 * .])",
    """sum(for $x in stream('a')//u return if ($x/k = 'x') then 1
    else xs:dayTimeDuration('PT1M') * count($x/v))""",
    "max(stream('a')//u/v/xs:date(concat('2020-01-1', string-length(.))))",
    """min(stream('a')//u/v/xs:dateTime(concat('2020-01-0', string-length(.) + 1,
    'T00:00:00', if (. = '2') then 'Z' else if (. = '10') then '+01:00' else '')))""",
    """for tumbling window $w in stream('a')//u start $s when true()
    end next $n when string($n/k[1]) ne string($s/k[1])
    return <w>{ count($w), $w[1]/k/string(), sum($w/v ! number(.)) }</w>""",
)
SETTINGS = settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("query", [*COMPARED, *ORDERED, *READ_TOGETHER, *SLICED, *OTHERS])
@SETTINGS
@given(play=plays())
def test_the_answer_is_the_query_asked_afresh(query, play):
    follow(query, play)


@pytest.mark.parametrize("query", COMPARED)
def test_no_group_is_read_whole(query):
    text = circuit_text(query)
    assert "of their group that compare" in text
    assert "recompute" not in text
    groups = [line for line in text.splitlines() if " group by " in line]
    assert groups
    assert not any("items" in line for line in groups)


@pytest.mark.parametrize("query", SLICED)
def test_some_positions_of_a_group_need_no_items(query):
    groups = [line for line in circuit_text(query).splitlines() if " group by " in line]
    assert not any("items" in line for line in groups)
