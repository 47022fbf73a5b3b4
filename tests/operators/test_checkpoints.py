"""Killed at any moment and started again, a running query has told everything once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.edges.update_streams import events
from xstreamcast import query
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.journal_lines import read_lines
from xstreamcast.model.change import Accumulated, Change

ROADS = """<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">
<tag id="3" name="severity"/></tag></tag></structure>
<filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><roads>"""
ROADS += "".join(f'<hole id="{i}" tsid="2"/>' for i in range(1, 20)) + "</roads></filler>\n"
INCIDENTS = [
    f'<filler id="{i * 7 % 19 + 1}" tsid="2" validTime="2026-11-15T09:{i:02}:00">'
    f'<incident n="{i * 7 % 19}"><severity>{i * 3 % 10}</severity></incident></filler>\n'
    for i in range(50)
]
SITES = """<structure><tag id="1" name="sites"><tag id="2" name="site" type="temporal"/></tag>
</structure><filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><sites>
<hole id="1" tsid="2"/><hole id="2" tsid="2"/></sites></filler>
<filler id="1" tsid="2" validTime="2026-11-15T08:30:00"><site n="3"/></filler>
<filler id="2" tsid="2" validTime="2026-11-15T09:20:00"><site n="11"/></filler>
"""
QUERIES = {
    "one stream": """for $i in stream("roads")//incident?[now] where $i/severity >= 5
        order by $i/@n return <hot n="{$i/@n}">{$i/severity/text()}</hot>""",
    "two streams": """for $i in stream("roads")//incident?[now], $s in stream("sites")//site?[now]
        where $i/@n = $s/@n return <at n="{$i/@n}">{$i/severity/text()}</at>""",
    "declared streams": """declare stream hot := for $i in stream("roads")//incident?[now]
        where $i/severity >= 5 return <hot n="{$i/@n}"/>;
        (count(stream("hot")//hot), count(stream("sites")//site),
         stream("hot")//hot/@n/string())""",
}


def killed(
    words: list[str], pieces: list[bytes], folder: Path, kills: list[int],
    between: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Start again after each kill; what was kept of the pipe is not sent a second time."""
    for turn in [*kills, None]:
        command = [sys.executable, "-m", "xstreamcast", "watch", *words]
        running = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert running.stdin is not None
        begun = _counted(folder / "journal", words)
        sent = 0
        for piece in pieces:
            sent += len(piece)
            if sent <= begun:
                continue
            known = _lines(folder / "journal")
            running.stdin.write(piece[max(0, len(piece) - (sent - begun)) :])
            running.stdin.flush()
            if turn is not None:
                _await(folder / "journal", known + 1, running)
                if known + 1 >= turn:
                    break
        if turn is not None:
            running.kill()
        running.stdin.close()
        assert running.wait(240) == (0 if turn is None else -9)
        if turn is not None:
            between()


def _await(path: Path, least: int, running: subprocess.Popen[bytes]) -> None:
    """Wait until a tick has counted."""
    until = time.monotonic() + 240
    while _lines(path) < least:
        assert running.poll() is None
        assert time.monotonic() < until


def _counted(path: Path, words: list[str]) -> int:
    """The bytes of the pipe that counted before; what came after them is sent again."""
    piped = next(word for word in words if word.endswith("=-")).removesuffix("=-")
    reads = (read for line in read_lines(path, 0)[1] for read in line.read)
    return sum(count for name, count in reads if name == piped and count > 0)


def _lines(path: Path) -> int:
    return len(read_lines(path, 0)[1])


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
def test_fragment_streams_with_several_inputs(text: str, tmp_path: Path):
    sites, out, folder = tmp_path / "sites.xml", tmp_path / "out", tmp_path / "state"
    sites.write_text(SITES)
    parts = [ROADS, *("".join(INCIDENTS[at : at + 5]) for at in range(0, 50, 5))]
    pieces = [part.encode() for part in parts]
    feed = b"".join(pieces)
    words = ["-q", text, "-i", "roads=-", "--batch", "3", "-o", str(out)]
    words += ["--checkpoint", str(folder), "--format", "changes"]
    words += ["-i", f"sites={sites}"] if "sites" in text else []
    killed(words, pieces, folder, [4, 7] if "order by" in text else [5])
    told = Accumulated(map(Change.from_json, out.read_text().splitlines()))
    expected = query(text).run(roads=feed, sites=SITES.encode())
    assert told.items() == list(expected.lines())
    assert len(told) > 0


def answer(lines: list[str]) -> list[str]:
    return Accumulated(map(Change.from_json, lines)).items()


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
def test_stopped_after_any_tick_it_goes_on_with_the_same_changes(text: str, tmp_path: Path):
    parts = [ROADS, *("".join(INCIDENTS[at : at + 8]) for at in range(0, 50, 8))]

    def go_on(folder: Path, sink: list[str], ticks: int | None) -> None:
        roads = iter([part.encode() for part in parts])
        inputs = {"roads": roads, "sites": SITES.encode()}
        options = WatchOptions(batch=3, checkpoint=str(folder))
        watching = query(text).watching(None, inputs, options)
        watching.sink = lambda: len(sink)
        assert watching.journal is not None
        del sink[watching.journal.sink :]
        watching.begin()
        before = watching.ticked
        with closing(watching.ticks()) as batches:
            for changes in batches:
                sink += [change.to_json() for change in changes]
                if ticks is not None and watching.ticked == before + ticks:
                    break
        watching.journal.close()

    whole: list[str] = []
    go_on(tmp_path / "whole", whole, None)
    for ticks in (1, 4, 5, 8, 11):
        told: list[str] = []
        go_on(tmp_path / str(ticks), told, ticks)
        go_on(tmp_path / str(ticks), told, 3)
        go_on(tmp_path / str(ticks), told, None)
        assert told == whole or "sites" in text, ticks  # whose turn it is, an end may change
        assert answer(told) == answer(whole), ticks


def test_update_streams(tmp_path: Path):
    out, folder = tmp_path / "out", tmp_path / "state"
    start = 'sE(0,"r") sM(0,1) sE(1,"a") cD(1,"0") eE(1,"a") eM(0,1) eE(0,"r") '
    more = " ".join(
        f'sR(1,1) sE(1,"a") cD(1,"{i}") eE(1,"a") eR(1,1)'
        f' sA(1,n{i}) sE(n{i},"a") cD(n{i},"{i}") eE(n{i},"a") eA(1,n{i})'
        for i in range(40)
    )
    lines = list(map(line, events(start + more)))
    pieces = [b"".join(lines[at : at + 50]) for at in range(0, len(lines), 50)]
    feed = b"".join(pieces)
    text = 'for $a in stream("s")//a where $a mod 2 = 0 return $a/text()'
    words = ["-q", text, "-i", "s=-", "-o", str(out), "--checkpoint", str(folder)]
    killed(words, pieces, folder, [3])
    told = Accumulated(map(Change.from_json, out.read_text().splitlines()))
    assert told.items() == list(query(text).run(s=feed).lines())
    assert len(told) > 10


def test_another_query_is_refused(tmp_path: Path):
    document, folder = tmp_path / "d.xml", tmp_path / "state"
    document.write_text("<r><a/></r>")
    for text, status in (("//a", 0), ("//b", 2)):
        words = ["watch", "-q", text, "-i", str(document), "--checkpoint", str(folder)]
        done = subprocess.run(
            [sys.executable, "-m", "xstreamcast", *words], capture_output=True, timeout=120
        )
        assert done.returncode == status, done.stderr
