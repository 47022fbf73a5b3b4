"""Ids of tags are names: however large they are, they cost what small ones do."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from xstreamcast import query
from xstreamcast.edges.ingesting import ingest
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated

SMALL = """<structure><tag id="1" name="r"><tag id="2" name="a" type="temporal"><tag id="3" name="b"
type="event" filler="true"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-01-01T00:00:00"><r><hole id="5" tsid="2"/></r></filler>
<filler id="5" tsid="2" validTime="2026-01-02"><a n="1"><hole id="7" tsid="3"/></a></filler>
<filler id="7" tsid="3" validTime="2026-01-03T00:00:00"><b>x</b></filler>
<structure><tag id="1" name="r"><tag id="4" name="c" type="temporal"/><tag id="2" name="a"
type="temporal"><tag id="3" name="b" type="event" filler="true"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-01-04T00:00:00"><r><hole id="5" tsid="2"/>
<hole id="9" tsid="4"/></r></filler>
<filler id="9" tsid="4" validTime="2026-01-04T00:00:00"><c>y</c></filler>
<filler id="5" tsid="2" validTime="2026-01-05"><a n="2"><hole id="7" tsid="3"/></a></filler>
"""
LARGE = SMALL
for _id, _large in (("1", 2_147_483_647), ("2", 70_000), ("3", 1_000_000_000), ("4", 80_000)):
    LARGE = LARGE.replace(f'tsid="{_id}"', f'tsid="{_large}"')
    LARGE = LARGE.replace(f'<tag id="{_id}"', f'<tag id="{_large}"')
QUERIES = [
    'stream("s")//b',
    'stream("s")/r?[now]',
    'for $a in stream("s")//a return ($a/@n, $a/b, vtFrom($a))',
    'count(stream("s")//a), stream("s")//c',
]


GROWN = SMALL.replace('tsid="4"', 'tsid="80000"').replace('<tag id="4"', '<tag id="80000"')


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("policy", ["optimistic", "strict"])
def test_large_ids_change_nothing(text: str, policy: str):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    small, large = (one.encode() for one in (SMALL, LARGE))
    asked = query(text)
    assert list(asked.run(s=large).lines()) == list(asked.run(s=small).lines()) != []
    told = [
        Accumulated(asked.watch(s=one, policy=policy, batch=1)).items() for one in (small, large)
    ]
    assert told[0] == told[1] != []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kilobytes


@pytest.mark.parametrize("text", QUERIES)
def test_a_large_id_may_come_later(text: str):
    asked = query(text)
    assert list(asked.run(s=GROWN.encode()).lines()) == list(asked.run(s=SMALL.encode()).lines())


def test_a_table_says_that_it_cannot_keep_them(tmp_path: Path):
    (tmp_path / "s.xml").write_text(LARGE)
    with pytest.raises(Error, match="tag ids up to 65535 can be kept in tables"):
        ingest(tmp_path / "s.xml", tmp_path / "table", stream="s")


def test_an_id_must_have_31_bits():
    too_large = SMALL.replace('"1"', '"2147483648"').encode()
    with pytest.raises(Error, match="must be a number below 2147483648"):
        query('stream("s")//b').run(s=too_large, on_error="stop")


def test_a_fragment_with_a_larger_id_is_refused():
    bad = '<filler id="5" tsid="4294967297" validTime="2026-01-06"><a n="3"/></filler>'
    found = query('stream("s")//a/@n').run(s=f"{SMALL}{bad}".encode())
    assert list(found.lines()) == ['n="1"', 'n="2"']
