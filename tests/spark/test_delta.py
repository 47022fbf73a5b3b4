"""A table that is a Delta table too: other readers of Delta see the rows that we see, each once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.spark.feeds import write_feed
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table import delta
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.files import read_files
from xstreamcast.edges.table.log import Log

pytest.importorskip("pyarrow", reason="the spark extra is not installed")
deltalake = pytest.importorskip("deltalake", reason="the delta extra is not installed")

COLUMNS = ("stream", "tag", "id", "operation", "valid", "payload", "batch", "ordinal")


def _by_delta(table: Path) -> list[tuple[Any, ...]]:
    """The rows that a reader of Delta sees."""
    rows = deltalake.DeltaTable(str(table)).to_pyarrow_table(columns=list(COLUMNS))
    return sorted(tuple(row[name] for name in COLUMNS) for row in rows.to_pylist())


def _by_us(table: Path) -> list[tuple[Any, ...]]:
    found = []
    for file in Log(table).state().files:
        for row in read_files(table, [file]).to_pylist():
            found.append((file.stream, *(row[name] for name in COLUMNS[1:])))
    return sorted(found)


@pytest.mark.parametrize("stream", ["credit", "a b/ü%"])
def test_delta_sees_what_was_ingested_and_compacted(tmp_path: Path, stream: str) -> None:
    feed, table = write_feed(tmp_path / "feed", 40), tmp_path / "table"
    ingest(feed, f"delta:{table}", stream=stream, most=10)
    assert len(_by_us(table)) == 41
    assert _by_delta(table) == _by_us(table)
    known = deltalake.DeltaTable(str(table))
    assert known.metadata().partition_columns == ["stream", "tag"]
    assert known.transaction_version(delta.APP) == Log(table).state().number - 1
    compact(table, clean=True)
    assert _by_delta(table) == _by_us(table)
    assert len(deltalake.DeltaTable(str(table)).file_uris()) == len(Log(table).state().files)
    query = f'count(stream("{stream}")//limit)'
    inputs: dict[str, Any] = {stream: Path(f"table:{table}")}
    assert list(xsc.query(query).run(**inputs)) == [30]


def test_what_a_killed_writer_did_not_tell_the_next_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, table = write_feed(tmp_path / "feed", 40), tmp_path / "table"
    ingest(feed, f"delta:{table}", stream="credit", most=30)

    def killed(log: Log) -> None:
        raise KeyboardInterrupt

    more = '<filler id="l1" tsid="3" validTime="2004-01-01"><limit>1</limit></filler>\n'
    (feed / "003.xml").write_text(more)
    with monkeypatch.context() as dying:
        dying.setattr(delta, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            ingest(feed, table, stream="credit")
    assert len(_by_delta(table)) == 41
    (feed / "004.xml").write_text(more.replace("2004", "2005"))
    ingest(feed, table, stream="credit")  # it is known by its folder
    assert len(_by_delta(table)) == 43
    assert _by_delta(table) == _by_us(table)
    delta.publish(Log(table))
    assert _by_delta(table) == _by_us(table)


def test_a_table_that_was_there_becomes_one(tmp_path: Path) -> None:
    feed, table = write_feed(tmp_path / "feed", 40), tmp_path / "table"
    ingest(feed, table, stream="credit", most=10)
    assert not Log(table).delta
    (feed / "003.xml").write_text('<filler id="l1" tsid="3"><limit>1</limit></filler>\n')
    ingest(feed, f"delta:{table}", stream="credit")
    assert _by_delta(table) == _by_us(table)
    assert len(_by_us(table)) == 42
