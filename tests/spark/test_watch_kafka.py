"""Kafka in and out, with a real broker: a feed with a mapping in, the answer by key out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sources.servers import kafka
from tests.edges.sources.test_kafka import topic
from tests.spark.test_table import MAPPING
from xstreamcast import Error, query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.spark.topics import write_changes, write_upserts
from xstreamcast.spark.watching.steps import StepPlan

client = pytest.importorskip("confluent_kafka", reason="the kafka extra is not installed")
pytestmark = pytest.mark.spark
QUERY = 'for $u in stream("s")//u?[now] return <u id="{$u/@id}">{$u/text()}</u>'


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka(tmp_path_factory.mktemp("kafka")) as address:
        yield address


def send(broker: str, name: str, first: int, last: int, beside: Path) -> None:
    """Deliveries that each have all units, to a topic, and as files."""
    beside.mkdir(exist_ok=True)
    producer = client.Producer({"bootstrap.servers": broker})
    for n in range(first, last):
        units = "".join(f'<u id="u{k}">{n // (k + 1)}</u>' for k in range(n % 7 + 1))
        message = f'<m at="2024-01-01T00:{n:02}:00Z">{units}</m>'
        producer.produce(name, message.encode())
        (beside / f"{n:02}.xml").write_text(message)
    assert producer.flush(60) == 0


def records(broker: str, name: str) -> list[tuple[str, str | None]]:
    """All that a topic has."""
    consumer = client.Consumer(
        {"bootstrap.servers": broker, "group.id": "test", "auto.offset.reset": "earliest",
         "enable.partition.eof": True}
    )  # fmt: skip
    consumer.assign([client.TopicPartition(name, 0, 0)])
    found: list[tuple[str, str | None]] = []
    while True:
        record: Any = consumer.poll(30)
        assert record is not None
        if record.error() is not None:
            consumer.close()
            return found
        value = record.value()
        found.append((record.key().decode(), None if value is None else value.decode()))


def test_a_mapped_feed_comes_from_a_topic_and_its_answer_goes_into_topics(
    spark: Any, broker: str, tmp_path: Path
) -> None:
    (tmp_path / "m.toml").write_text(MAPPING)
    feed, upserts, changes = (topic(broker, name, 1) for name in ("feed", "upserts", "changes"))
    files = tmp_path / "files"
    send(broker, feed, 1, 20, files)
    here = f"{tmp_path / 'm.toml'}:{files}"
    source = f"{tmp_path / 'm.toml'}:kafka://{broker}/{feed}"
    running = (
        query(QUERY)
        .spark(spark)
        .start(write_changes(f"kafka://{broker}/{changes}"), s=source, partitions=2,
               checkpoint=tmp_path / "first")
    )  # fmt: skip
    planned = StepPlan.of((tmp_path / "first" / "stages").read_text())
    assert planned.spread == {"query": frozenset({"s"})}  # no router: a mapping says its units
    assert running.awaitTermination(300)
    expected = list(query(QUERY).run(s=here).lines())
    assert len(expected) == 6
    told = [Change.from_json(str(value)) for _, value in records(broker, changes)]
    assert Accumulated(told).items() == expected
    updates = (
        query(QUERY)
        .spark(spark)
        .updates(s=source, partitions=2, checkpoint=tmp_path / "second", follow=True)
    )
    written = updates.writeStream.foreachBatch(write_upserts(f"kafka://{broker}/{upserts}"))
    started = written.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        for _ in range(600):
            started.processAllAvailable()
            now = {key: value for key, value in records(broker, upserts) if value is not None}
            if sorted(set(now.values())) >= sorted(expected):
                break
        send(broker, feed, 20, 22, files)  # the last delivery has one unit: the others have gone
        for _ in range(600):
            started.processAllAvailable()
            kept = dict(records(broker, upserts))
            live = sorted(value for value in kept.values() if value is not None)
            if live == sorted(query(QUERY).run(s=here).lines()):
                break
        else:
            pytest.fail(f"the topic has {live}")
    finally:
        started.stop()
    assert None in kept.values()


def test_an_address_that_names_no_topic_is_said_to() -> None:
    with pytest.raises(Error, match="a topic must be kafka://HOST/TOPIC"):
        write_upserts_to("kafka://127.0.0.1:1/")


def write_upserts_to(address: str) -> None:
    from xstreamcast.edges.sinks.topic import TopicWriter

    TopicWriter(address)
