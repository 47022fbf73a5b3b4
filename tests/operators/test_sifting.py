"""Units that can never count are not made: the answer is that of the query asked afresh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuit.grammar import HEAD
from tests.operators.watched import Watched
from xstreamcast.operators.feeds.fragments import FragmentFeed

SIFTED = (
    'for $e in stream("s")//e where $e/x > 3 return $e/x',
    'stream("s")//e[x > 3]/x/string()',
    'stream("s")/r/e[x > 3 and @k = "b"]/x/string()',
    'for $e in stream("s")//e?[now] where $e/x > 3 and contains($e/@k, "a") return $e/@k || $e/x',
    'for $e in stream("s")//e?[now][x = 2] order by $e/@k return $e',
    'for $e in stream("s")//e where $e/x > 3 group by $k := string($e/@k) return ($k, count($e))',
    'for $e in stream("s")//e[@k] where not($e/x = 2) return <o>{$e/@vtFrom, $e/x/text()}</o>',
    'for $e in stream("s")//e[x >= 4]?[2020-01-01T00:00:02,now] return vtTo($e)',
)
UNSIFTED = (
    'for $e in stream("s")//e, $f in stream("s")//f where $e/x > 3 and $e/x = $f return $e/x',
    'for $e in stream("s")//e where $e/@vtTo > "2020" return $e/x',
    'for $e in stream("s")//e where vtFrom($e) > 2020-01-01T00:00:03 return $e/x',
    'count(stream("s")//e)',
    'for $e in stream("s")//e[2] return $e/x',
    'for $r in stream("s")//r where $r/@n = "1" return $r/e/x',
)


def at(second: int) -> str:
    return f"2020-01-01T00:00:{second:02}"


def head(kind: str) -> str:
    tags = (
        f'<tag id="1" name="r" type="snapshot"><tag id="3" name="e" type="{kind}" filler="true">'
        '<tag id="4" name="x" type="snapshot"/></tag><tag id="5" name="f" type="temporal" '
        'filler="true"/></tag>'
    )
    root = '<r n="1"><stream:hole id="1" tsid="3"/></r>'
    filler = f'<stream:filler id="0" tsid="1" validTime="{at(0)}">{root}</stream:filler>'
    return f"{HEAD}<stream:structure>{tags}</stream:structure>{filler}"


@st.composite
def fragments(draw) -> str:
    number, second = draw(st.integers(1, 4)), draw(st.integers(0, 9))
    where = f'id="{number}" tsid="3" validTime="{at(second)}"'
    if number > 1:
        where += ' in="0"'
    if draw(st.integers(0, 5)) == 0:
        return f"<stream:remove {where}/>"
    if draw(st.integers(0, 3)) == 0:
        where += f' to="{at(draw(st.integers(second, 10)))}"'
        where += draw(st.sampled_from(("", ' temporary="true"')))
    x, k = draw(st.integers(0, 6)), draw(st.sampled_from(("a", "b", "ab")))
    inner = f'<e k="b"><x>{draw(st.integers(0, 6))}</x></e>' if draw(st.integers(0, 6)) == 0 else ""
    if draw(st.integers(0, 6)) == 0:
        other = f'id="{number + 10}" tsid="5" validTime="{at(second)}" in="0"'
        return f"<stream:filler {other}><f>{x}</f></stream:filler>"
    return f'<stream:filler {where}><e k="{k}"><x>{x}</x>{inner}</e></stream:filler>'


ARRIVALS = st.lists(st.tuples(st.lists(fragments(), max_size=4), st.booleans()), max_size=6)


@pytest.mark.parametrize("query", SIFTED)
@given(st.sampled_from(("temporal", "event", "snapshot")), ARRIVALS)
def test_the_answer_is_that_of_the_query_asked_afresh(query, kind, arrivals):
    beside = Watched(query, {"s": "fragments"})
    beside.feed("s", head(kind).encode())
    for some, restarts in arrivals:
        if restarts:
            beside.restart()
        beside.feed("s", "".join(some).encode())
        assert beside.told.items() == beside.afresh()


def feed_of(query: str) -> FragmentFeed:
    beside = Watched(query, {"s": "fragments"})
    beside.feed("s", head("temporal").encode())
    found = beside.watch._feeds["s"]
    assert isinstance(found, FragmentFeed)
    return found


@pytest.mark.parametrize("query", SIFTED)
def test_a_test_of_the_content_sifts(query):
    assert feed_of(query).sifting is not None


@pytest.mark.parametrize("query", UNSIFTED)
def test_what_the_content_does_not_decide_is_not_sifted(query):
    assert feed_of(query).sifting is None


def test_no_unit_is_made_of_what_can_never_count():
    beside = Watched(SIFTED[0], {"s": "fragments"})
    beside.feed("s", head("temporal").encode())
    for number in range(200):
        where = f'id="{number % 50 + 2}" tsid="3" validTime="{at(number // 10)}" in="0"'
        x = 9 if number == 77 else 1
        beside.feed("s", f'<stream:filler {where}><e k="a"><x>{x}</x></e></stream:filler>'.encode())
    assert beside.told.items() == beside.afresh() == ["<x>9</x>"]
    feed = beside.watch._feeds["s"]
    assert isinstance(feed, FragmentFeed)
    assert feed._by_version is not None
    assert len(feed._by_version.units) == 1
    assert beside.evaluated <= 2
