"""A broker of Kafka, the real one: partitions, offsets in our checkpoint, groups, kills."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sources.commands import watch
from tests.edges.sources.roads import MESSAGES, expected, settle
from tests.edges.sources.servers import kafka, until
from xstreamcast import query
from xstreamcast.cli.run import read_sources
from xstreamcast.errors import Error

client = pytest.importorskip("confluent_kafka", reason="the kafka extra is not installed")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka(tmp_path_factory.mktemp("kafka")) as address:
        yield address


def topic(broker: str, name: str, partitions: int = 3) -> str:
    from confluent_kafka import admin

    new: Any = getattr(admin, "NewTopic")  # noqa: B009  # its types do not name it
    there = admin.AdminClient({"bootstrap.servers": broker})
    for made in there.create_topics([new(name, partitions, 1)]).values():
        made.result(60)
    return name


def send(broker: str, name: str, messages: list[bytes]) -> None:
    """Those of one fragment into one partition: there they keep their order."""
    producer = client.Producer({"bootstrap.servers": broker, "linger.ms": 0})
    for message in messages:
        producer.produce(name, message, key=message.split(b'id="')[1][:3])
    assert producer.flush(60) == 0


def test_what_is_there_is_read_to_the_end_it_has_now(broker: str) -> None:
    name = topic(broker, "there")
    send(broker, name, MESSAGES)
    _, named = read_sources([f"roads=kafka://{broker}/{name}"])
    assert list(query('count(stream("roads")//incident)').run(**named).lines()) == ["50"]
    assert settle(f"kafka://{broker}/{name}", expected()) == expected()


def test_killed_again_and_again_it_has_every_record_once(broker: str, tmp_path: Path) -> None:
    name = topic(broker, "killed")
    source = f"kafka://{broker}/{name}"
    send(broker, name, MESSAGES[:11])
    for begin, end in ((11, 26), (26, 41)):
        with watch(tmp_path, source) as sink:
            send(broker, name, MESSAGES[begin:end])
            sink.until_counted(end - 3)
    send(broker, name, MESSAGES[41:])
    with watch(tmp_path, source) as sink:
        sink.until(expected())
        sink.until_counted(len(MESSAGES))
        assert len(sink.lines()) == len(set(sink.lines()))
    journal = (tmp_path / "state" / "journal").read_text()
    assert journal.count(",-1]") == len(MESSAGES)
    notes = (tmp_path / "state" / "roads.notes").read_text().splitlines()
    assert 3 <= len(notes) < len(MESSAGES)  # runs, not records; and no bytes of them
    assert not (tmp_path / "state" / "roads.frames").exists()


def test_a_group_shares_and_our_own_offsets_go_first(broker: str, tmp_path: Path) -> None:
    name = topic(broker, "grouped", partitions=2)
    source = f"kafka://{broker}/{name}?group=readers"
    send(broker, name, MESSAGES[:26])
    with watch(tmp_path, source, end=signal.SIGINT) as sink:  # who is killed stays a member
        sink.until_counted(26)
    # Somebody else moves the group's offsets to the end: ours do not follow.
    other: Any = client.Consumer({"bootstrap.servers": broker, "group.id": "readers"})
    ends = [client.TopicPartition(name, p, client.OFFSET_END) for p in (0, 1)]
    send(broker, name, MESSAGES[26:40])
    high = [other.get_watermark_offsets(one, timeout=30)[1] for one in ends]
    at = [client.TopicPartition(name, p, offset) for p, offset in enumerate(high)]
    other.commit(offsets=at, asynchronous=False)
    other.close()
    send(broker, name, MESSAGES[40:])
    with watch(tmp_path, source) as sink:
        sink.until(expected())


def test_a_group_is_told_what_is_in_the_sink(broker: str, tmp_path: Path) -> None:
    name = topic(broker, "told", partitions=2)
    source = f"kafka://{broker}/{name}?group=told"
    parts = [client.TopicPartition(name, number) for number in (0, 1)]
    asking: Any = client.Consumer({"bootstrap.servers": broker, "group.id": "told"})

    def told() -> int:
        return sum(max(one.offset, 0) for one in asking.committed(parts, timeout=30))

    with watch(tmp_path, source) as sink:
        for count in (20, 30, 40):  # in several ticks
            send(broker, name, MESSAGES[0 if count == 20 else count - 10 : count])
            sink.until_counted(count)
        until(lambda: told() == 40, "offsets of the group")
    asking.close()


def test_a_topic_that_is_not_there_is_named(broker: str) -> None:
    with pytest.raises(Error) as met:
        settle(f"kafka://{broker}/nowhere?from=end", None)
    assert "nowhere" in met.value.message


def test_records_that_are_gone_are_not_passed_over(broker: str, tmp_path: Path) -> None:
    from confluent_kafka.admin import AdminClient

    name = topic(broker, "gone", partitions=1)
    source = f"kafka://{broker}/{name}"
    send(broker, name, MESSAGES[:20])
    with watch(tmp_path, source) as sink:
        sink.until_counted(20)
    admin = AdminClient({"bootstrap.servers": broker})
    for deleted in admin.delete_records([client.TopicPartition(name, 0, 5)]).values():
        deleted.result(60)
    with (
        pytest.raises(AssertionError, match="no longer has the records that the checkpoint"),
        watch(tmp_path, source) as sink,
    ):
        sink.until(expected())
