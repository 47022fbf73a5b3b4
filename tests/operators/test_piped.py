"""The answer of one running query read by another: through a pipe, and as bytes cut anywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.edges.change_streams import change_streams
from tests.edges.update_streams import events
from xstreamcast import query
from xstreamcast.api import compiled
from xstreamcast.edges.decoding import decoder_of
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.updates.output import EventOutput
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.tape.names import Names

HEAD = """<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">
<tag id="3" name="severity"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><roads>"""
HEAD += "".join(f'<hole id="{i}" tsid="2"/>' for i in range(1, 30)) + "</roads></filler>"
FEED = HEAD + "".join(
    f'<filler id="{i % 29 + 1}" tsid="2" validTime="2026-11-15T09:{i:02}:00">'
    f'<incident n="{i % 29}">'
    f"<severity>{i * 7 % 10}</severity></incident></filler>\n"
    for i in range(60)
)
FIRST = """for $i in stream("roads")//incident?[now] where $i/severity >= 4
order by xs:integer($i/severity), $i/@n return <hot n="{$i/@n}">{$i/severity/text()}</hot>"""
THEN = "for $h in stream('s')//hot[. > 5] return string($h/@n)"


def start(*words: str, stdin: int, stderr: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "xstreamcast", "watch", *words]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr)


@pytest.mark.parametrize("form", ["events", "events-xml", "changes"])
def test_two_processes_and_a_pipe(form: str, tmp_path: Path):
    source = tmp_path / "roads.xml"
    source.write_text(FEED)
    first = start(
        *("-q", FIRST, "-i", f"roads={source}", "--batch", "3", "--format", form),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert first.stdout is not None
    second = start("-q", THEN, "-i", "s=-", stdin=first.stdout.fileno())
    first.stdout.close()
    out, said = second.communicate(timeout=120)
    assert first.wait(60) == 0
    assert second.returncode == 0, said
    told = Accumulated(map(Change.from_json, out.decode().splitlines()))
    between = "".join(query(FIRST).run(roads=FEED.encode()).lines())
    expected = query(THEN).run(s=f"<answer>{between}</answer>".encode())
    assert told.items() == list(expected.lines())
    assert len(told) > 5


@pytest.mark.parametrize("kind", ["updates", "changes"])
@given(changes=change_streams(), size=st.integers(1, 300))
@settings(max_examples=examples(10))
def test_an_answer_is_read_item_by_item(kind: str, changes: list[Change], size: int):
    output = EventOutput("lines")
    raw = b"".join(f"{one.to_json()}\n".encode() for one in changes)
    if kind == "updates":
        raw = output.write(changes) + output.close()
    names, answer = Names(), Accumulated()
    watch = Watch(compiled("count(stream('s')/answer/*)"), {"s": "fragments"}, names=names)
    decoder = decoder_of(kind, "s", names, "stop")  # type: ignore[arg-type]
    for at in range(0, len(raw), size):
        watch.on_arrivals("s", decoder.feed(raw[at : at + size]), decoder.ids)
        for change in watch.tick():
            answer.apply(change)
    watch.on_arrivals("s", decoder.close(), decoder.ids)
    watch.on_end("s")
    for change in watch.tick():
        answer.apply(change)
    assert answer.items() == [str(len(Accumulated(changes)))]


CASCADE = """sE(0,"r") sM(0,1) sE(1,"a") cD(1,"x") eE(1,"a") eM(0,1) eE(0,"r")
sR(1,2) sE(2,"a") cD(2,"y") eE(2,"a") eR(1,2) sA(2,3) sE(3,"b") sB(1,4) sE(4,"b") cD(3,"z")
cD(4,"w") eE(4,"b") eB(1,4) eE(3,"b") eA(2,3) sR(3,3) sE(3,"a") cD(3,"v") eE(3,"a") eR(3,3)
hide(4) freeze(2)"""


def test_run_and_watch_read_update_streams(tmp_path: Path):
    """Regions woven into each other, updates of updates, ids used again."""
    path = tmp_path / "updates.ndjson"
    path.write_bytes(b"".join(map(line, events(CASCADE))))
    asked = query("stream('s')/r/*")
    assert list(asked.run(s=path).lines()) == ["<a>y</a>", "<a>v</a>"]
    assert Accumulated(asked.watch(s=path)).items() == ["<a>y</a>", "<a>v</a>"]
    pieces = [bytes([one]) for one in path.read_bytes()]
    assert Accumulated(asked.watch(s=iter(pieces))).items() == ["<a>y</a>", "<a>v</a>"]


def test_a_stream_of_updates_must_have_a_name(tmp_path: Path):
    path = tmp_path / "updates.ndjson"
    path.write_bytes(b"".join(map(line, events(CASCADE))))
    done = start("-q", "//a", "-i", str(path), stdin=subprocess.DEVNULL)
    _, said = done.communicate(timeout=60)
    assert done.returncode == 2
    assert b"must have a name" in said
