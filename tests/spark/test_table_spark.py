"""Tables on Spark: joins and windows find what one process finds; what Spark wrote is pruned."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.spark.feeds import write_feed
from xstreamcast.edges.batch.units import Table, UnitsTask
from xstreamcast.edges.binding import Options
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.unit_building import rows_below, unit_index
from xstreamcast.edges.table.unit_index import ROWS
from xstreamcast.spark.running import guides
from xstreamcast.spark.running.guides import table_guide
from xstreamcast.spark.running.links import followed
from xstreamcast.spark.running.spark_run import SparkRun

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

STRATEGIES = ("caq", "qac", "qac+", "auto")
# Shelves are sent again whole; books have versions; a note stands below each book.
SHELVES = """<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="shop" type="snapshot"><tag id="2" name="shelf" type="snapshot"
filler="true"><tag id="3" name="book" type="temporal"><tag id="4" name="note" type="event"/></tag>
</tag></tag></stream:structure>
"""


def _filler(name: str, tag: int, month: int, payload: str) -> str:
    head = f'<stream:filler id="{name}" tsid="{tag}" validTime="2003-{month:02}-01T00:00:00">'
    return f"{head}{payload}</stream:filler>\n"


def _shelves(folder: Path) -> Path:
    """Shelves that lose a book each month and get another one; the shop gets a shelf."""
    hole = '<stream:hole id="{}" tsid="{}"/>'.format
    lines = [SHELVES]
    for month in range(1, 7):
        shelves = "".join(hole(f"s{n}", 2) for n in range(3 + month))
        lines.append(_filler("0", 1, month, f"<shop>{shelves}</shop>"))
        for n in range(3 + month):
            books = "".join(hole(f"b{n}.{k}", 3) for k in range(month, month + 3))
            lines.append(_filler(f"s{n}", 2, month, f"<shelf no='{n}'>{books}</shelf>"))
            book = f"<book price='{month + n}'>{hole(f'n{n}.{month}', 4)}</book>"
            lines.append(_filler(f"b{n}.{month}", 3, month, book))
            lines.append(
                _filler(f"b{n}.{month}", 3, 7 - month, book.replace("price='", "price='1"))
            )
            lines.append(_filler(f"n{n}.{month}", 4, month, f"<note>{n * month}</note>"))
    (folder / "shop.xml").write_text("".join([*lines, "</stream:fragments>\n"]))
    return folder / "shop.xml"


def _asked(spark: Any, text: str, table: Path, few: int, **options: Any) -> tuple[Any, SparkRun]:
    inputs = {"shop": Path(f"table:{table}")}
    asked = Options(**options)
    run = SparkRun(spark, xsc.query(text).telling(""), None, inputs, asked, tasks=3, few=few)
    return run.collected()["item"].to_pylist(), run


@pytest.mark.parametrize(
    ("strategies", "as_of"), [(("auto",), None), (STRATEGIES, "2003-03-01T00:00:00")]
)
def test_joins_and_windows_answer_as_one_process_with_every_strategy(
    spark: Any, tmp_path: Path, strategies: tuple[str, ...], as_of: str | None
) -> None:
    feed, table = _shelves(tmp_path), tmp_path / "table"
    ingest(feed, table, stream="shop", most=17)
    text = (
        'for $s in stream("shop")/shop/shelf return <s>{$s/@no, count($s/book/note), '
        "$s/book?[now]/@price/string(), $s//note?[now]}</s>"
    )
    expected = list(xsc.query(text).run(shop=feed, as_of=as_of).lines())
    assert expected
    for strategy in strategies:
        found, run = _asked(spark, text, table, 0, as_of=as_of, strategy=strategy)
        assert found == expected, strategy
        by = "joins of Spark computed" if strategy == strategies[0] else "the rows of each unit"
        assert any(one.startswith(by) for one in run.words)


@pytest.mark.parametrize("as_of", [None, "2003-03-01T00:00:00"])
def test_joins_of_spark_find_the_rows_that_the_driver_finds(
    spark: Any, tmp_path: Path, as_of: str | None
) -> None:
    ingest(_shelves(tmp_path), tmp_path / "table", stream="shop", most=17)
    log = Log(tmp_path / "table")
    state, until = log.state(), None if as_of is None else 1046476800000000
    table = Table.of(log.path, "shop", state)
    given = log.path, state, "shop", table.structure, until
    found = unit_index(*given, partial(followed, spark, table))
    assert found is not None
    assert all(isinstance(one, Path) for one in found.rows)
    read = pa.concat_tables([pa.parquet.read_table(one).select(ROWS) for one in found.rows])
    units = pa.parquet.read_table(found.units)
    mine = rows_below(log.path, state.files_of("shop"), units["id"].combine_chunks())
    for name, column in zip(ROWS, mine, strict=True):
        assert read[name].to_pylist() == column.tolist(), name
    again = unit_index(*given)
    assert again is not None
    assert again.kept
    assert again.rows == found.rows


def test_superseded_snapshots_are_left_out(tmp_path: Path) -> None:
    ingest(_shelves(tmp_path), tmp_path / "table", stream="shop", most=17)
    text = 'stream("shop")//shelf/@no/string()'
    inputs = {"shop": Path(f"table:{tmp_path / 'table'}")}
    run = SparkRun(None, xsc.query(text).telling(""), None, inputs, Options(), tasks=2)
    work = run.work()
    assert isinstance(work.task, UnitsTask)
    picked = [one for place in range(work.tasks) for one in work.task.picked(place)]
    assert sum(map(len, picked)) == 9  # of 39 that were sent


def test_each_strategy_says_what_it_reads(spark: Any, tmp_path: Path) -> None:
    ingest(_shelves(tmp_path), tmp_path / "table", stream="shop")
    said = {}
    for strategy in STRATEGIES:
        text = 'stream("shop")//book/@price/string()'
        _, run = _asked(spark, text, tmp_path / "table", 1 << 20, strategy=strategy)
        said[strategy] = run.words
    assert "fragments read: all tags, with caq in each task" in said["caq"]
    assert "fragments read: shop, shelf, book" in said["qac"]
    assert any(one.startswith("qac: ") for one in said["qac"])
    assert "by their links alone: shop, shelf" in said["qac+"]
    assert not any(one.startswith("by their links") for one in said["qac"])
    assert said["auto"] == said["qac+"]


def test_a_table_that_spark_wrote_is_pruned_from_the_first_query_on(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xstreamcast.spark.ingest import ingest as ingest_on_spark

    feed, table = write_feed(tmp_path / "feed", 80), tmp_path / "table"
    ingest_on_spark(spark, feed, table, stream="credit", most=40)
    ingest(feed, tmp_path / "local", stream="credit", most=40)
    state = Log(table).state()
    assert all(file.inside is None for file in state.files)
    monkeypatch.setattr(guides, "_SMALL", 0)  # tasks look into the files
    found = table_guide(spark, Table.of(table, "credit", state), few=0)
    local = Table.of(tmp_path / "local", "credit", Log(tmp_path / "local").state())
    assert found is not None
    assert found == table_guide(spark, local, few=1 << 20)
    inputs = {"credit": Path(f"table:{table}")}
    text = 'stream("credit")//account/string(@no)'
    run = SparkRun(spark, xsc.query(text).telling(""), None, inputs, Options(), tasks=2)
    assert run.collected().num_rows == 20
    assert "fragments read: accounts, account" in run.words
