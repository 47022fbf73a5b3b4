"""Nodes that a query makes have an order, however they are sorted later: that of making them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.circuit.grammar import END
from tests.circuit.test_generated_queries import plays
from tests.conftest import examples
from tests.operators.watched import Watched
from xstreamcast.errors import Error

A, B = 'stream("a")//u?[now]', 'stream("b")//u?[now]'
QUERIES = (
    f"(for $x in {A} order by string($x/k[1]) return $x)/v/string()",
    f"(for $x in {A} order by number($x/v[1]) descending return $x)[position() <= 2]/k",
    f"(for $x in {A} group by $k := string($x/k[1]) order by $k descending return $x)/v",
    f"<all>{{ reverse({A})/v }}</all>",
    f"let $a := {A}, $b := {B} return (for $y in $b, $x in $a where $x/k = $y/k return $x)/v",
    f"(for $x in {A} order by string($x/k[1]) return <e>{{ $x/v, $x/k }}</e>)/v",
    f"(for $x in ({A}, {B}) order by string($x/v[1]) descending return $x)/k/string()",
    f"let $m := for $x in {A} order by $x/v[1] return <m>{{ $x/k }}</m> return ($m[k = 'x'] | $m)",
)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("restarts", [False, True])
@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(play=plays())
def test_paths_are_in_document_order(query, restarts, play):
    beside = Watched(query, {"a": "fragments", "b": "fragments"})
    for name, chunk, ticked in [*play, ("a", END, True), ("b", END, True)]:
        try:
            beside.feed(name, chunk, tick=ticked)
        except Error:
            assert beside.afresh() is None
            continue
        found = beside.afresh() if ticked else None
        assert found is None or beside.told.items() == found
        if restarts:
            beside.restart()
