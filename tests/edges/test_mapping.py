"""Mappings: messages to units, what is refused and why, and what a mapping may say."""

from __future__ import annotations

from pathlib import Path

import pytest

import xstreamcast as xsc
from xstreamcast.api import compiled
from xstreamcast.cli.main import main
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.finding import split_source
from xstreamcast.edges.mapping.form import TimeRule, parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.edges.mapping.times import instant_of
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import Refused
from xstreamcast.model.instant import show_instant
from xstreamcast.operators.watching.watch import Watch


class Feed:
    """A mapping, messages, and questions about them, once and left running."""

    def __init__(self, mapping: str, tmp_path: Path) -> None:
        self.path = tmp_path / "m.toml"
        self.path.write_text(mapping)
        self.folder = tmp_path / "data"
        self.folder.mkdir()
        self.count = 0

    def say(self, *messages: str) -> None:
        for message in messages:
            self.count += 1
            (self.folder / f"{self.count:03}.xml").write_text(message)

    def ask(self, query: str, **options) -> list[str]:
        refused: list[Refused] = []
        source = Path(f"{self.path}:{self.folder}")
        found = list(xsc.query(query).run(s=source, keep=refused.append, **options).lines())
        self.refused = [f"{one.code} {one.reason}" for one in refused]
        if not options:
            told = Accumulated()
            for change in xsc.query(query).watch(s=source):
                told.apply(change)
            assert told.items() == found
        return found


UNIT = """
[message]
time = "/m/@at"
[unit.u]
path = "/m/u"
key  = ["@a", "@b"]
from = "@from"
to   = "@to"
version = "@v"
remove = "@gone = 'yes'"
"""


def message(at: int, *units: str) -> str:
    return f'<m at="2024-01-01T00:{at:02}:00Z">{"".join(units)}</m>'


def unit(a: str, b: str, begin: int, text: str, **more: object) -> str:
    said = "".join(f' {name}="{value}"' for name, value in more.items())
    return f'<u a="{a}" b="{b}" from="2024-01-01T00:{begin:02}:00Z"{said}>{text}</u>'


def test_two_messages_about_one_thing_are_two_versions(tmp_path):
    feed = Feed(UNIT, tmp_path)
    feed.say(message(1, unit("x", "1", 1, "one"), unit("x", "2", 1, "other")))
    feed.say(message(5, unit("x", "1", 5, "two")))
    versions = 'for $u in stream("s")//u return concat($u, " ", $u/@vtFrom, " ", $u/@vtTo)'
    assert feed.ask(versions) == [
        "one 2024-01-01T00:01:00Z 2024-01-01T00:05:00Z",
        "two 2024-01-01T00:05:00Z now",
        "other 2024-01-01T00:01:00Z now",
    ]
    assert feed.ask('string-join(stream("s")//u?[now], " ")') == ["two other"]
    assert feed.ask('stream("s")//u#[2]/string()') == ["two"]
    assert feed.ask('string-join(stream("s")//u, " ")', as_of="2024-01-01T00:02:00Z") == [
        "one other"
    ]


def test_a_version_orders_corrections_of_one_instant(tmp_path):
    feed = Feed(UNIT, tmp_path)
    feed.say(
        message(3, unit("x", "1", 1, "third", v=3)), message(2, unit("x", "1", 1, "second", v=2))
    )
    assert feed.ask('stream("s")//u/string()') == ["third"]


def test_an_end_belongs_to_its_version(tmp_path):
    feed = Feed(UNIT, tmp_path)
    ends = "2024-01-01T00:08:00Z"
    feed.say(message(1, unit("x", "1", 1, "short", to=ends)))
    feed.say(message(2, unit("x", "1", 2, "long")))
    feed.say(message(9, unit("y", "1", 9, "later")))
    assert feed.ask('stream("s")//u?[now]/string()') == ["long", "later"]


def test_what_is_planned_takes_effect_when_the_clock_passes_it(tmp_path):
    feed = Feed(UNIT, tmp_path)
    ends = "2024-01-01T00:08:00Z"
    feed.say(message(1, unit("x", "1", 1, "now", to=ends), unit("y", "1", 6, "planned")))
    now = 'stream("s")//u?[now]/string()'
    assert feed.ask(now) == ["now"]
    reached = 'stream("s")//u?[now, now + PT10M]/string()'
    source = Path(f"{feed.path}:{feed.folder}")
    assert list(xsc.query(reached).run(s=source).lines()) == ["now", "planned"]
    feed.say(message(7))
    assert feed.ask(now) == ["now", "planned"]
    feed.say(message(8))
    assert feed.ask(now) == ["planned"]


