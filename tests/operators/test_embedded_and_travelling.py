"""Elements of one tag, some of which are fragments and some parts of the fragment around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.model.change import Accumulated

HEAD = """<structure><tag id="1" name="bank" type="snapshot">
<tag id="2" name="account" type="temporal">
<tag id="5" name="owner"/><tag id="3" name="transaction" type="{}"><tag id="4" name="vendor"/>
<tag id="6" name="status" type="temporal"/></tag></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-05-01T08:00:00"><bank><hole id="1" tsid="2"/>
<hole id="2" tsid="2"/></bank></filler>
"""
QUERIES = (
    'stream("s")//transaction/vendor/string()',
    'stream("s")//vendor',
    'stream("s")//account?[now]//vendor',
    'stream("s")//transaction?[now]/vendor/string()',
    'stream("s")//transaction?[now - PT2M, now]/vendor',
    'stream("s")//transaction#[last]/vendor',
    'stream("s")//status/string()',
    'stream("s")//transaction/status?[now]/string()',
    'stream("s")//account/owner/string()',
    'count(stream("s")//transaction)',
    'count(stream("s")//account?[now]/transaction)',
    'for $a in stream("s")//account return count($a/transaction)',
    'for $a in stream("s")//account?[now] return <a>{$a/owner, $a//status}</a>',
    'for $t in stream("s")//transaction where $t/vendor = "t3" return $t/status/string()',
    'for $s in stream("s")//status?[now] return $s/../vendor/string()',
    'stream("s")//vendor/ancestor::account/@n/string()',
)


def filler(id_: str, tag: int, minute: int, inside: str) -> str:
    times = f'validTime="2026-05-01T08:{minute:02}:00"'
    return f'<filler id="{id_}" tsid="{tag}" {times}>{inside}</filler>\n'


def account(id_: int, minute: int, kinds: str) -> list[str]:
    """A version of an account, and its transactions: e embedded, h embedded with a hole, t a
    fragment, f a fragment with a hole."""
    inside, more = f"<owner>o{minute}</owner>", []
    for number, kind in enumerate(kinds):
        own = f"{id_}{minute}{number}"
        status = f"<status>{kind}{minute}</status>"
        if kind in "hf":
            more.append(filler(f"{own}1", 6, minute, status))
            status = f'<hole id="{own}1" tsid="6"/>'
        made = f"<transaction><vendor>{kind}{minute}</vendor>{status}</transaction>"
        if kind in "tf":
            more.append(filler(own, 3, minute, made))
            made = f'<hole id="{own}" tsid="3"/>'
        inside += made
    return [filler(str(id_), 2, minute, f'<account n="{id_}">{inside}</account>'), *more]


@st.composite
def streams(draw: st.DrawFn) -> list[str]:
    parts = [HEAD.format(draw(st.sampled_from(["event", "temporal"])))]
    rest = [
        part
        for minute in range(1, draw(st.integers(3, 6)))
        for part in account(draw(st.integers(1, 2)), minute, draw(st.sampled_from(WAYS)))
    ]
    return parts + (draw(st.permutations(rest)) if draw(st.booleans()) else rest)


WAYS = ("", "e", "h", "t", "f", "ht", "et", "hf", "ee")


def watched(query: str, parts: list[str]) -> list[str]:
    answer = Accumulated()
    source = (part.encode() for part in parts)
    for changes in xsc.query(query).watching(None, {"s": source}, WatchOptions(batch=1)).ticks():
        for change in changes:
            answer.apply(change)
    return answer.items()


@pytest.mark.parametrize("first", ["t", "f", "e", "h"])
@pytest.mark.parametrize("then", ["t", "f", "e", "h"])
def test_what_was_dropped_is_not_needed_when_the_other_kind_comes(first: str, then: str) -> None:
    parts = [HEAD.format("event"), *account(1, 1, first), *account(2, 2, then)]
    for query in (QUERIES[0], QUERIES[3], QUERIES[7]):
        assert watched(query, parts) == list(
            xsc.query(query).run(s="".join(parts).encode()).lines()
        )


@given(st.sampled_from(QUERIES), streams())
def test_watch_gives_what_run_gives(query: str, parts: list[str]) -> None:
    expected = list(xsc.query(query).run(s="".join(parts).encode()).lines())
    assert watched(query, parts) == expected
