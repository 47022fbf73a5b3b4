"""A table that is not what its log says: an error that names file and remedy; nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.spark.feeds import write_feed
from xstreamcast.edges.binding import Options
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.log import FORMAT, Log
from xstreamcast.errors import Error
from xstreamcast.spark.running.spark_run import SparkRun

pa = pytest.importorskip("pyarrow", reason="the spark extra is not installed")
import pyarrow.parquet as parquet  # noqa: E402

TEXT = 'count(stream("credit")//limit)'


@pytest.fixture
def table(tmp_path: Path) -> Path:
    ingest(write_feed(tmp_path / "feed", 40), tmp_path / "table", stream="credit", most=25)
    return tmp_path / "table"


def _limits(table: Path) -> Path:
    return sorted((table / "stream=credit" / "tag=3").glob("*.parquet"))[0]


def _without(name: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        parquet.write_table(parquet.ParquetFile(path).read().drop_columns([name]), path)

    return change


def _cast(name: str, kind: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        rows = parquet.ParquetFile(path).read()
        at = rows.column_names.index(name)
        parquet.write_table(rows.set_column(at, name, rows[name].cast(kind)), path)

    return change


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _shortened(path: Path) -> None:
    parquet.write_table(parquet.ParquetFile(path).read().slice(1), path)


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "deleted": (Path.unlink, "is missing"),
    "truncated": (_halved, "bytes, where"),
    "rows lost": (_shortened, "rows; must have"),
    "no holes": (_without("holes"), "has no column holes"),
    "no valid time": (_without("valid"), "has no column valid"),
    "valid as text": (_cast("valid", pa.string()), "a column valid of string; must be int64"),
    "payload as text": (
        _cast("payload", pa.string()),
        "a column payload of string; must be binary",
    ),
}


def _spark_run(table: Path) -> SparkRun:
    inputs = {"credit": Path(f"table:{table}")}
    return SparkRun(None, xsc.query(TEXT).telling(""), None, inputs, Options(), tasks=2)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_file_that_was_changed_is_named_with_what_is_wrong(table: Path, fault: str) -> None:
    change, said = FAULTS[fault]
    path = _limits(table)
    before = {p: p.read_bytes() for p in table.rglob("*") if p.is_file() and p != path}
    kept = path.read_bytes()
    change(path)
    asked: tuple[Callable[[], object], ...] = (
        lambda: list(xsc.query(TEXT).run(credit=f"table:{table}")),
        lambda: _spark_run(table).work(),
        lambda: compact(table),
    )
    for ask in asked:
        with pytest.raises(Error, match=r"XSCU0003") as told:
            ask()
        assert said in str(told.value)
        assert path.relative_to(table).as_posix() in str(told.value)
        assert told.value.hint
    assert {p: p.read_bytes() for p in before} == before
    path.write_bytes(kept)
    assert list(xsc.query(TEXT).run(credit=f"table:{table}")) == [30]


def test_more_columns_and_larger_types_are_read(table: Path) -> None:
    path = _limits(table)
    rows = parquet.ParquetFile(path).read()
    wide = rows.set_column(0, "id", rows["id"].cast(pa.large_string()))
    parquet.write_table(wide.append_column("more", pa.array([1] * rows.num_rows)), path)
    assert list(xsc.query(TEXT).run(credit=f"table:{table}")) == [30]


def test_what_a_newer_version_wrote_is_refused_and_kept(table: Path) -> None:
    log = Log(table)
    last = log.folder / f"{log.numbers()[-1]:010}.json"
    told = {**json.loads(last.read_text()), "format": FORMAT + 1, "unknown": 1}
    last.write_text(json.dumps(told))
    for ask in (lambda: log.state(), lambda: ingest(table.parent / "feed", table, stream="credit")):
        with pytest.raises(Error, match="by a newer xstreamcast") as refused:
            ask()
        assert f"formats up to {FORMAT}" in str(refused.value)
    assert json.loads(last.read_text()) == told


def test_what_an_older_version_wrote_is_read(table: Path) -> None:
    folder = Log(table).folder
    for path in folder.glob("*.json"):
        told = json.loads(path.read_text())
        files = [{k: v for k, v in one.items() if k != "inside"} for one in told["files"]]
        path.write_text(json.dumps({**told, "format": 1, "files": files}))
    assert list(xsc.query(TEXT).run(credit=f"table:{table}")) == [30]


@pytest.mark.parametrize("text", ["", '{"format":2', '{"format":2,"files":3}', "[]"])
def test_a_commit_that_is_not_whole_is_named(table: Path, text: str) -> None:
    path = Log(table).folder / f"{0:010}.json"
    path.write_text(text)
    with pytest.raises(Error, match="the log of the table is damaged") as told:
        Log(table).state()
    assert str(path) in str(told.value)


def test_a_commit_that_was_deleted_is_missed(table: Path) -> None:
    (Log(table).folder / f"{0:010}.json").unlink()
    with pytest.raises(Error, match="it is missing, though later commits are there"):
        Log(table).state()


def test_lost_guides_cost_time_only(table: Path) -> None:
    for path in (table / "_guides").iterdir():
        path.write_text("{") if path.name.startswith("inside") else path.unlink()
    assert list(xsc.query(TEXT).run(credit=f"table:{table}")) == [30]
    assert _spark_run(table).work().tasks == 2
