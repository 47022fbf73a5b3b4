"""Projections to now, and projections of projections: each against SaxonC-HE."""

from __future__ import annotations

import pytest

from tests.history.test_semantics import ROOT, asked, stream
from xstreamcast.api import compiled
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch

pytest.importorskip("saxonche")

ROOT_THEN = ROOT.replace('tsid="1"', 'tsid="1" validTime="2003-01-01"', 1)


def version(day: int) -> str:
    said = f'id="1" tsid="2" validTime="2003-01-{day:02}"'
    return f"<stream:filler {said}><a><n>{day}</n></a></stream:filler>"


def beat(day: int) -> str:
    return f'<stream:heartbeat validTime="2003-01-{day:02}T00:00:00"/>'


WIRE = stream(ROOT_THEN, version(1), version(5), beat(9))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('string(vtFrom(stream("s")//a?[now]))', ["2003-01-05T00:00:00"]),
        ('string(now - vtFrom(stream("s")//a?[now]))', ["P4D"]),
        ('stream("s")//a?[now]/@vtFrom/string()', ["2003-01-05T00:00:00"]),
        ('stream("s")//a?[now,now]/@vtFrom/string()', ["2003-01-05T00:00:00"]),
        ('stream("s")//a?[now]/@vtTo/string()', ["now"]),
        ('stream("s")/r?[now]/a/@vtFrom/string()', ["2003-01-05T00:00:00"]),
        ('stream("s")//a?[2003-01-06]/@vtFrom/string()', ["2003-01-06T00:00:00"]),
        ('stream("s")//a?[now - P1D, now]/@vtFrom/string()', ["2003-01-08T00:00:00"]),
        ('stream("s")//a?[2003-01-04, now]?[now]/@vtFrom/string()', ["2003-01-05T00:00:00"]),
    ],
)
def test_what_is_projected_to_now_keeps_its_begin(query, expected):
    assert asked(query, WIRE) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?[2003-01-01,2003-01-03]?[2003-01-03]", ["1 3 3"]),
        ("?[2003-01-01,2003-01-05]?[2003-01-05]", ["5 5 5"]),
        ("?[2003-01-03]?[2003-01-03]", ["1 3 3"]),
        ("?[2003-01-01,2003-01-03]?[2003-01-04,2003-01-09]", []),
        ("?[2003-01-02,2003-01-08]?[2003-01-01,2003-01-06]", ["1 2 5", "5 5 6"]),
        ("?[2003-01-02,now]?[2003-01-01,2003-01-06]?[2003-01-06,now]", ["5 6 6"]),
        ("?[2003-01-02,2003-01-03]?[(),2003-01-06]", []),
    ],
)
def test_a_projection_of_a_projection_is_to_what_both_have_in_common(query, expected):
    shown = 'concat(n, " ", day-from-dateTime(vtFrom(.)), " ", day-from-dateTime(vtTo(.)))'
    assert asked(f'stream("s")//a{query} ! {shown}', WIRE) == expected


@pytest.mark.parametrize(
    ("query", "changes"),
    [
        ('stream("s")//a?[now]', 1),
        ('for $a in stream("s")//a?[now] return <a since="{vtFrom($a)}">{$a/n}</a>', 1),
        ('for $a in stream("s")//a?[now] return string(vtFrom($a))', 1),
        ('for $a in stream("s")//a[@vtFrom < 2003-01-04] return $a/n', 1),
    ],
)
def test_a_tick_revises_nothing_that_only_grew_older(query, changes):
    """Changes counted from the ticks, in which nothing but the clock moved."""
    watch = Watch(compiled(query), {"s": "fragments"})
    decoder, told, counts = Decoder("s", names=watch.names), Accumulated(), []
    pieces = stream(ROOT_THEN, version(1)).removesuffix(b"</stream:fragments>")
    for piece in (pieces, *(beat(day).encode() for day in (2, 3, 4))):
        watch.on_arrivals("s", decoder.feed(piece), decoder.ids)
        found = watch.tick()
        counts.append(len(found))
        for change in found:
            told.apply(change)
    assert counts == [changes, 0, 0, 0]
    assert len(told.items()) == 1
