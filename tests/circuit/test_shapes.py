"""Queries whose operators were chosen badly once: the right ones run, and the answers hold."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays
from tests.circuit.test_golden import circuit_text
from tests.conftest import examples

A, B = 'stream("a")//u', 'stream("b")//u'
MAP = f"map:merge(for $x in {A} group by $k := string($x/k[1]) return map:entry($k, count($x)))"
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
    (  # the first rows of each group
        f"for $x in {A} group by $k := string($x/k[1]) order by $k return <g k='{{ $k }}'>{{ "
        "(for $y in $x order by number($y/v[1]) descending, string($y/k[2]) "
        "return <y>{ $y/v }</y>)[position() <= 2] }</g>",
        "rows within their group",
        ": items",
    ),
    (  # the same where keys are doubles from some row on, in groups that come and go
        f"for $x in {A}, $n in $x/v/number(.) let $m := if ($n = 10) then $n else xs:decimal(1) "
        "group by $k := $m where count($x) > 1 "
        "return <g>{ head(sort($x/k/string(.))), subsequence(sort($x/v/string(.)), 2, 2) }</g>",
        "group by",  # one node may be in several rows of a group, so that its items are read
        "rows within their group",
    ),
    (  # the same where every row has another node
        f"for $x in {A} let $n := number($x/v[1]) let $m := if ($n = 10) then $n "
        "else xs:decimal(1) group by $k := $m where count($x) > 1 "
        "return <g>{ head(sort($x/k/string(.))), subsequence(sort($x/v/string(.)), 2, 2) }</g>",
        "rows within their group",
        "recompute",
    ),
    (  # medians
        f"for $x in {A} group by $k := string($x/k[1]) let $s := sort($x/v/number(.)) "
        "return <m>{ avg($s[position() = ((count($s) + 1) idiv 2, count($s) idiv 2 + 1)]) }</m>",
        "positions $position",
        ": items",
    ),
    (  # a percentile, and one that there may not be
        f"let $s := sort({A}/v/number(.)) return ($s[xs:integer(ceiling(0.9 * count($s)))], "
        f"$s[xs:integer(({B}/v[. castable as xs:integer])[1])])",
        "positions $position",
        "recompute",
    ),
    (  # what only the group's row holds is read by each of its rows
        f"for $x in {A} group by $k := string($x/k[1]) return <g>{{ "
        "(for $y in $x where number($y/v[1]) >= avg($x/v/number(.)) order by $y/k[1] "
        "return $y/v)[1], $k }</g>",
        "group by",
        "rows within their group",
    ),
    (  # nodes that are in several pairs of a group count once, in document order
        f"for $x in {A}, $y in {B} where $x/k = $y/k group by $g := string($y/v[1]) return <g>{{ "
        "$g, sum($x/v/number(.)), string-join($x/k, '-'), count($y/k), count($x), "
        "avg($y/v/number(.)) }</g>",
        "sum of each node once",
        ": items",
    ),
    (  # the same where there is no join, or each pair is read for an outer row
        f"for $z in {A} return <z>{{ for $x in {B}, $y in {A} where $z/v = $x/v and $x/k = $y/k "
        "group by $g := string($x/k[1]) return max($y/v/number(.)) }</z>",
        "group by",
        "recompute",
    ),
    (  # different values of a group, texts and then numbers among them
        f"for $x in {A} group by $g := string($x/v[1]) return <g>{{ count(distinct-values($x/k)), "
        "exists(distinct-values($x/k[. = 'x'])), "
        "count(distinct-values($x/(v, k) ! (if (. castable as xs:integer) then number(.) else .)))"
        " }</g>",
        "count of different values",
        ": items",
    ),
    (  # all sub-sequences of a few items
        f"forseq $w in ({A}[k = 'x'])[position() <= 4] return <w>{{ $w/v }}</w>",
        "nest items",
        "recompute",
    ),
    (  # some children of the root by position, and what is below them
        'stream("a")/r/u[k = "x"][position() <= 2]/v/string()',
        "positions 1 to 2",
        "recompute",
    ),
    ('stream("a")/r/u[last()]/v', "positions -1 to -1", "recompute"),
    (  # the last one of each key, in one path
        'for $k in distinct-values(stream("a")/r/u/k) let $l := stream("a")/r/u[k = $k][last()] '
        "order by $k return <l k='{ $k }'>{ $l/v }</l>",
        "positions -1 to -1",
        "recompute",
    ),
    (
        'for $x in stream("b")//u return <l>{ stream("a")/r/u[k = $x/k][last() - 1]/v, '
        'stream("a")/r/u[k = $x/k][position() > last() - 2]/k }</l>',
        "join eq",
        "recompute",
    ),
    (  # elements around units that cannot have what is asked of them
        'stream("a")//*[k = "x"]/v',
        "units of",
        "recompute",
    ),
    (  # a loop over the root
        'for $r in stream("a")/r return <n>{ count($r//u), sum($r/u/v/number(.)) }</n>',
        'the root r of stream("a")',
        "recompute",
    ),
    (
        'for $r in stream("a")/r, $x in $r/u group by $k := string($x/k[1]) '
        "return <n k='{ $k }'>{ count($x/v) }</n>",
        ": count",
        "the root",
    ),
    ('stream("a")/r/count(u)', "the root r", "recompute"),
    (  # positions among items that all rows share
        f"for $x in {A} return <n>{{ ({B})[count($x/v)]/k }}</n>",
        "number rows",
        "recompute",
    ),
    (f"head(reverse({A}))/v", "positions -1 to -1", "recompute"),
    (  # windows within groups, one after another
        f"for $x in {A} group by $k := string($x/k[1]) return for sliding window $w in $x "
        "start at $s when true() only end at $e when $e - $s = 1 "
        "return <w k='{ $k }'>{ sum($w/v/number(.)), count($w) }</w>",
        "sliding windows",
        ": items",
    ),
    (  # in the element of each group, ordered and some of them left out
        f"for $x in {A} group by $k := $x/k[1] where count($x) > 1 order by $k descending "
        "return <g>{ for tumbling window $w in $x start $s when true() "
        "end $e next $n when $e/v[1] != $n/v[1] return <w>{ $k, $w/v }</w> }</g>",
        "tumbling windows",
        ": items",
    ),
    (  # groups within groups, of which a row may be the first of another one at any time
        f"for $x in {A} group by $k := string($x/k[1]) return for $y in $x "
        "group by $v := string($y/v[1]) return <g>{ $k, $v, count($y), sum($y/v/number(.)) }</g>",
        "count, sum",
        ": items",
    ),
    (
        f"for $x in {A} group by $k := string($x/k[1]) return <g k='{{ $k }}'>{{ for $y in "
        "$x group by $v := string($y/v[1]) order by $v return <v>{ count($y), $y/k }</v> }</g>",
        "rows within their group",
        "recompute",
    ),
    (  # keys that are numbers are not the same in all rows of a group
        f"for $x in {A} let $n := number($x/v[1]) let $m := if ($n = 10) then $n else "
        "xs:decimal(10) group by $k := $m return for tumbling window $w in $x "
        "start at $s when true() end at $e when $e - $s = 1 return <w>{ $k, count($w) }</w>",
        "group by",
        "recompute",
    ),
    (  # a window whose condition reads the group
        f"for $x in {A} group by $k := string($x/k[1]) let $n := count($x) return "
        "for sliding window $w in $x start at $s when true() end at $e when $e - $s = $n - 2 "
        "return <w>{ $w/v }</w>",
        "group by",
        "rows within their group",
    ),
    (  # functions that call a function for each item are loops
        f"sum(for-each({A}, function($x) {{ $x/v[1] ! number(.) * 2 }}))",
        "nest sum",
        "for-each",
    ),
    (
        f"let $f := function($x as element()) {{ $x/k = 'x' }} return filter({A}, $f)/v",
        "where any-eq",
        "recompute",
    ),
    (
        f"sort({A}, (), function($x) {{ -number($x/v[1]) }})[position() <= 2]/k",
        "positions 1 to 2",
        "recompute",
    ),
    (  # a map of groups, read by key
        f"let $m := map:merge(for $x in {A} group by $k := string($x/k[1]) "
        "return map:entry($k, sum($x/v/number(.)))) "
        f"for $y in {B} return <y>{{ $m(string($y/k[1])) }}</y>",
        "group by",
        "recompute",
    ),
    (  # nodes in maps and in arrays, beyond the evaluation that made them
        f"for $x in {A} let $m := map {{ 'n': $x, 'z': [$x/v, -0e0] }} order by $x/k[1] "
        "return <m>{ $m?n/v, $m?z(1), $m?z(2) }</m>",
        "order by",
        "recompute",
    ),
    (
        f"let $a := array {{ {A} }}, $m := map:merge(for $x in {B} group by $k := string($x/k[1]) "
        f"return map:entry($k, $x)) for $y in {A} "
        "return <a>{ array:size($a), $a?*[k = $y/k]/v, $m(string($y/k[1]))/v }</a>",
        "nest items",
        "recompute",
    ),
    (
        "for $k in " + MAP + " ! map:keys(.) order by $k return <k>{ $k }</k>",
        "group by",
        "recompute",
    ),
)


@pytest.mark.parametrize("query", [one[0] for one in QUERIES])
@settings(
    max_examples=examples(10),
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
