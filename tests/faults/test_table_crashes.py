"""`ingest` and `compact` after a crash at every call that writes: each fragment is there once."""

from __future__ import annotations

import shutil
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from tests.faults.disk import Failing, restore, states
from tests.faults.test_watch_crashes import feed
from xstreamcast.cli.main import main
from xstreamcast.edges.disk import using
from xstreamcast.edges.table.files import read_files
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.schema import FRAGMENT, QUARANTINED

__all__ = ["feed"]
TABLE = "table"


def run(*words: str) -> tuple[int, str]:
    with redirect_stderr(StringIO()) as said:
        status = main(list(words))
    return status, said.getvalue()


def ingest(feed: Path, root: Path) -> tuple[int, str]:
    words = ["--table", str(root / TABLE), "--stream", "roads", "--max-per-batch", "5"]
    return run("ingest", str(feed), *words, "--runner", "local")


def compact(feed: Path, root: Path) -> tuple[int, str]:
    return run("compact", str(root / TABLE), "--clean")


def rows(root: Path) -> tuple[list[Any], list[Any], Any]:
    """All rows that count, in order of arrival; and what is known of the stream."""
    log = Log(root / TABLE)
    state = log.needed()
    fragments = read_files(log.path, list(state.files), FRAGMENT).to_pylist()
    refused = read_files(log.path, list(state.refused), QUARANTINED).to_pylist()
    return fragments, refused, state.streams


def test_power_is_lost_after_any_call_of_ingest(feed: Path, tmp_path: Path):
    whole = tmp_path / "whole"
    whole.mkdir()
    calls = Failing(whole)
    with using(calls):
        assert ingest(feed, whole)[0] == 4  # some were refused
    expected = rows(whole)
    assert len(expected[0]) == 19
    assert len(expected[1]) == 4
    for number, variant, state in states(whole, calls.log):
        root = tmp_path / "crashed"
        restore(state, whole, root)
        status, said = ingest(feed, root)
        assert status in (0, 4), said
        assert rows(root) == expected, (number, variant, calls.log[:number])
        shutil.rmtree(root)


def test_any_call_of_ingest_fails(feed: Path, tmp_path: Path):
    whole = tmp_path / "whole"
    whole.mkdir()
    calls = Failing(whole)
    with using(calls):
        ingest(feed, whole)
    expected = rows(whole)
    for number in range(len(calls.log)):
        how = ("full", "cut", "broken")[number % 3]
        root = tmp_path / "failing"
        root.mkdir()
        with using(Failing(root, number, how)):
            status, said = ingest(feed, root)
        assert "internal error" not in said, said
        assert status in (0, 2, 4), said
        assert status != 2 or str(root) in said, said
        assert ingest(feed, root)[0] in (0, 4)
        assert rows(root) == expected, (number, how, calls.log[number])
        shutil.rmtree(root)


def test_power_is_lost_after_any_call_of_compact(feed: Path, tmp_path: Path):
    whole = tmp_path / "whole"
    whole.mkdir()
    ingest(feed, whole)
    expected = rows(whole)
    before = {str(path): None if path.is_dir() else path.read_bytes() for path in whole.rglob("*")}
    calls = Failing(whole)
    with using(calls):
        assert compact(feed, whole)[0] == 0
    assert rows(whole) == expected
    for number, variant, state in states(whole, calls.log, before):
        root = tmp_path / "crashed"
        restore(state, whole, root)
        assert rows(root) == expected, (number, variant, calls.log[:number])
        assert compact(feed, root)[0] == 0
        assert rows(root) == expected, (number, variant)
        shutil.rmtree(root)
