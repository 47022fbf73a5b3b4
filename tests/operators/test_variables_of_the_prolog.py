"""Variables of the prolog that stand for streams, read by each other and by functions."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.oracle import STRATEGIES, answer
from xstreamcast.model.change import Accumulated

WIRE = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="shop" type="snapshot"><tag id="2" name="price" type="temporal"/>
</tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2020-01-01">
<shop><stream:hole id="p" tsid="2"/></shop></stream:filler>
<stream:filler id="p" tsid="2" validTime="2020-01-02"><price>3</price></stream:filler>
<stream:filler id="p" tsid="2" validTime="2020-01-05"><price>4</price></stream:filler>
</stream:fragments>"""
PRICES = 'declare variable $x := stream("s")/shop/price; '
AGAIN = "declare function local:f($n) { if ($n = 0) then %s else local:f($n - 1) }; local:f(2)"
QUERIES = {
    "declare variable $y := count($x); $y": ["2"],
    "declare variable $y := count($x); declare variable $z := $y + sum($x); $z": ["9"],
    "declare variable $y := $x[. > 3]; string($y)": ["4"],
    "declare function local:f() { sum($x) }; local:f()": ["7"],
    "declare function local:f() { for $v in $x return string($v) }; local:f()": ["3", "4"],
    "declare variable $y := count($x); declare function local:f() { $y + sum($x) }; local:f()": [
        "9"
    ],
    AGAIN % "sum($x)": ["7"],
    "declare variable $y := count($x); " + AGAIN % "$y": ["2"],
}


@pytest.mark.parametrize("query", QUERIES)
def test_what_variables_stand_for_is_read_wherever_they_are(query: str) -> None:
    expected, text = QUERIES[query], PRICES + query
    for strategy in (*STRATEGIES, "auto"):
        assert list(xsc.query(text).run(s=WIRE, strategy=strategy).lines()) == expected
    for size in (1, 2, 9):
        shown = Accumulated()
        for change in xsc.query(text).watch(s=WIRE, batch=size):
            shown.apply(change)
        assert shown.items() == expected
    pytest.importorskip("saxonche")
    assert answer(text, {"s": WIRE}) == expected


def test_a_variable_in_a_predicate_keeps_its_own_context_item() -> None:
    text = "declare variable $x := //price; //offer[. = max($x)]/string()"
    offers = b"<price>4</price><offer>3</offer>", b"<offer>4</offer></r>"
    pieces = iter([b"<r><price>3</price>", *offers])
    shown = Accumulated()
    for change in xsc.query(text).watch(pieces, batch=1):
        shown.apply(change)
    assert shown.items() == ["4"]
