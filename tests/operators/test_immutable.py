"""What its reader does not want revised: the first that comes counts, and the rest is counted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.edges.update_streams import events
from xstreamcast import query
from xstreamcast.edges.immutable import path_of
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated

HEAD = """<structure><tag id="1" name="stocks"><tag id="2" name="stock" type="temporal">
<tag id="3" name="name" type="temporal"/><tag id="4" name="quote" type="temporal"/>
<tag id="5" name="sector"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-01-01T08:00:00">
<stocks><hole id="1" tsid="2"/></stocks></filler>
<filler id="1" tsid="2" validTime="2026-01-01T08:00:00"><stock><sector>it</sector>
<hole id="2" tsid="3"/><hole id="3" tsid="4"/></stock></filler>
<filler id="2" tsid="3" validTime="2026-01-01T08:00:00"><name>IBM</name></filler>
<filler id="3" tsid="4" validTime="2026-01-01T08:00:00"><quote>80</quote></filler>
"""
LATER = """<filler id="2" tsid="3" validTime="2026-01-01T09:00:00"><name>DEC</name></filler>
<filler id="3" tsid="4" validTime="2026-01-01T09:00:00"><quote>81</quote></filler>
<filler id="2" tsid="3" validTime="2026-01-01T07:00:00"><name>SUN</name></filler>
<remove id="2" tsid="3" validTime="2026-01-01T10:00:00"/>
<filler id="3" tsid="4" validTime="2026-01-01T10:00:00"><quote>82</quote></filler>
"""
FEED = (HEAD + LATER).encode()
ASKED = 'for $s in stream("q")//stock?[now] where $s/name = "IBM" return string($s/quote?[now])'


def told(text: str, *paths: str, feed: bytes = FEED, batch: int = 1000) -> tuple[list[str], str]:
    watching = query(text).watching(None, {"q": feed}, WatchOptions(immutable=paths, batch=batch))
    answer = Accumulated(change for changes in watching.ticks() for change in changes)
    return answer.items(), "\n".join(watching.report())


@pytest.mark.parametrize("batch", [1, 3, 1000])
def test_fragments_at_the_path_count_once(batch: int):
    items, report = told(ASKED, "//stock/name", batch=batch)
    assert items == ["82"]
    assert "q: 3 updates of immutable elements ignored" in report
    assert told(ASKED, batch=batch)[0] == []


def test_what_stands_below_is_not_revised_either():
    items, report = told('string(stream("q")//quote?[now])', "/stocks/stock")
    assert items == ["80"]
    assert "5 updates of immutable elements ignored" in report


def test_a_path_of_one_stream_leaves_others_alone():
    assert told(ASKED, "q=//name")[0] == ["82"]
    assert told(ASKED, "other=//name")[0] == []


def test_the_prolog_may_say_it_and_run_agrees():
    text = f'declare option xsc:immutable "//name q=//nothing"; {ASKED}'
    assert told(text)[0] == ["82"]
    assert list(query(text).run(q=FEED).lines()) == ["82"]


def test_less_is_kept():
    many = "".join(
        f'<filler id="2" tsid="3" validTime="2026-01-02T{i // 60:02}:{i % 60:02}:00">'
        f"<name>N{i}</name></filler>"
        for i in range(600)
    )
    feed = FEED + many.encode()
    sizes = []
    for paths in ((), ("//name",)):
        watching = query('count(stream("q")//name)').watching(
            None, {"q": feed}, WatchOptions(immutable=paths)
        )
        list(watching.ticks())
        assert watching.watch is not None
        sizes.append(watching.watch.state_bytes)
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("path", ["stock", "//stock[1]", "/", "//a/text()", ""])
def test_what_is_no_path_is_told(path: str):
    with pytest.raises(Error, match="immutable path"):
        told(ASKED, path)


def test_what_does_not_travel_by_itself_is_told():
    with pytest.raises(Error, match="part of a larger fragment"):
        told(ASKED, "//sector")


@pytest.mark.parametrize(
    ("path", "names", "at", "below"),
    [
        ("//a", ["r", "a"], True, True),
        ("//a", ["r", "a", "b"], False, True),
        ("/r/*", ["r", "b"], True, True),
        ("/a", ["r", "a"], False, False),
        ("//a//b", ["a", "b", "b"], True, True),
        ("//a/b", ["a", "c", "b"], False, False),
    ],
)
def test_where_paths_lead(path: str, names: list[str], at: bool, below: bool):
    assert path_of(path).matches(names) == at
    assert path_of(path).covers(names) == below


TICKER = """sE(0,"stocks") sM(0,1) sE(1,"stock")
sE(1,"name") sM(1,2) cD(2,"IBM") eM(1,2) eE(1,"name")
sE(1,"quote") sM(1,3) cD(3,"80") eM(1,3) eE(1,"quote") eE(1,"stock") eM(0,1) eE(0,"stocks")
sR(2,4) cD(4,"DEC") eR(2,4) sR(3,5) cD(5,"81") eR(3,5) sR(4,6) cD(6,"SUN") eR(4,6) hide(2)
sA(1,7) sE(7,"stock") sE(7,"name") cD(7,"HP") eE(7,"name") eE(7,"stock") eA(1,7) sR(5,8) cD(8,"82")
eR(5,8)"""


@pytest.mark.parametrize("size", [1, 50, 100_000])
def test_updates_of_regions_at_the_path_are_left_out(size: int, tmp_path: Path):
    raw = b"".join(map(line, events(TICKER)))
    text = 'for $s in stream("q")//stock where $s/name = "IBM" return string($s/quote)'
    plain = query(text).watching(None, {"q": raw}, WatchOptions())
    assert Accumulated(c for changes in plain.ticks() for c in changes).items() == []
    pieces = iter([raw[at : at + size] for at in range(0, len(raw), size)])
    watching = query(text).watching(None, {"q": pieces}, WatchOptions(immutable=("//name",)))
    assert Accumulated(c for changes in watching.ticks() for c in changes).items() == ["82"]
    assert "q: 3 updates of immutable elements ignored" in "\n".join(watching.report())
    assert watching.refused == 0


def test_regions_that_hold_what_stands_at_the_path():
    """Its content stays; others may still be inserted beside it."""
    raw = b"".join(map(line, events(TICKER + ' sR(1,9) sE(9,"stock") eE(9,"stock") eR(1,9)')))
    items, report = told('stream("q")//stock/name/string()', "//stock", feed=raw)
    assert items == ["IBM", "HP"]
    assert "ignored" in report


def test_the_command(tmp_path: Path):
    feed = tmp_path / "q.xml"
    feed.write_bytes(FEED)
    words = ["-q", ASKED, "-i", f"q={feed}", "--immutable", "//name", "--format", "xml"]
    command = [sys.executable, "-m", "xstreamcast", "watch", *words]
    done = subprocess.run(command, capture_output=True, timeout=120, text=True)
    assert done.stdout == "<results>\n82\n</results>\n", done.stderr
    assert "q: 3 updates of immutable elements ignored" in done.stderr
