"""Variables of the prolog that make nodes of an input: kept up to date, the same in each use."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.test_generated_queries import follow, plays
from tests.conftest import examples

A, B = 'stream("a")//u', 'stream("b")//u'
GROUPS = f"declare variable $g := for $x in {A} group by $k := string($x/k[1]) order by $k "
QUERIES = (
    GROUPS + "return <g k='{ $k }'>{ count($x) }</g>; $g[. > 1]",
    f"declare variable $g := {A}?[now]; for $x in $g where $x/k return <n>{{ count($g) }}</n>",
    f"declare variable $g := <all>{{ {A} }}</all>; count($g/u | $g/u[k])",
    f"declare variable $a := <a>{{ {A}[1] }}</a>; declare variable $b := <b>{{ $a/u/v }}</b>;"
    f" ($a is $a, $b/v/string(), count($b/* | $a/*), count({B}))",
    GROUPS + "return <g>{ $k, count($x) }</g>; declare function local:f($n) { $g[$n] }; "
    "(local:f(1), local:f(2))",
    f"declare variable $g := <all>{{ {A} }}</all>; declare function local:f($n) {{ "
    "if ($n = 0) then count($g/u) else local:f($n - 1) }; local:f(2)",
    f"declare function local:made() {{ <m>{{ count({A}) }}</m> }}; "
    "declare variable $m := local:made(); ($m is $m, $m/string(), count($m | $m))",
    "declare function local:down($n) { if ($n = 0) then count($g) else local:down($n - 1) }; "
    f"declare variable $g := {A}; declare variable $h := local:down(1); <n>{{ $h }}</n>",
    f"declare variable $m := map:merge(for $x in {A} group by $k := string($x/k[1]) "
    "return map:entry($k, <c>{ count($x) }</c>)); $m('x')/text()",
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
