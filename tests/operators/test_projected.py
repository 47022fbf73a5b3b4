"""Feeds of which only what holds now is seen: what has ended is dropped, and no answer changes."""

from __future__ import annotations

from pathlib import Path

import pytest

import xstreamcast as xsc
from tests.operators.watched import Watched
from xstreamcast.api import compiled
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.watch import Watch

MAPPING = """
[message]
time = "/m/@at"
[unit.u]
path = "/m/u"
key  = "@id"
from = "@from"
to   = "@to"
temporary = "@temporary"
[unit.w]
path = "/m/w"
key  = "@id"
from = "@from"
"""


def at(second: int) -> str:
    return f"2024-05-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


class Feed:
    """A feed on its way in, and a query that is left running over it."""

    def __init__(self, query: str, tmp_path: Path) -> None:
        self.query, self.told, self.said = query, Accumulated(), 0
        self.watch = Watch(compiled(query), {"s": "fragments"})
        self.decoder = MappingDecoder("s", parse_mapping(MAPPING, "m"), names=self.watch.names)
        self.path, self.folder = tmp_path / "m.toml", tmp_path / "data"
        self.path.write_text(MAPPING)
        self.folder.mkdir()

    def say(self, second: int, *units: str) -> None:
        message = f'<m at="{at(second)}">{"".join(units)}</m>'
        (self.folder / f"{self.said:05}.xml").write_text(message)
        self.said += 1
        found = self.decoder.messages([Message(message.encode())])
        self.watch.on_arrivals("s", found, self.decoder.ids)
        for change in self.watch.tick():
            self.told.apply(change)

    def run(self) -> list[str]:
        return list(xsc.query(self.query).run(s=f"{self.path}:{self.folder}").lines())

    @property
    def kept(self) -> int:
        feed = self.watch._feeds["s"]
        assert isinstance(feed, ForgettingFeed)
        return len(feed.history)


def unit(key: int, second: int, value: object, more: str = "", tag: str = "u") -> str:
    return f'<{tag} id="{key}" from="{at(second)}"{more}><v>{value}</v></{tag}>'


@pytest.mark.parametrize("path", ["/feed/u", "//u", "/feed/*"])
def test_versions_that_have_ended_are_dropped(path: str, tmp_path: Path):
    feed = Feed(
        f'for $u in stream("s"){path}?[now] where $u/v > 3 return <u>{{$u/v}}</u>', tmp_path
    )
    for n in range(200):
        feed.say(n, unit(n % 5, n, n % 11))
    assert feed.told.items() == feed.run()
    assert feed.kept < 110


@pytest.mark.parametrize(
    "query",
    [
        'count(stream("s")//u?[now]), count(stream("s")//u)',
        'stream("s")//u[v > 3]?[now]/v/text()',
        'stream("s")//v?[now]/text()',
        'for $u in stream("s")//u?[2024-05-01T00:00:00Z, now] return $u/v/text()',
    ],
)
def test_what_may_be_seen_is_kept(query: str, tmp_path: Path):
    feed = Feed(query, tmp_path)
    for n in range(120):
        feed.say(n, unit(n % 5, n, n % 11))
    assert feed.told.items() == feed.run()
    assert feed.kept == 121


ENDS = {
    'stream("s")//u/string(@vtTo)': True,
    'stream("s")//u/@*/string()': True,
    'for $u in stream("s")//u return <u>{vtTo($u)}</u>': True,
    'stream("s")//u[v > 3]': True,
    'for $u in stream("s")//u return <u>{$u}</u>': True,
    'stream("s")//v/../string(@vtTo)': True,
    'stream("s")//v/parent::u': True,
    'for $v in stream("s")//v return root($v)//u[v = $v]/string(@vtTo)': True,
    'stream("s")//u ! deep-equal(., .)': True,
    'for $u in stream("s")//u where $u/v > 3 return string($u/v)': False,
    'for $u in stream("s")//u return <v>{$u/@id, $u/v}</v>': True,  # what is copied may show it
    'for $u in stream("s")//u group by $k := $u/@id return sum($u/v)': True,  # nobody knows better
    'count(stream("s")//u[@to])': False,
}


