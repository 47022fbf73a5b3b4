"""What explain says of operators: how each part is computed, and what it keeps."""

from __future__ import annotations

import pytest

from xstreamcast.api import compiled
from xstreamcast.operators.explain import explain_operators, unbounded


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("//x[y > 3]", ["concatenation over the context item", "bounded: yes"]),
        ("/a/b/c[d]", ["units: elements 2 levels below the root"]),
        ("count(//x)", ["count over", "keeps: the unit that is being read; a number"]),
        ("for $x in //x order by $x/k return $x", ["order by over", "bounded: no"]),
        ("for $x in //x group by $k := $x/k return $k", ["group by over", "bounded: no"]),
        ('for $x in //x where $x/k < stream("b")//k return $x', ['all of stream("b")']),
        (
            'for $x in //x where $x/k = stream("b")//y/k return $x',
            ['joins: units of stream("b") where $x/k = stream("b")//y/k', "bounded: no"],
        ),
        ("(//x)[2]/..", ["recomputed and compared", "it counts positions over all units"]),
        ("//x/preceding::y", ["why: the axis preceding may leave the unit"]),
        ("//text()", ["why: it reads what stands between the units"]),
        ("for $x in //x return count(//x[k = $x/k])", ["why: it goes back to the root"]),
    ],
)
def test_each_part_is_told_with_its_reason(query, said):
    told = explain_operators(compiled(query))
    for one in said:
        assert one in told


def test_what_grows_is_said_beforehand():
    assert unbounded(compiled("//x[y]")) == []
    assert "order by" in unbounded(compiled("for $x in //x order by $x return $x"))[0]
    assert "kept whole" in unbounded(compiled("string(/)"))[0]
    (said,) = unbounded(compiled('stream("s")//x'), frozenset({"s"}))
    assert said.startswith('the history of stream("s") is kept, because')
    assert "--immutable PATH bounds" in said


def test_what_is_kept_inside_units_is_said():
    from xstreamcast.edges.structures import read_structure

    structure = read_structure(
        b"""<stream:structure xmlns:stream="urn:xstreamcast:stream"><tag id="1" name="accounts"
        type="snapshot"><tag id="2" name="account" type="temporal"><tag id="3" name="charge"
        type="event"/></tag></tag></stream:structure>"""
    )
    query = "for $a in stream('s')//account let $c := $a/charge return sum($c?[now - PT1H,now])"
    told = explain_operators(compiled(query), {"s": structure})
    assert "inside: sum($c?[now - PT1H,now])" in told
    assert "keeps: the values that each charge in a hole of account gives" in told
    assert "clock: one is looked at again when a bound of now passes an instant in it" in told
