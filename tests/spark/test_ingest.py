"""A streaming query writes into a table what reading the files gives, each fragment once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpus_format import read_script
from tests.spark.feeds import HEAD, STRUCTURE, fragments, write_feed

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.edges import ingesting
from xstreamcast.edges.loading import load
from xstreamcast.edges.table import Log
from xstreamcast.edges.table.compacting import compact
from xstreamcast.edges.table.files import read_files
from xstreamcast.edges.table.reading import load_table
from xstreamcast.edges.table.schema import QUARANTINED
from xstreamcast.errors import InputError, UsageError
from xstreamcast.history.view import view
from xstreamcast.spark.ingest import ingest
from xstreamcast.spark.table import read_fragments
from xstreamcast.tape.store import Store

pytestmark = pytest.mark.spark
CORPUS = Path(__file__).parents[1] / "corpus"


def rows_of(table: Path) -> list[Any]:
    log = Log(table)
    rows = read_files(log.path, list(log.state().files))
    return [tuple(row.values()) for row in rows.drop(["batch", "ordinal"]).to_pylist()]


def seen(history: Any) -> bytes:
    return view(history, history.newest).serialize()


def test_a_folder_of_files_in_batches_is_the_folder(spark: Any, tmp_path: Path) -> None:
    feed, table = write_feed(tmp_path / "feed", 400), tmp_path / "table"
    done = ingest(spark, feed, table, stream="credit", most=150)
    assert (done.fragments, done.refused, done.batches) == (401, 0, 3)
    direct, kept = load("credit", feed, Store()), load_table("credit", table, Store())
    assert seen(kept.history) == seen(direct.history)
    ingesting.ingest(feed, tmp_path / "beside", stream="credit")
    assert sorted(map(str, rows_of(table))) == sorted(map(str, rows_of(tmp_path / "beside")))


def test_what_was_read_is_not_read_again_and_what_is_added_is(spark: Any, tmp_path: Path) -> None:
    feed, table = write_feed(tmp_path / "feed", 40), tmp_path / "table"
    ingest(spark, feed, table, stream="credit")
    more = HEAD + "".join(fragments(40, seed=2)[:7])
    (feed / "003.xml").write_text(more + '<stream:filler id="unfinished" tsid="3"')
    done = ingest(spark, feed, table, stream="credit")
    assert (done.fragments, [size for _, size in done.left]) == (
        7,
        [40],
    )  # with the line end before it
    assert len(rows_of(table)) == 41 + 7
    assert ingest(spark, feed, table, stream="credit").fragments == 0


def test_what_is_malformed_is_in_quarantine_with_its_reason(spark: Any, tmp_path: Path) -> None:
    bad = '<stream:filler id="a1" tsid="9"><x/></stream:filler>\n<stream:filler id="a2"><y>\n'
    made = fragments(20)
    wire = HEAD + STRUCTURE + "".join(made[:10]) + bad + "".join(made[10:])
    (tmp_path / "feed.xml").write_text(wire)
    done = ingest(spark, tmp_path / "feed.xml", tmp_path / "table", stream="credit")
    assert (done.fragments, done.refused) == (21, 2)
    log = Log(tmp_path / "table")
    rows = read_files(log.path, list(log.state().refused), QUARANTINED).to_pylist()
    rows.sort(key=lambda row: row["position"])  # one may have waited for a structure with its tag
    assert [row["code"] for row in rows] == ["XSCF0003", "XSCF0001"]
    assert [row["position"] for row in rows] == [wire.index(bad), wire.index(bad) + 53]
    assert rows[1]["payload"].startswith(b'<stream:filler id="a2"><y>')


def test_asked_to_stop_it_stops_and_the_batch_does_not_count(spark: Any, tmp_path: Path) -> None:
    bad = '<stream:filler id="a1" tsid="9"><x/></stream:filler>\n'
    (tmp_path / "feed.xml").write_text(HEAD + STRUCTURE + "".join(fragments(20)) + bad)
    with pytest.raises(InputError, match="XSCF0003"):
        ingest(spark, tmp_path / "feed.xml", tmp_path / "table", on_error="stop")
    assert Log(tmp_path / "table").state().files == ()


def test_a_document_is_cut_on_the_way_in(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "bank.xml").write_text(
        '<accounts><account no="1"><limit>5</limit></account></accounts>'
    )
    (tmp_path / "bank.ts").write_text(STRUCTURE)
    with pytest.raises(UsageError, match="structure"):
        ingest(spark, tmp_path / "bank.xml", tmp_path / "table")
    done = ingest(
        spark, tmp_path / "bank.xml", tmp_path / "table", structure=tmp_path / "bank.ts",
        valid="2003-11-03",
    )  # fmt: skip
    assert done.fragments == 3
    kept = load_table("bank", tmp_path / "table", Store())
    assert b'<limit vtFrom="2003-11-03T00:00:00" vtTo="now">5</limit>' in seen(kept.history)


def test_a_table_is_read_by_tag(spark: Any, tmp_path: Path) -> None:
    table = tmp_path / "table"
    ingest(spark, write_feed(tmp_path / "feed", 40), table, stream="credit", most=15)
    whole, limits = read_fragments(spark, table), read_fragments(spark, table, "credit", [3])
    assert whole.count() == 41
    assert {row.tag for row in limits.select("tag").distinct().collect()} == {3}
    assert all("tag=3" in name for name in limits.inputFiles())
    before = len(Log(table).state().files)
    answer = seen(load_table("credit", table, Store()).history)
    done = compact(table, clean=True)
    assert (done.before, done.after, done.deleted) == (before, 3, before - 1)  # the root came once
    assert seen(load_table("credit", table, Store()).history) == answer
    assert read_fragments(spark, table).count() == 41


@pytest.mark.parametrize("name", ["late_version", "structure_grows", "zones", "two_radars"])
def test_streams_of_the_corpus_through_spark(name: str, spark: Any, tmp_path: Path) -> None:
    script = read_script(CORPUS / f"{name}.stream")
    for stream, wire in script.wire(len(script.moments) - 1).items():
        (tmp_path / f"{stream}.xml").write_bytes(wire)
        ingest(spark, tmp_path / f"{stream}.xml", tmp_path / "table", stream=stream, most=4)
        direct = load(stream, wire, Store())
        assert seen(load_table(stream, tmp_path / "table", Store()).history) == seen(direct.history)
