"""Queries that read each other's answers: at every instant, what they say asked afresh."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast import query
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.network import Network
from xstreamcast.syntax import parse, print_module

HEAD = """<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">
<tag id="3" name="severity"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><roads>"""
HEAD += "".join(f'<hole id="{i}" tsid="2"/>' for i in range(1, 8)) + "</roads></filler>\n"

HOT = """declare stream hot := for $i in stream("roads")//incident?[now] where $i/severity >= 4
return <hot n="{$i/@n}">{$i/severity/text()}</hot>;\n"""
SORTED = """declare stream ranked := for $i in stream("roads")//incident?[now]
order by xs:integer($i/severity) descending, $i/@n
return <hot n="{$i/@n}">{$i/severity/text()}</hot>;
"""
COLD = """declare stream cold := for $i in stream("roads")//incident?[now] where $i/severity < 4
return <cold n="{$i/@n}"/>;\n"""
PROGRAMS = {
    "filter": HOT + "for $h in stream('hot')/answer/hot where $h > 5 return $h/@n/string()",
    "order is kept": SORTED + "stream('ranked')/answer/hot/@n/string()",
    "first of the ranked": SORTED + "stream('ranked')/answer/hot[1]",
    "count": HOT + "count(stream('hot')//hot)",
    "sorted again": HOT + "for $h in stream('hot')//hot order by $h/@n descending return $h",
    "split and merged": HOT + COLD + "(stream('cold')//cold, stream('hot')//hot)",
    "a store": HOT + COLD + """for $h in stream('hot')//hot
      return <beside n="{$h/@n}">{count(stream('cold')//cold[@n < $h/@n])}</beside>""",
    "values": """declare stream levels := distinct-values(stream("roads")//severity);
      for $l in stream('levels')/answer/item return $l + 1""",
    "three in a row": HOT
    + """declare stream worst := for $h in stream('hot')//hot where $h > 6 return $h;
      declare stream names := stream('worst')/answer/hot/@n/string();
      string-join(stream('names')/answer/item, ' ')""",
    "the root itself": HOT + "stream('hot')//answer/count(*)",
    "windows": HOT
    + """for tumbling window $w in stream('hot')//hot start at $s when true()
      end at $e when $e - $s = 1 return sum($w)""",
}  # fmt: skip


def filler(number: int, minute: int, severity: int) -> str:
    return (
        f'<filler id="{number}" tsid="2" validTime="2026-11-15T09:{minute:02}:00">'
        f'<incident n="{number}"><severity>{severity}</severity></incident></filler>\n'
    )


def removal(number: int, minute: int, _: int) -> str:
    return f'<remove id="{number}" tsid="2" validTime="2026-11-15T09:{minute:02}:00"/>\n'


MESSAGES = st.lists(
    st.builds(
        lambda make, *said: make(*said),
        st.sampled_from([filler, filler, filler, removal]),
        st.integers(1, 7),
        st.integers(0, 20),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
@given(messages=MESSAGES)
@settings(max_examples=examples(5))
def test_the_answer_at_every_tick_is_that_of_all_asked_afresh(text: str, messages: list[str]):
    asked, arrived, told = query(text), HEAD, Accumulated()
    network = Network(asked.programs, {"roads": "fragments"})
    decoder = Decoder("roads", names=network.names)
    for piece in [HEAD, *messages]:
        network.on_arrivals("roads", decoder.feed(piece.encode()), decoder.ids)
        for change in network.tick():
            told.apply(change)
        arrived += piece if piece is not HEAD else ""
        assert told.items() == list(asked.run(roads=arrived.encode()).lines())


@pytest.mark.parametrize("policy", ["strict", "optimistic"])
@pytest.mark.parametrize("batch", [1, 7])
def test_both_policies_end_equal(policy: str, batch: int):
    feed = HEAD + "".join(filler(i % 7 + 1, i, i * 3 % 10) for i in range(20))
    for text in PROGRAMS.values():
        asked = query(text)
        changes = asked.watch(roads=feed.encode(), policy=policy, batch=batch)
        expected = list(asked.run(roads=feed.encode()).lines())
        assert Accumulated(changes).items() == expected, text


def test_a_declared_stream_may_be_told_itself():
    feed = (HEAD + "".join(filler(i, i, i) for i in range(1, 8))).encode()
    asked = query(PROGRAMS["three in a row"])
    told = Accumulated(asked.watch(roads=feed, tell="worst"))
    assert told.items() == ['<hot n="7">7</hot>']
    assert list(asked.telling("worst")) == ["hot", "worst"]


def test_a_document_and_its_end_reach_all_queries():
    text = """declare stream a := //a[@x > 1]; declare stream n := count(//a);
    (stream("a")//a/@x/string(), stream("n")/answer/item/string())"""
    asked, document = query(text), b'<r><a x="1"/><a x="2"/><a x="3"/></r>'
    assert list(asked.run(document).lines()) == ["2", "3", "3"]
    for policy in ("strict", "optimistic"):
        told = Accumulated(asked.watch(document, policy=policy))
        assert told.items() == ["2", "3", "3"]


def test_only_dirty_items_are_asked_again():
    """What a change of one item costs does not grow with the others."""
    from xstreamcast.model.change import Change
    from xstreamcast.operators.feeds.answer import AnswerFeed
    from xstreamcast.tape.names import Names

    feed = AnswerFeed("s", Names())
    keys = [str(i) for i in range(1000)]
    first = [Change(0, 1, k, str(i - 1) if i else None, "<a/>") for i, k in enumerate(keys)]
    assert len(feed.feed(first).changed or ()) == 1000
    moved = feed.feed([Change(1, -1, "500", None, "<a/>"), Change(1, 1, "500", "499", "<b/>")])
    assert moved.changed is not None
    assert moved.changed.keys == ("500",)
    assert not moved.reordered
    gone = feed.feed([Change(2, -1, "7", None, "<a/>")])
    assert gone.changed is None
    assert gone.gone == ("7",)


MISTAKES = {
    "a circle": (
        'declare stream a := stream("b")//x; declare stream b := stream("a")//x; stream("a")',
        "XSCS0004",
    ),
    "itself": ('declare stream a := stream("a")//x; 1', "XSCS0004"),
    "twice": ("declare stream a := 1; declare stream a := 2; 3", "XSCS0003"),
    "no value": ("declare stream a; 1", "XPST0003"),
}


@pytest.mark.parametrize(("text", "code"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told_with_their_place(text: str, code: str):
    with pytest.raises(Error) as caught:
        query(text)
    assert caught.value.code == code
    assert caught.value.place is not None


def test_names_that_are_not_there(tmp_path: Path):
    asked = query(PROGRAMS["count"])
    with pytest.raises(Error, match="declares no stream cold"):
        asked.watching(None, {"roads": b"<r/>"}, WatchOptions(tell="cold"))
    with pytest.raises(Error, match="declared by the query"):
        list(asked.watch(roads=b"<r/>", hot=b"<h/>"))
    with pytest.raises(Error, match="declared by the query"):
        asked.run(roads=b"<r/>", hot=b"<h/>")
    with pytest.raises(Error, match="not given: -i roads=SOURCE"):
        list(asked.watch())


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_is_printed_back(text: str):
    module = parse(text)
    assert parse(print_module(module)) == module


def test_the_commands(tmp_path: Path):
    program, feed = tmp_path / "p.xq", tmp_path / "roads.xml"
    program.write_text(PROGRAMS["three in a row"])
    feed.write_text(HEAD + "".join(filler(i, i, i) for i in range(1, 8)))

    def said(*words: str) -> str:
        command = [sys.executable, "-m", "xstreamcast", *words]
        done = subprocess.run(command, capture_output=True, timeout=120, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert said("run", str(program), "-i", f"roads={feed}") == "7\n"
    lines = said("watch", str(program), "-i", f"roads={feed}", "--format", "lines", "--tell", "hot")
    assert lines.count("+ <hot") == 4
    shown = said("explain", str(program), "--stage", "circuit")
    assert shown.count("declare stream ") == 3
    assert 'units of stream("hot")' in shown
