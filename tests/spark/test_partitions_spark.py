"""Partitions on Spark: a query goes on from its checkpoint, with as many as it had."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import write_feed
from xstreamcast import Error, query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

pytestmark = pytest.mark.spark
BIG = """for $a in stream("credit")//account
where $a/limit?[now] > 5000 return <a>{$a/@no, $a/limit?[now]/text()}</a>"""


def test_a_query_in_partitions_goes_on_from_its_checkpoint(spark: Any, tmp_path: Path) -> None:
    feed, later = write_feed(tmp_path / "feed", 120), tmp_path / "later"
    # one without the root: before that there are no units
    last = next(feed / n for n in ("000.xml", "002.xml") if 'id="0"' not in (feed / n).read_text())
    last.rename(later)
    found: list[Change] = []
    start = partial(
        query(BIG).spark(spark).start, lambda _, changes: found.extend(one for _, one in changes),
        credit=feed, checkpoint=tmp_path / "checkpoint", max_per_batch=50,
    )  # fmt: skip
    running = start(follow=True, partitions=2)
    assert (tmp_path / "checkpoint" / "stages").read_text() == "2\n"  # its structure is known
    running.query.processAllAvailable()
    running.stop()
    before = len(found)
    assert before
    with pytest.raises(Error, match="partition"):
        start(partitions=3)
    later.rename(feed / "003.xml")
    running = start(partitions=2)
    assert running.awaitTermination(500)
    assert Accumulated(found).items() == list(query(BIG).run(credit=feed).lines())
    assert len(found) > before
    assert "bytes of state" in running.told.said["query"]