@pytest.mark.parametrize("query", ENDS)
def test_a_version_that_ends_is_evaluated_again_if_that_is_seen(query: str, tmp_path: Path):
    feed = Feed(query, tmp_path)
    for n in range(60):
        feed.say(n, unit(n % 3, n, n % 11))
    assert feed.told.items() == feed.run()
    if isinstance(feed.watch.pipeline, CircuitRun) and feed.watch.pipeline.driven:
        known = feed.watch._feeds["s"]
        assert isinstance(known, FragmentFeed)
        assert known._by_version is not None
        units = len(known._by_version.units)  # those that can count
        assert (feed.watch.pipeline.evaluated > 1.5 * units) == ENDS[query]


NESTED = b"""<structure><tag id="1" name="r"><tag id="2" name="c" type="temporal">
<tag id="3" name="d" type="%s"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2020-01-01T00:00:00"><r><hole id="1" tsid="2"/></r></filler>
<filler id="1" tsid="2" validTime="2020-01-01T00:01:00"><c><hole id="2" tsid="3"/></c></filler>
<filler id="1" tsid="2" validTime="2020-01-01T00:04:00"><c><hole id="2" tsid="3"/></c></filler>
<filler id="2" tsid="3" validTime="2020-01-01T00:06:00"><d/></filler>
"""


@pytest.mark.parametrize("kind", [b"temporal", b"event"])
@pytest.mark.parametrize("attached", [True, False])
def test_what_begins_after_a_version_has_ended_is_not_in_it(kind: bytes, attached: bool):
    query = xsc.query('for $c in stream("s")/r/*[d] return count($c)')
    wire = NESTED % kind
    if attached:
        wire = wire.replace(b'<hole id="2" tsid="3"/>', b"")
        wire = wire.replace(b'<filler id="2"', b'<filler id="2" in="1"')
    told = Accumulated(query.watch(s=wire, batch=1))
    assert told.items() == list(query.run(s=wire).lines()) == ["1"]


def test_what_is_temporary_gives_back_what_it_hid(tmp_path: Path):
    feed = Feed('stream("s")//u?[now]/v/text()', tmp_path)
    feed.say(0, unit(0, 0, "before"))
    feed.say(1, unit(0, 1, "meanwhile", f' to="{at(900)}" temporary="1"'))
    for n in range(2, 802, 20):
        feed.say(n, *(unit(1 + m % 3, m, m) for m in range(n, n + 20)))
    assert "meanwhile" in feed.told.items()
    feed.say(901, unit(1, 901, "last"))
    assert "before" in feed.told.items()
    assert feed.told.items() == feed.run()


def test_a_name_that_turns_up_inside_other_units_is_seen_there(tmp_path: Path):
    feed = Feed('stream("s")//u?[now]/v/text()', tmp_path)
    for n in range(100):
        feed.say(n, unit(n % 3, n, n), unit(n % 3, n, "x", tag="w"))
    feed.say(100, f'<w id="7" from="{at(100)}"><u><v>inside</v></u></w>')
    for n in range(101, 200):
        feed.say(n, unit(n % 3, n, n), f'<w id="{n % 2}" from="{at(n)}"><u><v>w{n}</v></u></w>')
    assert feed.told.items() == feed.run()


def test_what_is_temporary_in_a_stream_with_a_structure(tmp_path: Path):
    stream = Watched('stream("s")/r/a?[now]/text()')
    stream.feed(
        "s",
        b'<structure><tag id="0" name="r"><tag id="1" name="a" type="temporal"/></tag></structure>'
        b'<filler id="r" tsid="0" validTime="2024-05-01T00:00:00Z"><r/></filler>',
    )
    stream.feed("s", filler("x", 0, "before") + filler("x", 1, "meanwhile", 900))
    for n in range(2, 802, 20):
        stream.feed("s", b"".join(filler(f"k{m % 3}", m, str(m)) for m in range(n, n + 20)))
    stream.feed("s", filler("k0", 901, "last"))
    assert "before" in stream.told.items()
    assert stream.told.items() == stream.afresh()


def filler(key: str, second: int, text: str, end: int | None = None) -> bytes:
    more = "" if end is None else f' validTo="{at(end)}" temporary="true"'
    return (
        f'<filler id="{key}" tsid="1" in="r" validTime="{at(second)}"{more}><a>{text}</a></filler>'
    ).encode()
