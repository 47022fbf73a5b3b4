"""e?[a,b]?[c,d] is one projection, also where a bound is computed from an input."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.oracle import answer, canonical
from xstreamcast.model.change import Accumulated

pytest.importorskip("saxonche")

CLOSURES = 'stream("s")/roads/closure'
EARLY = "?[start, 2020-02-01]"
WIRE = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>
<tag id="1" name="roads" type="snapshot"><tag id="2" name="closure" type="temporal" filler="true">
<tag id="3" name="road"/></tag></tag></stream:structure>
<stream:filler id="1" tsid="2" validTime="2020-02-29"><closure><road>A8</road></closure>
</stream:filler>
<stream:filler id="0" tsid="1" validTime="2020-02-28"><roads><stream:hole id="1" tsid="2"/></roads>
</stream:filler>
<stream:replace id="1" tsid="2" validTime="2020-03-01"><closure><road>A9</road></closure>
</stream:replace></stream:fragments>"""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"let $x := {CLOSURES} return $x/road{EARLY}?[vtTo($x), now]", []),
        (f"let $x := {CLOSURES} return $x/road?[now]{EARLY}?[vtTo($x), now]", []),
        (f"let $x := {CLOSURES} return count($x/road{EARLY}?[vtTo($x), now])", ["0"]),
        (f"for $x in {CLOSURES} return {CLOSURES}/road{EARLY}?[vtFrom($x), vtTo($x)]", []),
        (f"for $x in {CLOSURES} return {CLOSURES}/road{EARLY}?[vtTo($x), now]", []),
        (f"for $x in {CLOSURES}/road{EARLY}?[max({CLOSURES}/vtFrom(.)), now] return $x", []),
        (f"let $x := {CLOSURES} return {CLOSURES}?[start, now]?[vtTo($x), now]/road", ["A9"]),
        (f"for $x in {CLOSURES} return $x/road{EARLY}?[now]?[vtTo($x), now]", ["A8", "A9"]),
    ],
)
@pytest.mark.parametrize("batch", [1, 1000])
def test_both_intervals_count_for_what_is_projected(
    query: str, expected: list[str], batch: int
) -> None:
    found = [canonical(one) for one in xsc.query(query).run(s=WIRE).lines()]
    assert found == answer(query, {"s": WIRE})
    assert [one.replace("<road>", "").replace("</road>", "") for one in found] == expected
    told = Accumulated()
    for change in xsc.query(query).watch(s=WIRE, batch=batch):
        told.apply(change)
    assert [canonical(one) for one in told.items()] == found
