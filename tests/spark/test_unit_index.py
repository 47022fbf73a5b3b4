"""Which rows stand below which unit: kept with a table, read by the statistics of row groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.spark.feeds import write_feed
from tests.spark.test_run_law import _here
from xstreamcast.edges.binding import Options
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table import unit_index as kept
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.reading import structure_in
from xstreamcast.edges.table.unit_building import unit_index
from xstreamcast.spark.running.spark_run import SparkRun

pa = pytest.importorskip("pyarrow", reason="the table extra is not installed")
pytest.importorskip("pyarrow.parquet")
QUERIES = ('stream("credit")//account[limit = 7000]', 'count(stream("credit")//limit/..)')


@pytest.fixture
def table(tmp_path: Path) -> Path:
    ingest(write_feed(tmp_path / "feed", 200), tmp_path / "table", stream="credit", most=90)
    return tmp_path / "table"


def _index(table: Path, until: int | None = None) -> Any:
    state = Log(table).state()
    structure = structure_in(state.streams["credit"], "credit")
    return unit_index(table, state, "credit", structure, until)


def _answers(table: Path) -> list[list[str]]:
    inputs = {"credit": Path(f"table:{table}")}
    return [
        _here(SparkRun(None, xsc.query(q).telling(""), None, inputs, Options(), tasks=3))
        for q in QUERIES
    ]


def test_it_is_made_once_for_a_state_and_cleaned_when_that_is_gone(table: Path) -> None:
    made, again = _index(table), _index(table)
    assert (made.kept, again.kept) == (False, True)
    assert made.units == again.units
    before = {one.name for one in (table / "_guides").glob("units-*")}
    compact(table, clean=True)
    assert _index(table).kept is False
    compact(table, clean=True)
    assert before.isdisjoint(one.name for one in (table / "_guides").glob("units-*"))


def test_of_another_format_it_is_made_again(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _index(table).kept is False
    monkeypatch.setattr(kept, "_FORMAT", b"of a later version")
    assert _index(table).kept is False
    assert _index(table).kept is True


def test_row_groups_are_skipped_by_unit_and_by_instant(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_GROUP", 8)
    index = _index(table)
    (rows,) = index.rows
    every = range(len(index.files))
    many = len(index.labels())

    def read(low: int, high: int, until: int | None = None) -> int:
        return len(list(kept._groups(rows, kept._Selection(low, high, every, until), ["unit"])))

    whole = read(0, many)
    assert whole > 10
    assert read(0, 2) < whole // 2
    valid = sorted(set(pa.parquet.read_table(rows)["valid"].to_pylist()))
    assert 0 < read(0, many, valid[len(valid) // 4]) < whole
    assert read(0, many, valid[0] - 1) == 0


def test_where_a_table_cannot_be_written_tasks_are_sent_all_of_it(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [list(xsc.query(q).run(credit=f"table:{table}").lines()) for q in QUERIES]
    assert _answers(table) == expected

    def refuse(*_: Any) -> None:
        raise OSError("read-only")

    for one in (table / "_guides").glob("*.parquet"):
        one.unlink()
    monkeypatch.setattr(kept, "put_whole", refuse)
    assert isinstance(_index(table).units, bytes)
    assert _answers(table) == expected
