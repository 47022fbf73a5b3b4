"""All rows go in a tick, and those that come have sort keys of another type."""

from __future__ import annotations

import pytest

from xstreamcast import query
from xstreamcast.model.change import Accumulated

KEY = "(if ($x/@k castable as xs:integer) then xs:integer($x/@k) else string($x/@k))"
STREAM = b"""<structure><tag id="1" name="r"><tag id="2" name="e" type="temporal"/></tag>
</structure>
<filler id="0" tsid="1" validTime="2026-01-01T00:00:00"><r><hole id="1" tsid="2"/><hole id="2"
 tsid="2"/><hole id="3" tsid="2"/><hole id="4" tsid="2"/></r></filler>
<filler id="1" tsid="2" validTime="2026-01-01T00:00:01"><e k="5"/></filler>
<filler id="3" tsid="2" validTime="2026-01-01T00:00:01"><e k="7"/></filler>
<remove id="1" tsid="2" validTime="2026-01-01T00:00:02"/>
<remove id="3" tsid="2" validTime="2026-01-01T00:00:02"/>
<filler id="2" tsid="2" validTime="2026-01-01T00:00:02"><e k="a"/></filler>
<filler id="4" tsid="2" validTime="2026-01-01T00:00:02"><e k="b"/></filler>
<filler id="2" tsid="2" validTime="2026-01-01T00:00:03"><e k="3"/></filler>
<filler id="4" tsid="2" validTime="2026-01-01T00:00:03"><e k="1"/></filler>
"""
QUERIES = {
    "rows": "SORTED",
    "first rows": "(SORTED)[position() <= 2]",
    "last row": "(SORTED)[last()]",
    "inside an element": "<a>{SORTED}</a>",
    "numbered": "for $k at $i in (SORTED) return concat($i, $k)",
    "joined to a string": 'string-join(SORTED, "-")',
    "reversed": "reverse(SORTED)",
    "windows": """for sliding window $w in (SORTED) start at $s when true()
        end at $e when $e = $s + 1 return string-join($w, "")""",
    "folded windows": """for tumbling window $w in (SORTED) start at $s when true()
        end at $e when $e = $s + 1 return <w>{sum($w ! string-length(.)), max($w)}</w>""",
}


@pytest.mark.parametrize("direction", ["ascending", "descending"])
@pytest.mark.parametrize("name", QUERIES)
def test_the_answer_is_that_of_run(name: str, direction: str):
    items = f'for $x in stream("s")//e?[now] order by {KEY} {direction} return string($x/@k)'
    asked = query(QUERIES[name].replace("SORTED", items))
    expected = list(asked.run(s=STREAM).lines())
    for batch in range(1, 10):
        changes = list(asked.watch(s=STREAM, batch=batch))
        assert Accumulated(changes).items() == expected, batch
