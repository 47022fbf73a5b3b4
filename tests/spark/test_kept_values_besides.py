"""What a query reads besides a comparison that kept values decide is still read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle import answer
from tests.spark.test_kept_values import _local, _table, _tasks, every_row

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.table.values.indexing import index

__all__ = ["every_row"]

STREAM = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="r" type="snapshot"><tag id="2" name="e" type="temporal">
<tag id="3" name="h" type="temporal"/></tag></tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2020-01-01"><r><stream:hole id="1" tsid="2"/>
<stream:hole id="2" tsid="2"/></r></stream:filler>
<stream:filler id="1" tsid="2" validTime="2020-01-01"><e><v>1</v><d t="x">in one</d>
<stream:hole id="3" tsid="3"/></e></stream:filler>
<stream:filler id="2" tsid="2" validTime="2020-01-01"><e><v>2</v><d t="x">in two</d>
<stream:hole id="4" tsid="3"/></e></stream:filler>
<stream:filler id="3" tsid="3" validTime="2020-01-01"><h n="3"><w>5</w></h></stream:filler>
<stream:filler id="4" tsid="3" validTime="2020-01-01"><h n="4"><w>6</w></h></stream:filler>
</stream:fragments>
"""


@pytest.mark.parametrize(
    "text",
    [
        'stream("s")//e[v = "1"]/v, stream("s")//d[@t = "x"]',
        'stream("s")//e[v = "1"]/h/w, stream("s")//h[@n = "4"]/@n',
        'stream("s")//e[h = "5"]/v, stream("s")//h[@n = "4"]/@n',
        'stream("s")//e[v = "1"][h/w = 5]/v, stream("s")//h[@n = "4"]/@n',
        'stream("s")//r[e/v = "2"]/name(), stream("s")//e[v = "1"]/v',
        'count(stream("s")//e[v = "1"]/..), stream("s")//d[@t = "x"]',
        'stream("s")//*[v = "2"]/d, stream("s")//*[@n = "4"]/w',
        'stream("s")//*[w = "6"]/@n, stream("s")//e[v = "1"]/h/@n',
        'stream("s")//r[.//w = "6"]/e/v, stream("s")//*[v = "1"]/d',
    ],
)
def test_two_comparisons_in_a_query_do_not_hide_what_the_other_reads(
    text: str, tmp_path: Path
) -> None:
    table = _table(str(tmp_path), STREAM, None)
    expected = answer(text, {"s": STREAM})
    assert _local(text, table) == expected
    assert _tasks(text, table) == expected
    index(table, ["//e/v", "//h/@n"])
    assert _local(text, table) == expected
    assert _tasks(text, table) == expected
