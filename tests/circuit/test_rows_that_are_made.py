"""Rows that a query makes first and reads once are a relation: none of them is made again."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text
from tests.circuit.test_group_members import SETTINGS

A, B = 'stream("a")//u', 'stream("b")//u'
ROWS = f"let $rows := for $x in {A} return <row k='{{ $x/k[1] }}' v='{{ number($x/v[1]) }}'/>"
KEPT = (
    f"{ROWS} for $r in $rows group by $k := $r/@k order by $k "
    "return <g k='{ $k }'>{ sum($r/@v/xs:double(.)), string-join($r/@v, ' ') }</g>",
    f"{ROWS} return count($rows[@v > 1])",
    f"{ROWS} where exists({B}) for $r at $i in $rows where $r/@v > 1 return <r>{{ $i, $r/@k }}</r>",
    f"""{ROWS} for sliding window $w in $rows start at $s when true()
    only end at $e when $e - $s = 1 return <w>{{ $w/@k/string() }}</w>""",
    f"""let $rows := for $x in {A}, $y in {B} where $x/k = $y/k
      return <row k="{{ $x/k[1] }}">{{ $y/v }}</row>
    for $r in $rows group by $k := $r/@k
    return <g>{{ $k, count($r/v), max($r/v ! string(.)) }}</g>""",
    f"""let $sums := for $x in {A} group by $k := string($x/k[1]) order by $k
      return <s k="{{ $k }}">{{ count($x/v) }}</s>
    for tumbling window $w in $sums start at $s when true() end at $e when $e - $s = 1
    return sum($w/xs:integer(.))""",
)
OTHERS = (
    # a row whose other columns change leaves the pairs as they are that are made of it
    f"""let $u := {A} let $big := $u[v > 1] let $n := count($big) return
    if ($n = 0) then "none" else concat($n, " of ", count($u), ": ", count($big/k))""",
    f"""for $x in {A} let $n := count({B}[k = $x/k]) where $n > 0
    return <x n="{{ $n }}">{{ {B}[v = $x/v]/k, count({B}) }}</x>""",
    f"{ROWS} return $rows[2]/@k/string()",
    f"{ROWS} return (count($rows), count($rows | $rows))",
    f"{ROWS} for $x in {B} return count($rows[@k = $x/k] | $rows)",
    f"{ROWS} for $r in $rows order by $r/@v descending, $r/@k group by $k := $r/@k "
    "return string-join($r/@v, ' ')",
    f"""for $x in {A} let $r := <row>{{ $x/k }}</row> for $v in $x/v group by $k := string($v)
    return <g>{{ count($r/k), count($r) }}</g>""",
    f"{ROWS} let $n := count({B}) for $r in $rows group by $k := $r/@k return ($k, count($n))",
)


@pytest.mark.parametrize("query", [*KEPT, *OTHERS])
@SETTINGS
@given(play=plays())
def test_the_answer_is_the_query_evaluated_afresh(query, play):
    follow(query, play)


@pytest.mark.parametrize("query", KEPT)
def test_rows_are_not_kept_in_one_value(query):
    text = circuit_text(query)
    assert "recompute" not in text
    assert "nest items" not in text
    assert ": items" not in text
