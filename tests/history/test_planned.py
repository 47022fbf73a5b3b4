"""Planned states: what is valid after now counts for projections that reach it, and only there."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.oracle import STRATEGIES, answer, canonical
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated

WIRE = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="accounts" type="snapshot">
  <tag id="2" name="account" type="temporal">
    <tag id="3" name="limit" type="temporal"/><tag id="4" name="charge" type="event"/>
  </tag></tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2003-01-01"><accounts><stream:hole id="7" tsid="2"/></accounts></stream:filler>
<stream:filler id="7" tsid="2" validTime="2003-02-01"><account><stream:hole id="8" tsid="3"/><stream:hole id="9" tsid="4"/></account></stream:filler>
<stream:filler id="8" tsid="3" validTime="2003-02-01"><limit>2000</limit></stream:filler>
<stream:filler id="8" tsid="3" validTime="2003-06-01"><limit>5000</limit></stream:filler>
<stream:filler id="9" tsid="4" validTime="2003-07-01"><charge>30</charge></stream:filler>
</stream:fragments>"""  # noqa: E501
LIMITS = 'stream("s")//limit'

# query, as of 2003-04-01 → the texts of what it gives
ANSWERS = {
    LIMITS: ["2000"],
    f"{LIMITS}?[now]": ["2000"],
    f"{LIMITS}?[2003-03-01, now]": ["2000"],
    f"{LIMITS}?[2003-05-01]": ["2000"],  # until 2003-06-01, which is planned
    f"{LIMITS}?[2003-06-01]": ["5000"],
    f"{LIMITS}?[2030-01-01]": ["5000"],
    f"{LIMITS}?[now, now + P3M]": ["2000", "5000"],
    f"{LIMITS}?[now, now + P3M]#[last]": ["5000"],
    'for $a in stream("s")//account return $a/limit?[2004-01-01]': ["5000"],
    'stream("s")//account[limit?[2004-01-01] = 5000]/limit': ["2000"],
    'let $l := stream("s")//limit return $l?[2004-01-01]': [],  # it holds what there is
    f"for $i in (1, 2) return {LIMITS}?[(2004-01-01)[$i]]": ["5000"],  # no instant, no answer
    f"{LIMITS}?[now, ()]": [],
    'stream("s")//charge': [],
    'stream("s")//charge?[now, 2003-06-30]': [],
    'stream("s")//charge?[now, 2003-07-01]': ["30"],
}


@pytest.mark.parametrize("query", ANSWERS)
def test_what_is_planned_counts_for_projections_that_reach_it(query: str) -> None:
    for strategy in (*STRATEGIES, "auto"):
        found = xsc.query(query).run(s=WIRE, clock="2003-04-01", strategy=strategy)
        assert [node.string for node in found] == ANSWERS[query], strategy
    expected = answer(query, {"s": WIRE}, now="2003-04-01T00:00:00")
    assert [canonical(line) for line in found.lines()] == expected


def test_a_planned_state_lives_as_far_as_the_projection_reaches() -> None:
    found = xsc.query(f"{LIMITS}?[now, 2004-01-01]").run(s=WIRE, clock="2003-04-01")
    assert list(found.lines()) == [
        '<limit vtFrom="2003-04-01T00:00:00" vtTo="2003-06-01T00:00:00">2000</limit>',
        '<limit vtFrom="2003-06-01T00:00:00" vtTo="2004-01-01T00:00:00">5000</limit>',
    ]


def test_as_of_an_instant_nothing_later_is_known() -> None:
    found = xsc.query(f"{LIMITS}?[now, 2030-01-01]").run(s=WIRE, as_of="2003-04-01")
    assert [node.string for node in found] == ["2000"]


def test_several_streams_may_be_planned_up_to_different_instants() -> None:
    later = WIRE.replace(b"2003-06-01", b"2003-08-01")
    query = xsc.query('(stream("s")//limit, stream("t")//limit)?[2003-07-15]')
    found = query.run(s=WIRE, t=later, clock="2003-04-01")
    assert [node.string for node in found] == ["5000", "2000"]


def test_the_clock_must_be_one() -> None:
    with pytest.raises(Error, match="clock must be one of event, wall, an instant; got noon"):
        xsc.query(LIMITS).run(s=WIRE, clock="noon")


LATER = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="d" type="temporal"/></tag>'
    '</stream:structure><stream:filler id="0" tsid="1" validTime="2020-01-01"><r/>'
    "</stream:filler>"
) + "".join(
    f'<stream:filler id="{i}" tsid="2" in="0" messageTime="2020-01-01" validTime="{at}"{more}>'
    f"<d>{text}</d></stream:filler>"
    for i, at, more, text in (
        (1, "2020-01-01", ' validTo="2020-01-18"', "until the 18th"),
        (2, "2020-01-01", "", "until the 20th"),
        (2, "2020-01-20", "", "from the 20th"),
        (3, "2020-01-01", "", "nobody knows"),
        (4, "2020-01-10", ' validTo="2020-01-12"', "on the 10th"),
    )
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("2020-01-05", ["until the 18th", "until the 20th"]),  # nothing is planned until then
        ("2020-01-11", ["until the 18th", "until the 20th", "on the 10th"]),
        ("2020-01-18", ["until the 20th"]),
        ("2020-01-19", ["until the 20th"]),
        ("2020-01-20", ["from the 20th"]),
        ("2020-01-25", ["from the 20th"]),
        ("now", ["until the 18th", "until the 20th", "nobody knows"]),
        ("now + P4D", ["until the 18th", "until the 20th"]),
    ],
)
def test_a_state_whose_end_is_planned_is_there_until_then(query: str, expected: list[str]) -> None:
    asked = f'stream("s")//d?[{query}]/string()'
    wire = f"{LATER}</stream:fragments>".encode()
    assert list(xsc.query(asked).run(s=wire).lines()) == expected
    assert answer(asked, {"s": wire}) == expected
    told = Accumulated()
    for change in xsc.query(asked).watch(s=wire, batch=1):
        told.apply(change)
    assert told.items() == expected


def test_an_interval_after_now_clips_to_ends_that_are_known() -> None:
    asked = 'stream("s")//d?[2020-01-05, 2020-01-06] ! (string(@vtFrom), string(@vtTo))'
    wire = f"{LATER}</stream:fragments>".encode()
    known = ["2020-01-05T00:00:00", "2020-01-06T00:00:00"]
    assert list(xsc.query(asked).run(s=wire).lines()) == known * 2
    assert answer(asked, {"s": wire}) == known * 2
