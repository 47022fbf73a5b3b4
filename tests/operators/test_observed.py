"""What an operator sees of a query that is left running: logs, numbers, limits."""

from __future__ import annotations

import gzip
import io
import json
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from tests.operators.test_checkpoints import INCIDENTS, ROADS
from xstreamcast import query
from xstreamcast.cli.main import main

QUERY = 'for $i in stream("roads")//incident?[now] where $i/severity >= 4 return $i/@n/string()'
BAD = '<filler id="3" tsid="2" validTime="no time"><incident/></filler>'


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    path = tmp_path / "roads.xml"
    path.write_text(ROADS + "".join(INCIDENTS[:20]) + BAD + "".join(INCIDENTS[15:20]))
    return path


def watch(feed: Path, *words: str) -> tuple[int, str]:
    out = str(feed.with_name("out"))
    with redirect_stderr(io.StringIO()) as said:
        status = main(
            ["watch", "-q", QUERY, "-i", f"roads={feed}", "--batch", "5", "-o", out, *words]
        )
    return status, said.getvalue()


def test_a_log_of_json_has_a_record_in_each_line(feed: Path):
    status, said = watch(feed, "--log", "json")
    records = [json.loads(line) for line in said.splitlines()]
    assert status == 0
    assert {one["kind"] for one in records} == {"note", "refused", "report"}
    refused = next(one for one in records if one["kind"] == "refused")
    assert (refused["code"], refused["stream"], refused["fragment"]) == ("XSCF0006", "roads", "3")
    assert all(one["time"].endswith("Z") for one in records)


def test_notes_of_sources_are_records_too(tmp_path: Path):
    (tmp_path / "roads.xml.gz").write_bytes(gzip.compress(b"<r><a/></r>")[:-4])
    (tmp_path / "s.xml").write_text("<r><a/></r>")
    status, said = watch(tmp_path, "--log", "json", "--follow", "--for", "1s")
    records = [json.loads(line) for line in said.splitlines()]
    assert status == 0
    assert any("is cut off" in one["message"] for one in records if one["kind"] == "note")


def test_an_error_is_a_record_too(feed: Path):
    status, said = watch(feed, "--log", "json", "--on-error", "stop")
    last = json.loads(said.splitlines()[-1])
    assert (status, last["kind"], last["code"]) == (4, "error", "XSCF0006")


def test_metrics_count_what_came_and_what_was_told(feed: Path):
    path = feed.with_name("metrics")
    assert watch(feed, "--metrics", str(path), "--metrics-every", "1us")[0] == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    last, changes = lines[-1], feed.with_name("out").read_text().count("\n")
    assert len(lines) > 3
    assert last["inputs"]["roads"] == {
        "bytes": feed.stat().st_size, "arrived": 27, "repeated": 5, "unread": 0, "orphaned": 0,
        "late": 0, "ahead": 0, "ignored": 0,
    }  # fmt: skip
    assert (last["refused"], last["changes"]) == (1, changes)
    assert last["now"] == "2026-11-15T09:19:00Z"
    assert last["lag_seconds"] > 0
    assert sum(line["tick_seconds"]["count"] for line in lines) == last["ticks"]
    assert sum(last["state_bytes_of"].values()) == last["state_bytes"] > 0
    assert [line["changes"] for line in lines] == sorted(line["changes"] for line in lines)


def test_too_much_memory_is_an_error_that_names_what_is_largest(feed: Path):
    status, said = watch(feed, "--max-memory", "1000000")
    assert status == 1
    assert "more than --max-memory 1,000,000; estimated state: input roads" in said
    assert watch(feed, "--max-memory", str(1 << 40))[0] == 0


def test_a_quarantine_that_is_full_keeps_no_more_and_says_so(feed: Path):
    path = feed.with_name("refused")
    status, said = watch(feed, "--quarantine", str(path), "--max-quarantine", "10")
    assert status == 0
    assert path.stat().st_size <= 10
    assert f"1 of them not kept: {path} is full" in said


def test_what_each_operator_keeps_grows_with_what_it_keeps(tmp_path: Path):
    text = """for $a in stream("s")//a, $b in stream("t")//b where $a/k = $b/k
        group by $k := string($a/k) order by $k return count($b)"""
    kept = []
    for count in (100, 2000):
        wires = [_units(name, count) for name in ("a", "b")]
        with query(text).watch(s=wires[0], t=wires[1]) as changes:
            list(changes)
            kept.append(changes.measured()["state_bytes_of"])
    assert {"emit", "join", "group", "order"} <= {name.split()[-1] for name in kept[0]}
    for kind in ("join", "group"):
        small, large = (
            sum(size for name, size in one.items() if name.endswith(kind)) for one in kept
        )
        assert 5 * small < large < 100 * small


def _units(name: str, count: int) -> bytes:
    holes = "".join(f'<hole id="{i}" tsid="2"/>' for i in range(1, count + 1))
    units = "".join(
        f'<filler id="{i}" tsid="2"><{name}><k>{i}</k></{name}></filler>\n'
        for i in range(1, count + 1)
    )
    told = f'<structure><tag id="1" name="r"><tag id="2" name="{name}" type="temporal"/></tag>'
    return f'{told}</structure><filler id="0" tsid="1"><r>{holes}</r></filler>{units}'.encode()