def test_a_message_takes_a_unit_away_and_another_brings_it_back(tmp_path):
    feed = Feed(UNIT, tmp_path)
    feed.say(message(1, unit("x", "1", 1, "a")), message(2, unit("x", "1", 2, "", gone="yes")))
    assert feed.ask('count(stream("s")//u?[now])') == ["0"]
    feed.say(message(3, unit("x", "1", 3, "b")))
    assert feed.ask('stream("s")//u ! concat(., " ", @vtTo)') == [
        "a 2024-01-01T00:02:00Z", "b now",
    ]  # fmt: skip


def test_what_does_not_fit_is_refused_and_the_stream_goes_on(tmp_path):
    feed = Feed(UNIT, tmp_path)
    feed.say("<m><u", message(1, '<u a="x"/>', unit("x", "2", 1, "good")))
    feed.say(message(2, '<u a="x" b="3" from="soon">bad</u>', unit("x", "4", 2, "fine", v="one")))
    feed.say('<m at="never"><u a="q" b="q" from="2024-01-01"/></m>')
    assert feed.ask('stream("s")//u/string()') == ["good"]
    assert [one.split(" ", 1)[0] for one in feed.refused] == [
        "XSCM0002", "XSCM0003", "XSCM0004", "XSCM0005", "XSCM0004",
    ]  # fmt: skip
    assert "the key @b must be one value; got none" in feed.refused[1]
    assert "unit.u.from must be a time; got 'soon'" in feed.refused[2]
    assert "001.xml" in feed.refused[0]


def test_an_expression_that_fails_for_one_message_refuses_that_one(tmp_path):
    feed = Feed('[unit.u]\npath = "/u"\nkey = "xs:integer(@id) + 0"\nfrom = "@t"', tmp_path)
    feed.say(*(f'<u id="{i}" t="2024-01-01"/>' for i in ("1", "two", "3")))
    assert feed.ask('stream("s")//u/@id/string()') == ["1", "3"]
    assert feed.refused[0].startswith("XSCM0006")


WHOLE = """
[message]
time = "/all/@at"
[unit.u]
path  = "//u"
key   = "@id"
whole = true
"""


def test_a_whole_delivery_removes_what_it_does_not_hold(tmp_path):
    feed = Feed(WHOLE, tmp_path)
    feed.say('<all at="2024-01-01T00:01:00Z"><u id="a"/><u id="b"/></all>')
    feed.say('<all at="2024-01-01T00:02:00Z"><u id="a"/><u id="c"/></all>')
    assert feed.ask('stream("s")//u?[now]/@id/string()') == ["a", "c"]
    assert feed.ask('stream("s")//u[@id = "b"]/@vtTo/string()') == ["2024-01-01T00:02:00Z"]
    feed.say('<all at="2024-01-01T00:03:00Z"/>')
    assert feed.ask('count(stream("s")//u?[now])') == ["0"]
    feed.say('<all at="2024-01-01T00:04:00Z"><u id="b"/></all>')
    assert feed.ask('stream("s")//u?[now]/@id/string()') == ["b"]


def test_what_is_delivered_unchanged_is_no_new_version(tmp_path):
    feed = Feed(WHOLE, tmp_path)
    for minute in (1, 2, 3):
        text = "new" if minute == 3 else "old"
        feed.say(f'<all at="2024-01-01T00:0{minute}:00Z"><u id="a">{text}</u></all>')
    assert feed.ask('stream("s")//u ! concat(., " ", @vtFrom)') == [
        "old 2024-01-01T00:01:00Z", "new 2024-01-01T00:03:00Z",
    ]  # fmt: skip


def test_deliveries_of_parts_replace_their_own_part(tmp_path):
    feed = Feed(WHOLE.replace("whole = true", 'whole = "/all/@part"'), tmp_path)
    feed.say('<all part="n" at="2024-01-01T00:01:00Z"><u id="a"/></all>')
    feed.say('<all part="s" at="2024-01-01T00:02:00Z"><u id="b"/></all>')
    feed.say('<all part="n" at="2024-01-01T00:03:00Z"><u id="c"/></all>')
    assert feed.ask('stream("s")//u?[now]/@id/string()') == ["b", "c"]


NESTED = """
[unit.order]
path = "//order"
key  = "@id"
from = "@t"
[unit.line]
in   = "order"
path = "lines/line"
key  = "@n"
from = "(@t, ancestor::order/@t)[1]"
"""


