"""What Spark's progress says of each stage of a query."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from xstreamcast import query
from xstreamcast.model.change import Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.feeds import FLAT, flat
from tests.spark.test_partitions_spark import GROUPS
from xstreamcast.spark.watching.progress import COUNTS, stages_of_progress

pytestmark = pytest.mark.spark
ROOT = '<stream:filler id="0" tsid="1" validTime="2024-01-01T00:00:00Z"><shop/></stream:filler>\n'
WRONG = '<stream:filler id="x" tsid="9" in="0"><item/></stream:filler>\n'


@pytest.mark.parametrize(
    ("partitions", "first", "last"), [(1, "one place", "one place"), (2, "units", "answer")]
)
def test_stages_say_what_they_did(
    spark: Any, tmp_path: Path, partitions: int, first: str, last: str
) -> None:
    feed = tmp_path / "shop.xml"
    feed.write_text(FLAT + ROOT + flat(0, 40, 2) + WRONG + flat(20, 60, 3))
    found: list[Change] = []
    running = query(GROUPS).spark(spark).start(
        lambda _, changes: found.extend(one for _, one in changes),
        shop=feed, follow=True, partitions=partitions, max_per_batch=30,
    )  # fmt: skip
    try:
        running.query.processAllAvailable()
        batches = [stages_of_progress(one) for one in running.recentProgress]
        plan = running.query._jsq.explainInternal(False)
        assert running.stages == batches[-1]
    finally:
        running.stop()
    sums: dict[str, Counter[str]] = {}
    for one in batches:
        for stage, counts in one.items():
            assert set(counts) == set(COUNTS)
            sums.setdefault(stage, Counter()).update(counts)
    several = 1 if partitions == 1 else partitions  # all partitions have the root
    assert sums[first]["fragments"] == 80 + several
    assert sums[first]["refused"] == 1
    assert sums[last]["changes"] == len(found) > 0
    assert all(one["stateBytes"] > 0 for one in sums.values())
    assert f"CollectMetrics {first}" in plan
    assert f"CollectMetrics {last}" in plan
