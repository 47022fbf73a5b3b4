"""Windows and the clock: heartbeats alone change what windows there are, and what they say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.test_windows import _root
from tests.operators.watched import Watched
from tests.streams_strategies import HEAD
from xstreamcast.operators.relational.run import CircuitRun

STRUCTURE = (
    '<stream:structure><tag id="0" name="r" type="snapshot">'
    '<tag id="1" name="e" type="{}"/></tag></stream:structure>'
)
ITEM_BY_ITEM = [
    'for tumbling window $w in stream("s")//e?[now-PT10S,now] start $s when true() end $e at $j '
    "when $j mod 2 = 0 return <w>{ $w/@t/string() }</w>",
    'for sliding window $w in stream("s")//e?[now] start $s when true() only end $e '
    "when $e/@k eq $s/@k return count($w)",
    'count(for tumbling window $w in stream("s")//e?[now-PT5S,now]/@k/string() '
    "start when true() end $e next $n when $e ne $n return 1)",
]
MADE_AGAIN = [
    'for $u in distinct-values(stream("s")//e?[now-PT9S,now]/@k) for tumbling window $w in '
    'stream("s")//e?[now-PT9S,now][@k = $u] start when true() end at $j when $j mod 2 = 0 '
    "return <w k='{$u}'>{ $w/@t/string() }</w>",
    'for tumbling window $w in stream("s")//e start $s when true() only end $e '
    "when now - vtFrom($s) gt PT4S return <w>{ $w/@t/string() }</w>",
    'for tumbling window $w in stream("s")//e start $s when true() end next $n '
    "when vtFrom($n) - vtFrom($s) ge PT3S return <w>{ count($w), vtFrom($s) }</w>",
    'for sliding window $w in stream("s")//e start $s when true() end $e when $e/@k eq $s/@k '
    "where now - vtFrom($e) gt PT3S return <w>{ $w/@t/string() }</w>",
]


def at(second: int) -> str:
    return f"2024-01-01T00:00:{second:02d}Z"


@pytest.mark.parametrize("asked", [*ITEM_BY_ITEM, *MADE_AGAIN])
@settings(deadline=None, max_examples=examples(15))
@given(data=st.data(), kind=st.sampled_from(["event", "temporal"]))
def test_heartbeats_bring_windows_on(asked, data, kind):
    following = Watched(asked)
    following.feed("s", f"{HEAD}{STRUCTURE.format(kind)}".encode())
    _root(following, [1, 2, 3, 4, 5, 6])
    second = 0
    for number in range(data.draw(st.integers(1, 10))):
        second += data.draw(st.integers(0, 6))
        if data.draw(st.booleans()):
            following.feed("s", f'<stream:heartbeat validTime="{at(second)}"/>'.encode())
        else:
            k, which = data.draw(st.sampled_from("ab")), data.draw(st.integers(1, 6))
            following.feed(
                "s",
                f'<stream:filler id="{which}" tsid="1" validTime="{at(second)}">'
                f'<e k="{k}" t="{number}"/></stream:filler>'.encode(),
            )
        expected = following.afresh()
        assert expected is not None
        assert following.told.items() == expected, asked
        if data.draw(st.integers(0, 4)) == 0:
            following.restart()
    following.end()
    assert following.told.items() == following.afresh()


@pytest.mark.parametrize("asked", [*ITEM_BY_ITEM, *MADE_AGAIN])
def test_which_windows_go_on_by_the_clock(asked):
    following = Watched(asked)
    following.feed("s", f"{HEAD}{STRUCTURE.format('event')}".encode())
    running = following.watch.pipeline
    assert running is not None
    assert isinstance(running, CircuitRun)
    assert not running.circuit.whole or asked not in ITEM_BY_ITEM


def test_a_heartbeat_closes_a_window():
    following = Watched(ITEM_BY_ITEM[2])
    following.feed("s", f"{HEAD}{STRUCTURE.format('event')}".encode())
    _root(following, [1, 2])
    for number, k in enumerate("ab"):
        following.feed(
            "s",
            f'<stream:filler id="{number + 1}" tsid="1" validTime="{at(1 + number)}">'
            f'<e k="{k}"/></stream:filler>'.encode(),
        )
    assert following.told.items() == ["2"]
    following.feed("s", f'<stream:heartbeat validTime="{at(6)}"/>'.encode())
    assert following.told.items() == ["2"]
    following.feed("s", f'<stream:heartbeat validTime="{at(7)}"/>'.encode())
    assert following.told.items() == ["1"]