def test_a_nested_unit_has_versions_of_its_own(tmp_path):
    feed = Feed(NESTED, tmp_path)
    feed.say(
        '<order id="1" t="2024-01-01"><who>Ann</who><lines><line n="1">x</line>'
        '<line n="2">y</line></lines></order>'
    )
    feed.say(
        '<order id="1" t="2024-01-01"><who>Ann</who><lines>'
        '<line n="2" t="2024-01-02">z</line></lines></order>'
    )
    query = 'for $o in stream("s")//order return concat($o/who, ": ", string-join($o/line, " "))'
    assert feed.ask(query) == ["Ann: x y z"]
    current = 'for $o in stream("s")//order return string-join($o/line?[now], " ")'
    assert feed.ask(current) == ["x z"]
    assert feed.ask('stream("s")//order/lines/line') == []


def test_events_without_a_key_are_known_by_their_number(tmp_path):
    feed = Feed('[unit.e]\ntype = "event"\npath = "//e"\nfrom = "@t"', tmp_path)
    feed.say('<x><e t="2024-01-03">c</e><e t="2024-01-01">a</e></x>', '<e t="2024-01-02">b</e>')
    assert feed.ask('string-join(stream("s")//e, " ")') == ["a b c"]


def test_namespaces_of_a_message_stay_with_its_units(tmp_path):
    feed = Feed(
        '[namespaces]\np = "urn:p"\n[unit.u]\npath = "//p:u"\nkey = "@id"\nfrom = "@t"', tmp_path
    )
    feed.say('<m xmlns="urn:p" xmlns:q="urn:q"><u id="1" t="2024-01-01"><q:v>7</q:v></u></m>')
    query = 'declare namespace q = "urn:q"; stream("s")//q:v'
    assert feed.ask(query) == ['<q:v xmlns="urn:p" xmlns:q="urn:q">7</q:v>']


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        ("2024-05-01T08:00:00+02:00", TimeRule(""), "2024-05-01T06:00:00Z"),
        ("2024-05-01", TimeRule(""), "2024-05-01T00:00:00"),
        ("2024-05-01T08:00Z", TimeRule(""), "2024-05-01T08:00:00Z"),
        ("2024-05-01 08:00:00+0200", TimeRule(""), "2024-05-01T06:00:00Z"),
        ("20240501T080000Z", TimeRule(""), "2024-05-01T08:00:00Z"),
        ("20240501T0800+0200", TimeRule(""), "2024-05-01T06:00:00Z"),
        ("20240501", TimeRule(""), "2024-05-01T00:00:00"),
        ("Wed, 01 May 2024 08:00:00 +0200", TimeRule(""), "2024-05-01T06:00:00Z"),
        ("Wed, 01 May 2024 08:00:00 GMT", TimeRule(""), "2024-05-01T08:00:00Z"),
        ("1714550400", TimeRule(""), "2024-05-01T08:00:00Z"),
        ("1714550400123", TimeRule(""), "2024-05-01T08:00:00.123Z"),
        ("1714550400", TimeRule("", format="epoch"), "2024-05-01T08:00:00Z"),
        ("01.05.2024 08:00", TimeRule("", format="%d.%m.%Y %H:%M"), "2024-05-01T08:00:00"),
        ("01.05.2024 08:00", TimeRule("", "%d.%m.%Y %H:%M", "+02:00"), "2024-05-01T06:00:00Z"),
        ("2024-05-01T08:00:00", TimeRule("", zone="-01:00"), "2024-05-01T09:00:00Z"),
    ],
)
def test_times_are_read_in_the_forms_of_feeds(text, rule, expected):
    found = instant_of(text, rule)
    assert found is not None
    assert show_instant(*found) == expected


@pytest.mark.parametrize("text", ["", "soon", "2024-13-01", "12", "32.05.2024", "20241301"])
def test_what_is_no_time_is_none(text):
    assert instant_of(text, TimeRule("")) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[unit.u", "it is no TOML"),
        ("", "it has no [unit.NAME]"),
        ('[unit.u]\nkey = "a"', "unit.u.path is missing"),
        ('[unit.u]\npath = "//u"', "unit.u.key is missing"),
        ('[unit.u]\npath = "//u"\nkeys = "@id"', "there is no entry unit.u.keys"),
        ('[unit.u]\npath = "//u"\nkey = "@id"\ntype = "state"', "type must be versioned or event"),
        ('[unit.u]\npath = "//u"\nkey = "@id"\nin = "v"', "unit.u.in must name a kind above it"),
    ],
)
def test_a_mapping_that_is_not_understood_says_why(text, said):
    with pytest.raises(Error, match="XSCU0007|" + said.replace("[", r"\[").replace(".", r"\.")):
        parse_mapping(text, "m")


def test_an_xpath_that_does_not_compile_names_its_entry():
    mapping = parse_mapping('[unit.u]\npath = "//u["\nkey = "@id"', "m")
    with pytest.raises(Error, match=r"unit\.u\.path"):
        MappingDecoder("s", mapping)


