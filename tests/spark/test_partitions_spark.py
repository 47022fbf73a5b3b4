"""Partitions on Spark: a query goes on from its checkpoint, by default with as many as it had."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import FLAT, flat, write_feed
from xstreamcast import Error, query
from xstreamcast.cli import bank
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.edges.partitions.unit_keys import Inside
from xstreamcast.spark.watching.steps import StepPlan

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
    running = start(follow=True, partitions=3)
    planned = StepPlan.of((tmp_path / "checkpoint" / "stages").read_text())
    # its structure is known; limits are fragments in accounts
    assert planned == StepPlan(2, emits=True)
    running.query.processAllAvailable()
    running.stop()
    before = len(found)
    assert before
    later.rename(feed / "003.xml")
    running = start()  # as many as it had, though the session has two cores
    assert running.awaitTermination(500)
    assert Accumulated(found).items() == list(query(BIG).run(credit=feed).lines())
    assert len(found) > before
    assert "bytes of state" in running.totals.said["query"]


GROUPS = """for $i in stream("shop")//item?[now] group by $k := string($i/@kind)
order by $k return <kind name="{$k}" items="{count($i)}" sum="{sum($i/xs:integer(@price))}"/>"""


@pytest.mark.parametrize("asked", ['stream("shop")//item?[now]', GROUPS])
def test_units_are_partitioned_as_they_are_read(spark: Any, tmp_path: Path, asked: str) -> None:
    feed = tmp_path / "shop.xml"
    root = '<stream:filler id="0" tsid="1" validTime="2024-01-01T00:00:00Z"><shop/></stream:filler>'
    feed.write_text(FLAT + flat(0, 40, 2) + root + "\n" + flat(20, 60, 3))
    found: list[Change] = []
    start = partial(
        query(asked).spark(spark).start, lambda _, changes: found.extend(one for _, one in changes),
        shop=feed, checkpoint=tmp_path / "checkpoint", max_per_batch=30, partitions=2,
    )  # fmt: skip
    running = start(follow=True)
    planned = StepPlan.of((tmp_path / "checkpoint" / "stages").read_text())
    assert planned.spread == {"query": frozenset({"shop"})}
    running.query.processAllAvailable()
    running.stop()
    before = len(found)
    assert Accumulated(found).items() == list(query(asked).run(shop=feed).lines())
    with feed.open("a") as file:
        file.write(flat(0, 10, 4) + '<stream:remove id="i7" tsid="2" validTime="2024-01-05"/>')
    running = start()
    assert running.awaitTermination(500)
    assert Accumulated(found).items() == list(query(asked).run(shop=feed).lines())
    assert len(found) > before


KINDS = """for $i in stream("shop")//item?[now] group by $k := string($i/@kind)
return <kind name="{$k}" items="{count($i)}"/>"""


@pytest.mark.parametrize(
    ("asked", "partitions"),
    [('stream("shop")//item?[now]', 2), (KINDS, 2), (GROUPS, 2), (KINDS, 1)],
)
def test_updates_come_to_the_answer(
    spark: Any, tmp_path: Path, asked: str, partitions: int
) -> None:
    feed = tmp_path / "shop.xml"
    root = '<stream:filler id="0" tsid="1" validTime="2024-01-01T00:00:00Z"><shop/></stream:filler>'
    feed.write_text(FLAT + root + flat(0, 40, 2))
    rows: dict[str, Any] = {}

    def write(batch: Any, _: int) -> None:
        for row in batch.collect():
            if row.version > (rows[row.key].version if row.key in rows else -1):
                rows[row.key] = row

    def answer() -> list[str]:
        live = [row for row in rows.values() if not row.deleted]
        return [row.item for row in sorted(live, key=lambda row: bytes(row.rank))]

    def run() -> list[str]:
        updates = query(asked).spark(spark).updates(
            shop=feed, follow=True, partitions=partitions, checkpoint=tmp_path / "ours",
            max_per_batch=25,
        )  # fmt: skip
        assert updates.columns == ["query", "key", "rank", "item", "deleted", "time", "version"]
        written = updates.writeStream.foreachBatch(write).trigger(availableNow=True)
        started = written.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        assert started.awaitTermination(300)
        return answer()

    assert run() == list(query(asked).run(shop=feed).lines())
    with feed.open("a") as file:
        file.write(flat(30, 50, 4) + '<stream:remove id="i7" tsid="2" validTime="2024-01-05"/>')
    assert run() == list(query(asked).run(shop=feed).lines())


@pytest.mark.parametrize("asked", [bank.FRAUD, bank.MAXED], ids=["fraud", "maxed"])
def test_fragments_that_name_their_units_need_no_router(
    spark: Any, tmp_path: Path, asked: str
) -> None:
    feed = tmp_path / "credit.xml"
    feed.write_text(bank.HEAD + bank.beginning() + "".join(m.text for m in bank.first_half()))
    found: list[Change] = []
    start = partial(
        query(asked).spark(spark).start, lambda _, changes: found.extend(one for _, one in changes),
        credit=feed, checkpoint=tmp_path / "checkpoint", max_per_batch=100, partitions=2,
    )  # fmt: skip
    running = start(follow=True)
    planned = StepPlan.of((tmp_path / "checkpoint" / "stages").read_text())
    assert planned.spread == {"query": frozenset({"credit"})}
    assert planned.inside == {"credit": Inside(frozenset({4, 5, 8}), 1)}
    running.query.processAllAvailable()
    running.stop()
    assert Accumulated(found).items() == list(query(asked).run(credit=feed).lines())
    with feed.open("a") as file:
        file.write("".join(message.text for message in bank.second_half()))
    running = start()
    assert running.awaitTermination(500)
    assert Accumulated(found).items() == list(query(asked).run(credit=feed).lines())


def test_a_name_that_contradicts_a_link_stops_the_query(spark: Any, tmp_path: Path) -> None:
    feed = tmp_path / "credit.xml"
    feed.write_text(bank.HEAD + bank.beginning().replace('unit="a3"', 'unit="a4"'))
    running = query(bank.MAXED).spark(spark).start(lambda *_: None, credit=feed, partitions=2)
    with pytest.raises(Error, match=r"fragment l3 is declared in unit a\d, and in unit"):
        running.awaitTermination(100)
