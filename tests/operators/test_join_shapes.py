"""Joins in many places of a query: each is divided, and each answers as the query asked afresh."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_join_law import _interleaved, documents, streams, units
from tests.operators.watched import Watched
from xstreamcast.errors import Error

A, B, C = 'stream("a")//u', 'stream("b")//u', 'stream("c")//u'
QUERIES = (
    f"for $a in {A}, $b in {B}, $c in {C} where $a/k = $b/k and $b/v = $c/v "
    "return <t>{ $a/@n, $b/@n, $c/@n }</t>",
    f"for $a in {A}, $b in {B} where $a/k = $b/k where exists({C}[k = $b/k]) return $b/v",
    f"for $a in {A} return <t>{{ {B}[k = $a/k]/@n/string(), {C}[v = $a/v]/@n/string() }}</t>",
    f"for $a in {A} return <t>{{ for $b in {B}[k = $a/k] return <b>{{ {C}[v = $b/v] }}</b> }}</t>",
    f"for $a in {A}, $b in {B} where $a/k = $b/k and $a/v = $b/v return string($b/@n)",
    f"for $a in {A}, $b in {B} where concat('x', $a/@n) = concat('x', $b/@n) return $b/v",
    f"for $a in {A} where count({B}[k = $a/k]) > 1 return <t>{{ $a/@n, max({B}[k = $a/k]/v) }}</t>",
    f"for $a in {A} return if ($a/v = 'x') then {B}[k = $a/k]/v else <none/>",
    f"for $a in {A} let $b := {B}[k = $a/k], $c := {C}[k = $b/v] "
    "return <t>{ $a/@n, count($b), $c/@n/string() }</t>",
    f"for $a in {A} where some $b in {B}, $c in {C} satisfies $a/k = $b/k and $b/k = $c/k "
    "return string($a/@n)",
    f"for $a in {A} where every $b in {B}[k = $a/k] satisfies exists({C}[v = $b/v]) return $a/v",
    f"for $a in {A}, $k in $a/k, $b in {B} where $k = $b/k return <t>{{ $k, $b/@n }}</t>",
    f"for $a in {A} for $b in {B}[@n = $a/@n][v]/k return <t>{{ $b, ({C}[k = $b])[1]/v }}</t>",
    f"avg(for $a in {A}, $b in {B} where $a/k = $b/k return string-length($b))",
    f"for $a in {A}, $b in {B} where $a/k = $b/k group by $g := string($b/@n) "
    f"order by $g return <g n=\"{{$g}}\">{{ count($a) }}</g>",
    f"(for $a in {A}, $b in {B} where $a/k = $b/k return $b/v)[position() <= 2]",
    f"<all>{{ for $a in {A} where $a/k = {B}/k return $a/@n/string(), count({C}) }}</all>",
    f"distinct-values({A}[k = {B}/k]/v)",
    f"for $a in {A} where $a/k = ({B}[v = 'x']/k) and not($a/v = {C}/v) return <t>{{ $a/@n }}</t>",
    f"for $a in {A} order by count({B}[k = $a/k]), string($a) return <t>{{ $a/@n, $a/k }}</t>",
    'for $a in stream("a")/r/u[@n], $b in stream("b")/r/u[@n] where $a/@n eq $b/@n return $b/v',
    f"for $a in {A} return <t>{{ {B}[@n = $a/@n and k = $a/k]/v/text() }}</t>",
    f"for $a in {A} where $a/k = {B}/@n return {C}[@n = $a/k]/k",
    f"for $a in {A} return <t>{{ {B}[v != $a/v][k = $a/k]/@n/string() }}</t>",
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_every_shape_is_joined(number):
    beside = Watched(QUERIES[number], dict.fromkeys("abc", "document"))
    pipeline = beside.watch.pipeline
    assert pipeline is not None
    assert beside.joined
    assert not pipeline.circuit.whole


@st.composite
def grouped(draw):
    """A document with its units at different depths."""
    pieces = [b"<r>"]
    for _ in range(draw(st.integers(0, 3))):
        inner = "".join(draw(st.lists(units(), max_size=2)))
        pieces.append(
            draw(st.sampled_from([f"<g>{inner}</g>", inner, f"<u n='1'>{inner}</u>"])).encode()
        )
    return [*(one for one in pieces if one), b"</r>"]


@settings(deadline=None)
@given(st.data(), st.sampled_from(QUERIES))
def test_the_accumulated_answer_is_the_query_asked_afresh(data, query):
    kinds = {
        name: data.draw(st.sampled_from(["document", "document", "fragments"])) for name in "abc"
    }
    made = {"document": st.one_of(documents(), grouped()), "fragments": streams()}
    pieces = {name: data.draw(made[kind]) for name, kind in kinds.items()}
    beside = Watched(query, kinds)
    for name, chunk in data.draw(_interleaved(pieces)):
        try:
            beside.end(name) if chunk is None else beside.feed(name, chunk)
        except Error:
            assert beside.afresh() is None
            return
        if beside.watch.pipeline is not None:
            expected = beside.afresh()
            assert expected is None or beside.told.items() == expected
            if data.draw(st.integers(0, 3)) == 0:
                beside.restart()
