"""--format updates: the last line of each key, in the order of ranks, is the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.edges.change_streams import change_streams
from xstreamcast.edges.sinks.forms import form_of
from xstreamcast.model.change import Accumulated, Change

FEED = """<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal"/></tag></structure>
<filler id="0" tsid="1" validTime="2026-11-15T08:00:00"><roads><hole id="1" tsid="2"/><hole id="2" tsid="2"/></roads></filler>
<filler id="1" tsid="2" validTime="2026-11-15T09:00:00"><incident level="5"/></filler>
<filler id="2" tsid="2" validTime="2026-11-15T09:01:00"><incident level="3"/></filler>
<filler id="1" tsid="2" validTime="2026-11-15T09:02:00"><incident level="1"/></filler>
"""  # noqa: E501
LEVELS = "for $i in stream('s')//incident?[now] order by $i/@level return string($i/@level)"


def answer(lines: list[str], query: str | None = None) -> list[str]:
    """What a reader makes of the lines: a table by key, sorted by rank."""
    table: dict[str, tuple[str, str]] = {}
    for one in map(json.loads, lines):
        if one.get("query") != query:
            continue
        if one.get("deleted"):
            del table[one["key"]]
        else:
            table[one["key"]] = one["rank"], one["item"]
    return [item for _, item in sorted(table.values())]


@given(changes=change_streams(), sizes=st.lists(st.integers(1, 4), min_size=25, max_size=25))
def test_the_answer_by_rank_also_after_a_restart(changes: list[Change], sizes: list[int]):
    form, again, lines, at = form_of("updates"), form_of("updates"), list[str](), 0
    for size in sizes:
        tick = changes[at : at + size]
        at += size
        text = form.write(tick)
        lines += text.splitlines()
        restored = form_of("updates")
        written = again.written()
        assert written is not None
        restored.restore(written)
        assert restored.write(tick) == text
        again.recall(tick)
        assert answer(lines) == Accumulated(changes[:at]).items()


def watch(*words: str) -> list[str]:
    command = [sys.executable, "-m", "xstreamcast", "watch", "--batch", "1", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


def test_a_table_by_key(tmp_path: Path):
    feed = tmp_path / "feed.xml"
    feed.write_text(FEED)
    lines = watch("-q", LEVELS, "-i", f"s={feed}", "--format", "updates")
    assert answer(lines) == ["1", "3"]
    assert [json.loads(one).get("item") for one in lines] == ["5", "3", None, "1"]
    assert json.loads(lines[-1])["time"] == "2026-11-15T09:02:00Z"


def test_of_several_queries_each_has_ranks_of_its_own(tmp_path: Path):
    feed, queries = tmp_path / "feed.xml", tmp_path / "queries"
    feed.write_text(FEED)
    queries.mkdir()
    (queries / "levels.xq").write_text(LEVELS)
    (queries / "open.xq").write_text("count(stream('s')//incident?[now])")
    lines = watch(str(queries), "-i", f"s={feed}", "--format", "updates")
    assert answer(lines, "levels") == ["1", "3"]
    assert answer(lines, "open") == ["2"]
