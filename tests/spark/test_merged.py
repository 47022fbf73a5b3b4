"""An answer that is merged into a Delta table by key is the answer of `run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import FLAT, flat
from xstreamcast import query

deltalake = pytest.importorskip("deltalake", reason="the delta extra is not installed")

LIST = 'stream("shop")//item?[now]'


def answer(table: Path) -> list[str]:
    """What a reader of the Delta table sees, in the order of the answer."""
    rows = deltalake.DeltaTable(str(table)).to_pyarrow_table().to_pylist()
    assert len({row["key"] for row in rows}) == len(rows)
    return [row["item"] for row in sorted(rows, key=lambda row: bytes(row["rank"]))]


def test_a_table_merged_by_key_holds_the_answer(spark: Any, tmp_path: Path) -> None:
    from xstreamcast.spark.merged import merge_into

    feed, table = tmp_path / "shop.xml", tmp_path / "answer"
    root = '<stream:filler id="0" tsid="1" validTime="2024-01-01T00:00:00Z"><shop/></stream:filler>'
    feed.write_text(FLAT + root + flat(0, 40, 2))
    merge = merge_into(str(table))

    def twice(batch: Any, epoch: int) -> None:  # as after a failure behind the commit
        merge(batch, epoch)
        merge(batch, epoch)

    def run() -> None:
        updates = query(LIST).spark(spark).updates(
            shop=feed, follow=True, partitions=2, checkpoint=tmp_path / "ours",
            max_per_batch=25,
        )  # fmt: skip
        written = updates.writeStream.foreachBatch(twice).trigger(availableNow=True)
        started = written.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        assert started.awaitTermination(300)
        assert answer(table) == list(query(LIST).run(shop=feed).lines())

    run()
    with feed.open("a") as file:
        file.write(flat(30, 50, 4) + '<stream:remove id="i7" tsid="2" validTime="2024-01-05"/>')
    run()


def test_of_a_key_the_greatest_version_counts(spark: Any, tmp_path: Path) -> None:
    from xstreamcast.spark.merged import merge_into

    columns = (
        "query string, key string, rank binary, item string, deleted boolean, "
        "time long, version long"
    )
    merge = merge_into(str(tmp_path / "answer"))

    def batch(*rows: tuple[str, str | None, int]) -> None:
        made = [("q", key, b"1", item, item is None, None, version) for key, item, version in rows]
        merge(spark.createDataFrame(made, columns), 0)

    batch(("a", None, 2), ("a", "moved", 3), ("b", "one", 3))
    assert sorted(answer(tmp_path / "answer")) == ["moved", "one"]
    batch(("b", None, 4))
    batch(("a", "old", 1), ("c", None, 6))
    assert answer(tmp_path / "answer") == ["moved"]
