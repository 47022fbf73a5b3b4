"""Projections that reach planned states, in a query that is left running: what `run` gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.operators.watched import Watched
from tests.planned_streams import planned

HEAD = """<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>
<tag id="0" name="r" type="snapshot"><tag id="1" name="d" type="temporal">
<tag id="2" name="c" type="event"/></tag></tag></stream:structure>
<stream:filler id="0" tsid="0" validTime="2020-01-01T00:00:00"><r/></stream:filler>"""
CLOSE = "</stream:fragments>"
QUERIES = (
    'stream("s")//d?[now, now + PT3M]',
    'count(stream("s")/r/d?[2020-01-01T00:00:00, 2020-01-01T00:05:00]/c)',
    'for $d in stream("s")//d?[now + PT2M] return <d k="{$d/@k}">{count($d/c)}</d>',
    'for $d in stream("s")//d return count($d/c?[2020-01-01T00:00:00, now + PT4M])',
    'for $d in stream("s")//d?[now, now + PT5M] group by $k := $d/@k return <g>{$k, count($d)}</g>',
    'let $d := stream("s")//d return count($d?[2020-01-01T00:08:00])',
    'count(stream("s")//d?[now]), count(stream("s")//d)',
)


def state(unit: int, key: str) -> str:
    return f'id="{unit}" tsid="1" in="0"><d k="{key}"/>'


def event(unit: int) -> str:
    return f'id="{unit}0" tsid="2" in="{unit}"><c/>'


@given(st.sampled_from(QUERIES), planned(state, event), st.integers(0, 7))
def test_the_answer_is_that_of_run_after_each_fragment(query, wire, stop):
    running, come = Watched(query, {"s": "fragments"}), HEAD
    running.feed("s", HEAD.encode())
    for number, one in enumerate(wire):
        if number == stop:
            running.restart()
        running.feed("s", one.encode())
        come += one
        afresh = xsc.query(query).run(s=(come + CLOSE).encode())
        assert running.told.items() == list(afresh.lines()), come


def test_what_is_planned_shows_before_it_begins_and_goes_when_it_is_over():
    running = Watched('stream("s")//d?[now, now + PT3M]/string(@k)', {"s": "fragments"})
    running.feed("s", HEAD.encode())
    plan = 'messageTime="2020-01-01T00:01:00" validTime="2020-01-01T00:04:00"'
    at = f'id="1" tsid="1" in="0" {plan} validTo="2020-01-01T00:06:00"'
    running.feed("s", f'<stream:filler {at}><d k="a"/></stream:filler>'.encode())
    assert running.told.items() == ["a"]
    running.feed("s", b'<stream:heartbeat validTime="2020-01-01T00:05:00"/>')
    assert running.told.items() == ["a"]
    running.feed("s", b'<stream:heartbeat validTime="2020-01-01T00:07:00"/>')
    assert running.told.items() == []
