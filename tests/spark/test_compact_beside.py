"""`compact` beside processes that write and read the same table: every answer is one of its states.

Each of these is a process of its own; nobody waits for anybody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.spark.feeds import write_feed

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.log import Log

TEXT = 'count(stream("credit")//limit), count(stream("credit")//account)'

WRITE = """
import sys
from xstreamcast.edges.ingesting import ingest
done = ingest(sys.argv[1], sys.argv[2], stream="credit", most=7)
print(done.fragments)
"""
COMPACT = """
import sys
from pathlib import Path
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.log import Log
rounds = 0
while not Path(sys.argv[2]).exists():
    if Log(sys.argv[1]).exists():
        compact(sys.argv[1])
        rounds += 1
print(rounds)
"""
READ = """
import json, sys
from pathlib import Path
import xstreamcast as xsc
from xstreamcast.edges.table.log import Log
query = xsc.query(sys.argv[3])
seen = []
while not Path(sys.argv[2]).exists():
    state = Log(sys.argv[1]).state() if Log(sys.argv[1]).exists() else None
    if state is not None and state.streams and state.streams["credit"].structure is not None:
        seen.append(list(query.run(credit=Path("table:" + sys.argv[1]))))
print(json.dumps(seen))
"""


def _start(text: str, *words: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", text, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))


def _end(process: subprocess.Popen[str]) -> Any:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return json.loads(out)


def test_writing_compacting_and_reading_at_once(tmp_path: Path) -> None:
    feed, table, over = write_feed(tmp_path / "feed", 200), tmp_path / "table", tmp_path / "over"
    writer = _start(WRITE, feed, table)
    others = [_start(COMPACT, table, over), _start(READ, table, over, TEXT)]
    fragments = _end(writer)
    over.touch()
    rounds, seen = map(_end, others)
    assert fragments == 201
    assert rounds > 0
    ingest(feed, tmp_path / "alone", stream="credit")
    expected = list(xsc.query(TEXT).run(credit=Path(f"table:{tmp_path / 'alone'}")))
    assert list(xsc.query(TEXT).run(credit=Path(f"table:{table}"))) == expected
    limits = [limits for limits, _ in seen]
    assert all(0 <= found <= expected[0] for found in limits)
    compact(table, clean=True)
    assert sum(file.rows for file in Log(table).state().files) == 201
    assert list(xsc.query(TEXT).run(credit=Path(f"table:{table}"))) == expected


def test_who_began_to_read_before_a_compacting_can_end(tmp_path: Path) -> None:
    """Files that were replaced stay for an hour, however old they were."""
    table = tmp_path / "table"
    ingest(write_feed(tmp_path / "feed", 40), table, stream="credit", most=10)
    before = Log(table).state()
    for file in before.files:
        os.utime(table / file.path, (0, 0))
    compact(table)
    assert Log(table).state().files != before.files
    assert all((table / file.path).exists() for file in before.files)
    compact(table, clean=True)
    assert not any(
        (table / file.path).exists() for file in set(before.files) - set(Log(table).state().files)
    )