def test_sources_name_their_mapping():
    assert split_source("siri-sx:folder/") == ("siri-sx", "folder/")
    assert split_source("my/own.toml:http://host/feed") == ("my/own.toml", "http://host/feed")
    assert split_source("siri-sx:-") == ("siri-sx", "-")
    for plain in ("table:x", "http://host/a", "folder/", "cap", b"<a/>"):
        assert split_source(plain) == (None, plain)


def test_keys_that_come_one_by_one_cost_what_they_weigh():
    mapping = parse_mapping('[unit.u]\npath = "/u"\nkey = "@id"\nfrom = "@t"', "m")
    watch = Watch(compiled('stream("s")//u[@x = "1"]/@id/string()'), {"s": "fragments"})
    decoder = MappingDecoder("s", mapping, names=watch.names)
    told = Accumulated()
    numbers = [(7919 * i) % 997 for i in range(997)]
    for i in numbers:
        text = f'<u id="{i:03}" x="{i % 2}" t="2024-01-01T00:00:00Z"/>'.encode()
        watch.on_arrivals("s", decoder.messages([Message(text)]), decoder.ids)
        for change in watch.tick():
            told.apply(change)
    assert told.items() == [f"{i:03}" for i in range(997) if i % 2]
    assert watch.pipeline is not None
    assert watch.pipeline.evaluated <= 2 * len(numbers)  # a new unit is asked, and no other


def test_map_proposes_a_mapping_that_can_be_used(tmp_path, capsys):
    (tmp_path / "a.xml").write_text(
        '<list stamp="2024-05-01T08:00:00Z"><thing id="1"><changed>2024-05-01T07:00:00Z</changed>'
        '<state>open</state></thing><thing id="2"><changed>2024-05-01T07:30:00Z</changed>'
        "<state>deleted</state></thing></list>"
    )
    assert main(["map", str(tmp_path / "a.xml"), "-o", str(tmp_path / "m.toml")]) == 0
    capsys.readouterr()
    text = (tmp_path / "m.toml").read_text()
    for line in (
        'path = "//thing"',
        'key = "@id"',
        'from = "changed"',
        "remove = \"state = ('deleted')\"",
    ):
        assert line in text
    assert "# 1 message: 1 unit, 1 version, 1 removal, 0 refused" in text
    assert main(["map", "--check", str(tmp_path / "m.toml"), str(tmp_path / "a.xml")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "1 message: 1 unit, 1 version, 1 removal, 0 refused"


def test_messages_of_a_folder_are_evaluated_together(tmp_path):
    """A tick for all that are there, and what each says counts as it did one by one."""
    feed = Feed(UNIT, tmp_path)
    feed.say(*(message(n, unit("x", str(n % 7), n, f"v{n}")) for n in range(40)))
    feed.say("<m", message(41, unit("x", "1", 41, "last")))
    query = xsc.query('stream("s")//u?[now]/string()')
    found = query.watching(None, {"s": Path(f"{feed.path}:{feed.folder}")}, WatchOptions())
    told = Accumulated()
    for changes in found.ticks():
        for change in changes:
            told.apply(change)
    assert found.ticked < 10
    assert found.refused == 1
    assert told.items() == feed.ask('stream("s")//u?[now]/string()')
    each = query.watching(None, {"s": Path(f"{feed.path}:{feed.folder}")}, WatchOptions(batch=1))
    assert Accumulated(c for tick in each.ticks() for c in tick).items() == told.items()
    assert each.ticked > 40


def test_the_newest_message_of_a_folder_counts_when_it_is_whole(tmp_path):
    feed = Feed(UNIT, tmp_path)
    feed.say(message(1, unit("x", "1", 1, "one")))
    source = {"s": Path(f"{feed.path}:{feed.folder}")}
    asked = xsc.query('stream("s")//u/string()')
    found = asked.watching(None, source, WatchOptions(follow=True, seconds=60.0))
    ticks = found.ticks()
    assert [change.item for change in next(ticks)] == ["one"]
    whole = message(2, unit("x", "2", 2, "two"))
    half = feed.folder / "002.xml"
    half.write_text(whole[:30])
    # what is not whole yet is waited for, not refused
    half.write_text(whole)
    assert [change.item for change in next(ticks)] == ["two"]
    assert found.refused == 0
    ticks.close()


def test_a_feed_without_a_message_is_its_root(tmp_path: Path):
    feed = Feed(UNIT, tmp_path)
    feed.say(" ")
    assert feed.ask('stream("s") ! count(feed), count(stream("s")//u)') == ["1", "0"]
