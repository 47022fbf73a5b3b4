"""Killed at any moment and started again, with a topic of Kafka in and one out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.edges.sources.servers import kafka
from tests.edges.sources.test_kafka import topic
from tests.spark.killing import Job
from tests.spark.test_table import MAPPING
from tests.spark.test_watch_kafka import records
from xstreamcast import query
from xstreamcast.model.change import Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")
client = pytest.importorskip("confluent_kafka", reason="the kafka extra is not installed")
pytestmark = pytest.mark.spark
GROUPS = """for $u in stream("s")//u?[now] group by $v := xs:integer($u)
return <g of="{$v}" n="{count($u)}">{max($u/xs:integer(@n))}</g>"""
JOIN = """for $a in stream("s")//u?[now], $b in stream("s")//u?[now]
where xs:integer($a) = xs:integer($b/@n) return <m>{$a/@n, attribute to {$b/@n}}</m>"""
WINDOWS = """for tumbling window $w in stream("s")//u?[now] start when true()
only end at $i when $i mod 4 = 0 return <four>{sum($w/xs:integer(.))}</four>"""
UNITS = 40
QUERIES = {"groups": GROUPS, "join": JOIN, "windows": WINDOWS}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka(tmp_path_factory.mktemp("kafka")) as address:
        yield address


class Topics:
    """A feed in a topic, and as files; the topic of an answer; and what is between them."""

    def __init__(self, broker: str, folder: Path, name: str, form: str, text: str) -> None:
        self.broker, self.folder, self.text, self.form = broker, folder, text, form
        self.feed, self.answer = (topic(broker, f"{name}-{one}", 1) for one in ("in", "out"))
        (folder / "m.toml").write_text(MAPPING.replace("whole = true\n", ""))
        (folder / "files").mkdir()
        self.sent = 0

    @property
    def job(self) -> Job:
        source = f"{self.folder / 'm.toml'}:kafka://{self.broker}/{self.feed}"
        words = (self.form, source, f"kafka://{self.broker}/{self.answer}")
        kept = self.folder / "kept"
        return Job((*words, str(kept), self.text), kept / "spark", "tests.spark.topic_job")

    def send(self, messages: int, dice: random.Random) -> None:
        """Corrections of some units each; a unit may go, and come back."""
        producer = client.Producer({"bootstrap.servers": self.broker})
        for n in range(self.sent, self.sent + messages):
            units = "".join(_unit(dice) for _ in range(4))
            message = f'<m at="2024-01-01T{n // 60:02}:{n % 60:02}:00Z">{units}</m>'
            producer.produce(self.feed, message.encode())
            (self.folder / "files" / f"{n:03}.xml").write_text(message)
        assert producer.flush(60) == 0
        self.sent += messages

    def check(self, least: int) -> None:
        """What a reader of the topic has that keeps the last word on each key."""
        kept: dict[str, str | None] = {}
        for key, value in records(self.broker, self.answer):
            kept[key] = value if self.form == "upserts" else _standing(str(value))
        source = f"{self.folder / 'm.toml'}:{self.folder / 'files'}"
        expected = sorted(query(self.text).run(s=source).lines())
        assert sorted(one for one in kept.values() if one is not None) == expected
        assert len(expected) >= least
        assert None in kept.values()


def _unit(dice: random.Random) -> str:
    n = dice.randrange(UNITS)
    gone = ' gone="1"' if dice.random() < 0.1 else ""
    return f'<u id="u{n}" n="{n}"{gone}>{dice.randrange(12)}</u>'


def _standing(value: str) -> str | None:
    change = Change.from_json(value)
    return change.item if change.diff > 0 else None


def test_killed_between_two_topics(broker: str, tmp_path: Path) -> None:
    dice = random.Random(7)
    topics = Topics(broker, tmp_path, "killed-groups", "upserts", GROUPS)
    topics.send(20, dice)
    topics.job.kill(3, 0.3)
    topics.send(20, dice)
    topics.job.finish(hurt=((6, 0.1),))
    topics.check(8)
    assert topics.job.begun() >= 8, "killed too late to show anything"


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["upserts", "changes"])
@pytest.mark.parametrize("name", list(QUERIES))
def test_killed_twenty_times_between_two_topics(
    broker: str, tmp_path: Path, name: str, form: str
) -> None:
    dice = random.Random()
    topics = Topics(broker, tmp_path, f"{name}-{form}", form, QUERIES[name])
    for _ in range(10):
        topics.send(30, dice)
        topics.job.kill(topics.job.begun() + 1, dice.random())
        topics.job.kill_worker(topics.job.begun() + 1, dice.random() * 2, dice)
    topics.job.finish()
    topics.check(5)
