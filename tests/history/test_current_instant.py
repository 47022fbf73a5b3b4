"""The current instant of a query over streams is that of their clock, in all ways to run it."""

from __future__ import annotations

from typing import Any

import pytest

import xstreamcast as xsc
from tests.oracle import STRATEGIES, answer
from xstreamcast.model.change import Accumulated

WIRE = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="ward" type="snapshot"><tag id="2" name="bed" type="temporal"/>
</tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2021-03-04T05:00:00"><ward/></stream:filler>
<stream:filler id="9" tsid="2" in="0" validTime="2021-03-04T06:30:00"><bed/></stream:filler>
<stream:heartbeat validTime="2021-03-04T23:30:00-02:00"/>
</stream:fragments>"""
FORMS = {
    "current-dateTime()": "2021-03-05T01:30:00Z",
    "fn:current-date()": "2021-03-05Z",
    "current-time()": "01:30:00Z",
    "current-dateTime() - vtFrom($b)": "PT19H",
}
INSTANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "2021-03-04T12:00:00Z": ({"clock": "2021-03-04T12:00:00"}, {"now": "2021-03-04T12:00:00"}),
    "2021-03-04T07:00:00Z": ({"as_of": "2021-03-04T07:00:00"}, {"as_of": "2021-03-04T07:00:00"}),
    "2021-03-04T08:00:00Z": (
        {"between": ("2021-03-04T05:00:00", "2021-03-04T08:00:00")},
        {"between": ("2021-03-04T05:00:00", "2021-03-04T08:00:00")},
    ),
}


def asked(form: str) -> str:
    return f'for $b in stream("s")//bed return string({form})'


@pytest.mark.parametrize("form", FORMS)
def test_the_current_instant_is_the_largest_time_of_the_streams(form: str) -> None:
    query = xsc.query(asked(form))
    assert list(query.run(s=WIRE).lines()) == [FORMS[form]]
    for size in (1, 2, 9):
        shown = Accumulated()
        for change in query.watch(s=WIRE, batch=size):
            shown.apply(change)
        assert shown.items() == [FORMS[form]]


@pytest.mark.parametrize("expected", INSTANTS)
def test_the_current_instant_is_the_one_that_an_option_sets(expected: str) -> None:
    given, to_saxon = INSTANTS[expected]
    query = asked("current-dateTime()")
    assert list(xsc.query(query).run(s=WIRE, **given).lines()) == [expected]
    pytest.importorskip("saxonche")
    assert answer(query, {"s": WIRE}, **to_saxon) == [expected]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("form", FORMS)
def test_the_translation_uses_the_clock_of_the_streams(form: str, strategy: Any) -> None:
    pytest.importorskip("saxonche")
    assert answer(asked(form), {"s": WIRE}, strategy=strategy) == [FORMS[form]]


def test_a_query_over_no_stream_uses_the_clock_on_the_wall() -> None:
    found = xsc.query("current-dateTime() > xs:dateTime('2026-01-01T00:00:00')").run()
    assert list(found.lines()) == ["true"]


def test_now_in_a_translation_that_reads_no_stream_is_the_clock_on_the_wall() -> None:
    pytest.importorskip("saxonche")
    assert answer("now > xs:dateTime('2026-01-01T00:00:00')", {}) == ["true"]
    assert answer("now > xs:dateTime('2026-01-01T00:00:00')", {}, now="2021-01-01T00:00:00") == [
        "false"
    ]
