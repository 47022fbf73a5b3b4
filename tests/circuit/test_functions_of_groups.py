"""Functions of a group's rows cost what they would if they were written where they are called."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text
from tests.circuit.test_group_members import SETTINGS

A = 'stream("a")//u'
BY = f"for $x in {A} group by $k := string($x/k[1])"
TOTAL = "sum($g/v[. castable as xs:decimal]/xs:decimal(.))"
FOLDED = (
    f"declare function local:f($g) {{ {TOTAL} }}; {BY} return <g>{{ $k, local:f($x) }}</g>",
    f"""declare function local:f($g as element()*) as xs:decimal {{ {TOTAL} }};
    {BY} order by local:f($x), $k return <g>{{ local:f($x) div count($x) }}</g>""",
    f"""declare function local:mean($v as xs:double*) {{ sum($v) div (1 + count($v)) }};
    {BY} let $n := count($x) return <g>{{ local:mean($x/v/number(.)), $n }}</g>""",
    f"""declare function local:by($items, $key as function(*), $fold as function(*)) {{
      for $i in $items group by $k := $key($i) order by $k
      return <g k="{{ $k }}">{{ $fold($i) }}</g>
    }};
    local:by({A}, function($x) {{ string($x/k[1]) }}, function($g) {{ {TOTAL} }})""",
    f"""declare function local:f($g as element()*) as xs:decimal {{ {TOTAL} }};
    declare function local:fold($g, $f as function(element()*) as xs:decimal) {{ $f($g) }};
    {BY} return <g>{{ $k, local:fold($x, local:f#1) }}</g>""",
    f"{BY} return <g>{{ let $g := $x let $s := {TOTAL} return if ($s > 3) then $s else $k }}</g>",
    f"let $f := count#1 return ({BY} return <g>{{ $k, $f($x) }}</g>)",
    f"""let $over := function($limit, $g) {{ count($g/v[. > $limit]) }} let $two := $over(2, ?)
    return ({BY} return <g>{{ $k, $two($x) }}</g>)""",
    f"{BY} return <g>{{ $k, count(for $v in $x/v where $v > 2 return $v) }}</g>",
    f"""{BY} return <g>{{ sum(for $y in $x let $n := count($y/v) where $y/k = "x" and $n > 1
      return $n * count($y/k)) }}</g>""",
    f"""{BY} return <g>{{ string-join(for $y in $x, $v at $i in $y/v where $v > 1
      return concat($i, ":", $v), " ") }}</g>""",
    f"""{BY} let $n := count($x)
      return <g>{{ $n, avg(for $v in $x/v[. castable as xs:decimal] where $v > 1
        return 2 * $v) }}</g>""",
)
OTHERS = (
    f"""declare function local:above($g) {{ let $m := avg($g/v/number(.))
      for $y in $g where number($y/v[1]) > $m return $y/k[1] }};
    {BY} return <g>{{ $k, local:above($x) }}</g>""",
    f"""declare function local:f($g as element()+) {{ {TOTAL} }};
    {BY} return <g>{{ let $n := count($x) for $y in $x let $l := local:f($y)
      group by $l return ($l[1], count($y), $n[1]) }}</g>""",
    f"""declare function local:f($x) {{ string($x/k[1]) }};
    let $f := local:f#1 return (function-name($f) ! string(.), {A} ! $f(.))""",
    f"""for $x in {A}[number(v[1]) > 1]
    return <y>{{ (for $f in (name#1, string#1) return $f($x)) }}</y>""",
    # functions that operators keep: they are called with nodes of later ticks
    f"""declare function local:f($x, $n) {{ string-join(($x/k, $n/v), $n/k[1]) }};
    for $f in (local:f(?, ({A})[1]), name#1, local:f(?, ()),
      function($x) {{ $x/v[. = ({A})[1]/v] }})
    for $x in {A} return <y>{{ $f($x) }}</y>""",
    f"""let $m := map {{ "a": function($x) {{ $x/k }}, "b": string#1 }}
    for $x in {A} return <y>{{ $m?a($x), $m?b($x) }}</y>""",
    f"""for $u in {A} let $f := $u/string#0, $g := function-lookup(xs:QName("fn:string"), 1)
    for $x in stream("b")//u where $x/k = $u/k return <y>{{ $f(), $g($x) }}</y>""",
)


@pytest.mark.parametrize("query", [*FOLDED, *OTHERS])
@SETTINGS
@given(play=plays())
def test_the_answer_is_the_query_evaluated_afresh(query, play):
    follow(query, play)


@pytest.mark.parametrize("query", FOLDED)
def test_no_group_keeps_its_items(query):
    groups = [line for line in circuit_text(query).splitlines() if " group by " in line]
    assert groups
    assert not any("items" in line for line in groups)
