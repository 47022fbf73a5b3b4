"""Strings that are compared by another collation than codepoints: watched as evaluated afresh."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.circuit.grammar import END, HEAD, STRUCTURE
from tests.conftest import examples
from tests.operators.watched import Watched

COLLATION = "http://www.w3.org/2005/xpath-functions/collation/html-ascii-case-insensitive"
A = 'stream("a")//u'
QUERIES = (
    f"distinct-values({A}/k)",
    f"count(distinct-values({A}/k))",
    f"min({A}/k/string(.))",
    f"max({A}/k/string(.))",
    f"for $x in {A} group by $n := count($x/v) return distinct-values($x/k)",
    f"for $x in {A} group by $n := count($x/v) return <m>{{ min($x/k/string(.)) }}</m>",
    f"for $x in {A} group by $k := string($x/k[1]) order by $k return <g>{{ $k, count($x) }}</g>",
    f"for $x in {A} order by string($x/k[1]) return $x/k/string()",
    f"sort({A}/k/string(.))",
    f"for $x in {A}, $y in {A} where $x/k = $y/k return <p>{{ $x/k/text(), $y/k/text() }}</p>",
    f"for $x in {A} where $x/k = max({A}/k/string(.)) return $x/k",
    f"for $x in {A} where string($x/k[1]) < max({A}/k/string(.)) return $x/k",
    f"count({A}[k = 'A'])",
    f"for $x in {A} let $n := count({A}[k > $x/k]) return $n",
    f"""for tumbling window $w in {A}/k/string(.) start $s when true()
    end next $n when $n ne $s return <w>{{ $w, min($w) }}</w>""",
)


@st.composite
def streams(draw) -> list[bytes]:
    ids = range(1, 6)
    holes = "".join(f'<stream:hole id="{i}" tsid="2"/>' for i in ids)
    time = 'validTime="2020-01-01T00:00:00"'
    root = f'<stream:filler id="0" tsid="1" {time}><r>{holes}</r></stream:filler>'
    out = [HEAD + STRUCTURE + root]
    for _ in range(draw(st.integers(2, 7))):
        keys = "".join(f"<k>{k}</k>" for k in draw(st.lists(st.sampled_from("aAbB"), max_size=2)))
        one = draw(st.sampled_from(ids))
        out.append(f'<stream:filler id="{one}" tsid="2" {time}><u>{keys}</u></stream:filler>')
    return [chunk.encode() for chunk in out]


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chunks=streams())
def test_the_answer_is_the_query_asked_afresh(query, chunks):
    beside = Watched(f'declare default collation "{COLLATION}"; {query}', {"a": "fragments"})
    for chunk in [*chunks, END]:
        beside.feed("a", chunk)
        assert beside.told.items() == beside.afresh()
