"""What the papers leave open, settled: each against SaxonC-HE, once and left running."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.oracle import answer, canonical
from xstreamcast.api import compiled
from xstreamcast.edges.valid_time import valid_time
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.change import Accumulated
from xstreamcast.model.instant import parse_instant
from xstreamcast.operators.watching.watch import Watch

pytest.importorskip("saxonche")

HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="temporal"/>'
    '<tag id="3" name="e" type="event"/></tag></stream:structure>'
)


def stream(*lines: str) -> bytes:
    return f"{HEAD}{''.join(lines)}</stream:fragments>".encode()


def asked(query: str, wire: bytes, **options) -> list[str]:
    """The answer, if we give it as Saxon does, once and left running."""
    expected = answer(query, {"s": wire}, **options)
    ours = dict(options)
    found = list(xsc.query(query).run(s=wire, **ours).lines())
    assert [canonical(one) for one in found] == expected
    if not options:
        told = Accumulated()
        for change in xsc.query(query).watch(s=wire):
            told.apply(change)
        assert [canonical(one) for one in told.items()] == expected
    return expected


ROOT = '<stream:filler id="0" tsid="1"><r><stream:hole id="1" tsid="2"/></r></stream:filler>'
OLD = '<stream:{} id="1" tsid="2"><a>old</a></stream:{}>'


def test_a_repeat_without_a_valid_time_brings_nothing_back():
    filler, repeat = OLD.format("filler", "filler"), OLD.format("repeat", "repeat")
    replaced = '<stream:replace id="1" tsid="2"><a>new</a></stream:replace>'
    wire = stream(ROOT, filler, replaced, repeat)
    assert asked('stream("s")//a?[now]/string()', wire) == ["new"]
    assert asked('stream("s")//a/string()', wire) == ["old", "new"]
    assert asked('stream("s")//a/string()', stream(repeat, ROOT)) == ["old"]


def test_heartbeats_move_the_clock_of_the_translation_too():
    filler = '<stream:filler id="1" tsid="2" validTime="2020-01-01"><a>x</a></stream:filler>'
    root = ROOT.replace('tsid="1"', 'tsid="1" validTime="2020-01-01"', 1)
    beat = '<stream:heartbeat validTime="2020-01-05T00:00:00"/>'
    found = asked('stream("s")//a ! string(now - vtFrom(.))', stream(root, filler, beat))
    assert found == ["P4D"]


def test_attached_units_stand_behind_holes_in_an_order_of_their_own():
    def unit(name: str, tag: int, text: str, minute: int) -> str:
        element = "a" if tag == 2 else "e"
        said = f'id="{name}" tsid="{tag}" validTime="2020-01-01T00:0{minute}:00" in="0"'
        return f"<stream:filler {said}><{element}>{text}</{element}></stream:filler>"

    root = ROOT.replace('tsid="1"', 'tsid="1" validTime="2020-01-01"', 1)
    held = '<stream:filler id="1" tsid="2" validTime="2020-01-01"><a>held</a></stream:filler>'
    units = [unit("z", 2, "z", 1), unit("b", 2, "b", 2), unit("y", 3, "y", 4), unit("x", 3, "x", 5)]
    for lines in (units, units[::-1]):
        wire = stream(root, *lines, held)
        assert asked('stream("s")/r/*/string()', wire) == ["held", "b", "z", "y", "x"]


def test_a_planned_end_takes_effect_when_the_clock_passes_it():
    begin = "2020-01-01T19:00:00Z"
    wire = stream(
        ROOT.replace('tsid="1"', f'tsid="1" validTime="{begin}"', 1),
        f'<stream:filler id="1" tsid="2" validTime="{begin}"><a>x</a></stream:filler>',
        '<stream:remove id="1" tsid="2" validTime="2020-01-01T19:08:00Z"/>',
    )
    watch = Watch(compiled('stream("s")//a?[now]/string()'), {"s": "fragments"}, told_time=False)
    decoder, told = Decoder("s", names=watch.names), Accumulated()
    watch.on_arrivals("s", decoder.feed(wire), decoder.ids)
    shown = []
    for clock in ("19:05:00", "19:07:59", "19:08:00"):
        instant = parse_instant(f"2020-01-01T{clock}Z")
        assert instant is not None
        watch.reach(Moment(*instant))
        for change in watch.tick():
            told.apply(change)
        shown.append(told.items())
    assert shown == [["x"], ["x"], []]


TIMES = stream(
    ROOT.replace('tsid="1"', 'tsid="1" validTime="2003-01-01"', 1),
    *(
        f'<stream:filler id="1" tsid="2" validTime="2003-01-0{day}"><a><until>{until}</until>'
        f"<n>{day}</n></a></stream:filler>"
        for day, until in ((1, "2004-01-01T00:00:00"), (5, "2002-01-01T00:00:00"))
    ),
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('stream("s")//a[vtFrom(.) >= 2003-01-05]/n/string()', ["5"]),
        ('stream("s")//a[2003-01-05 <= vtFrom(.)]/n/string()', ["5"]),
        ('stream("s")//a[@vtFrom < 2003-01-05]/n/string()', ["1"]),
        ('stream("s")//a[vtFrom(.) >= 2003-01-06 - P1D]/n/string()', ["5"]),
        ('stream("s")//a[2003-01-03 + P1DT12H <= vtFrom(.)]/n/string()', ["5"]),
        ('stream("s")//a[now < 2004-03-08 - P1Y2M1D]/n/string()', ["1", "5"]),
        ('for $a in stream("s")//a where $a/until > now return string($a/n)', ["1"]),
        ('stream("s")//a[now > until]/n/string()', ["5"]),
        ('stream("s")//a?[now - P1Y2M3DT4H, now]/n/string()', ["1", "5"]),
        ('string(vtFrom(stream("s")//a#[1]) + P1Y1M1DT1H)', ["2004-02-02T01:00:00"]),
    ],
)
def test_times_stand_bare_in_comparisons_and_sums(query, expected):
    assert asked(query, TIMES) == expected


def test_a_version_is_a_whole_number():
    with pytest.raises(xsc.Error, match="a version must be a whole number"):
        list(xsc.query('stream("s")//a#[1.5]').run(s=TIMES).lines())
    assert list(xsc.query('stream("s")//a#[2.0]/n/string()').run(s=TIMES).lines()) == ["5"]


def test_a_structure_may_name_its_fragments_alone():
    told = Accumulated()
    for change in xsc.query('stream("s")//n/string()').watch(s=TIMES, batch=1):
        told.apply(change)
    assert told.items() == ["1", "5"]


def test_a_fragment_without_a_hole_is_counted_as_an_orphan():
    lost = '<stream:filler id="9" tsid="2"><a>lost</a></stream:filler>'
    astray = '<stream:filler id="8" tsid="2" in="7"><a>lost</a></stream:filler>'
    answered = xsc.query('stream("s")//a').run(s=stream(ROOT, lost, astray))
    assert "2 orphans, neither in a hole nor attached" in answered.loaded[0].summary()
    found = xsc.query('stream("s")//a').watching(
        None, {"s": stream(ROOT, lost)}, WatchOptions(batch=1)
    )
    for _ in found.ticks():
        pass
    assert any("1 orphan, neither in a hole nor attached" in line for line in found.report())


def test_a_stream_may_begin_with_a_heartbeat():
    body = ROOT + OLD.format("filler", "filler")
    wire = f'<heartbeat validTime="2020-01-01"/>{HEAD.partition(">")[2]}{body}'.encode()
    assert list(xsc.query('stream("s")//a/string()').run(s=wire).lines()) == ["old"]


def test_a_stream_without_a_structure_is_refused_once_and_left_running():
    wire = b'<stream:filler id="0" tsid="1"><r/></stream:filler>'
    with pytest.raises(xsc.Error, match="no tag structure has arrived"):
        xsc.query('stream("s")//a').run(s=wire)
    with pytest.raises(xsc.Error, match="no tag structure has arrived"):
        list(xsc.query('stream("s")//a').watch(s=wire))


@pytest.mark.parametrize(
    ("path", "payload", "expected"),
    [
        (
            "pubDate",
            b"<i><pubDate>Wed, 01 May 2024 08:00:00 GMT</pubDate></i>",
            "2024-05-01T08:00:00Z",
        ),
        (
            "d:at",
            b'<i xmlns:d="u"><at>2020-01-01</at><d:at>2020-01-02</d:at></i>',
            "2020-01-02",
        ),
        ("*:at", b'<i xmlns:d="u"><d:at>2020-01-02</d:at></i>', "2020-01-02"),
        ("@t", b'<i t="1714550400"/>', "2024-05-01T08:00:00Z"),
    ],
)
def test_valid_times_of_a_document_in_the_forms_of_feeds(path, payload, expected):
    assert valid_time(path)(payload) == expected


def test_a_valid_time_above_a_fragment_needs_a_mapping():
    with pytest.raises(xsc.Error, match=r"got \.\./at"):
        valid_time("../at")


def test_a_document_has_no_past():
    with pytest.raises(xsc.Error, match="needs a stream of fragments; the inputs are documents"):
        xsc.query('doc("d")//a').run(d=b"<a/>", as_of="2020-01-01")


def test_changes_whose_time_goes_back_lose_nothing():
    def line(day: str, diff: int, key: str, after: str, item: int) -> str:
        return (
            f'{{"time":"2020-01-{day}Z","diff":{diff},"key":"{key}","after":{after},'
            f'"item":"<i>{item}</i>"}}\n'
        )

    first, second = "01T00:00:00", "09T00:00:00"
    wire = line(first, 1, "0", "null", 5) + line(second, -1, "0", "null", 5)
    wire += line(second, 1, "0", "null", 6) + line("01T12:00:00", 1, "1", '"0"', 7)
    assert list(xsc.query('stream("s")//i/string()').run(s=wire.encode()).lines()) == ["6", "7"]


def test_a_heartbeat_before_the_structure_moves_the_clock():
    beat = '<stream:heartbeat validTime="2020-02-01"/>'
    root = ROOT.replace('tsid="1"', 'tsid="1" validTime="2020-01-01"', 1)
    filler = '<stream:filler id="1" tsid="2" validTime="2020-01-02"><a>x</a></stream:filler>'
    wire = stream(root, filler).replace(b"<stream:structure>", f"{beat}<stream:structure>".encode())
    assert asked('stream("s")//a ! string(now - vtFrom(.))', wire) == ["P30D"]


def test_a_stream_without_fragments_is_a_document_without_elements():
    assert asked('count(stream("s"))', stream()) == ["1"]
    assert asked('count(stream("s")//a)', stream()) == ["0"]


def test_what_names_a_parent_that_its_tag_does_not_stand_below_is_kept():
    root = ROOT.replace('tsid="1"', 'tsid="1" validTime="2020-01-01"', 1)
    filler = '<stream:filler id="1" tsid="2" validTime="2020-01-02"><a>x</a></stream:filler>'
    event = '<stream:filler id="2" tsid="3" validTime="2020-01-03" in="1"><e>y</e></stream:filler>'
    for lines in ((root, filler, event), (event, filler, root), (root, event, filler)):
        assert asked('stream("s")//a/e/string()', stream(*lines)) == ["y"]
        assert asked('for $a in stream("s")//a return string($a)', stream(*lines)) == ["xy"]
