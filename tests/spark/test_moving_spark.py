"""A query on Spark goes on from its checkpoint with another number of partitions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import write_feed
from tests.spark.test_moving import FILTER, GROUPS, JOIN, WINDOWS
from xstreamcast import Error, query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

pytestmark = pytest.mark.spark
ASKED = {"filter": FILTER, "groups": GROUPS, "join": JOIN, "windows": WINDOWS}


class Sink:
    """What a query has emitted, by batch."""

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.changes: list[Change] = []

    def __call__(self, epoch: int, changes: list[tuple[str, Change]]) -> None:
        self.epochs.append(epoch)
        self.changes += [one for _, one in changes]

    @property
    def answer(self) -> list[str]:
        return Accumulated(self.changes).items()


CASES = [(one, True) for one in ASKED] + [("filter", False), ("groups", False)]


@pytest.mark.parametrize(("name", "keyed"), CASES, ids=lambda one: str(one))
def test_another_number_of_partitions_changes_no_answer(
    spark: Any, tmp_path: Path, name: str, keyed: bool
) -> None:
    text, sink = ASKED[name], Sink()
    feed = write_feed(tmp_path / "feed", 160, files=4, keyed=keyed)
    first = feed / ("000.xml" if keyed else "001.xml")  # that has the structure
    later = {one: tmp_path / one.name for one in sorted(feed.iterdir()) if one != first}
    for one, place in later.items():
        one.rename(place)
    start = partial(
        query(text).spark(spark).start, sink, credit=feed, checkpoint=tmp_path / "checkpoint",
        max_per_batch=30,
    )  # fmt: skip
    for partitions, (one, place) in zip((1, 2, 3), later.items(), strict=True):
        running = start(partitions=partitions, follow=True)
        running.query.processAllAvailable()
        running.stop()
        assert sink.answer == list(query(text).run(credit=feed).lines())
        place.rename(one)
    assert start(partitions=1).awaitTermination(500)
    assert sink.answer == list(query(text).run(credit=feed).lines())
    assert sink.epochs == list(range(len(sink.epochs)))
    assert len(sink.answer) > 1


def test_a_dataframe_stays_in_its_partitions(spark: Any, tmp_path: Path) -> None:
    from xstreamcast.spark.source import NAME, register

    feed, sink = write_feed(tmp_path / "feed", 40, keyed=True), Sink()
    rows = register(spark).readStream.format(NAME).option("path", str(feed)).load()
    start = partial(
        query(FILTER).spark(spark).start, sink, credit=rows, checkpoint=tmp_path / "checkpoint",
        follow=True,
    )  # fmt: skip
    running = start(partitions=2)
    running.query.processAllAvailable()
    running.stop()
    with pytest.raises(Error, match="from 2 to 3 partitions: credit is a DataFrame") as refused:
        start(partitions=3)
    assert "--partitions 2" in str(refused.value.hint)
    running = start()
    running.query.processAllAvailable()
    running.stop()
