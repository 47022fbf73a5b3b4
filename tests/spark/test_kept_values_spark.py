"""Values kept of a table that Spark wrote: its tasks do not read the other payloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.spark.test_kept_values import _numbered
from xstreamcast import Error

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from pyarrow import parquet

from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.values.indexing import index, indexed
from xstreamcast.spark.ingest import ingest

pytestmark = pytest.mark.spark


def _damage(table: Path, below: int) -> int:
    """Spoil the payloads of files whose events all have lower numbers → how many files that is."""
    damaged = 0
    for path in (table / "stream=s" / "tag=2").glob("*.parquet"):
        file = parquet.ParquetFile(path)
        ids = file.read(["id"])["id"].to_pylist()
        if max(int(one[1:]) for one in ids) >= below:
            continue
        damaged += 1
        with path.open("r+b") as out:
            for number in range(file.metadata.num_row_groups):
                group = file.metadata.row_group(number)
                chunks = [group.column(n) for n in range(group.num_columns)]
                (chunk,) = (one for one in chunks if one.path_in_schema == "payload")
                begin = chunk.dictionary_page_offset or chunk.data_page_offset
                out.seek(begin + chunk.total_compressed_size // 2)
                out.write(b"\xff" * (chunk.total_compressed_size // 2))
    return damaged


def _answers(spark: Any, table: Path, text: str) -> list[str]:
    """Of Spark and of this process, which are the same."""
    rows = xsc.query(text).spark(spark).run(s=f"table:{table}").collect()
    found = [row["item"] for row in rows]
    assert found == list(xsc.query(text).run(s=f"table:{table}").lines())
    return found


def test_spark_keeps_values_of_what_it_appends_and_reads_no_other_payloads(
    spark: Any, tmp_path: Path
) -> None:
    source, table = tmp_path / "s.xml", tmp_path / "table"
    source.write_bytes(_numbered(600))
    ingest(spark, source, table, stream="s", most=200)
    assert [one.kept == one.files for one in index(table, ["//e/@n"])] == [True]
    with source.open("ab") as file:
        file.write(_numbered(300, 600))
    ingest(spark, source, table, stream="s", most=200)
    (kept,) = indexed(Log(table))
    assert (kept.kept, kept.rows) == (kept.files, 900)
    assert _answers(spark, table, 'count(stream("s")//e[@n >= 650])') == ["250"]
    assert _damage(table, 640) >= 3
    assert _answers(spark, table, 'count(stream("s")//e[@n >= 890])') == ["10"]
    with pytest.raises(Error, match="cannot be read"):
        _answers(spark, table, 'count(stream("s")//e[@n >= 20])')
