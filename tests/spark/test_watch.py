"""Queries left running on Spark by the Python API: sources, policies, clocks, functions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, fragments, write_feed
from xstreamcast import Error, function, query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

pytestmark = pytest.mark.spark
BIG = """for $a in stream("credit")//account
where $a/limit?[now] > 5000 return <a>{$a/@no, $a/limit?[now]/text()}</a>"""


def told(spark: Any, text: str, **given: Any) -> list[Change]:
    """All changes of a query that is read to its end."""
    found: list[Change] = []
    running = (
        query(text)
        .spark(spark)
        .start(lambda _, changes: found.extend(one for _, one in changes), **given)
    )
    assert running.awaitTermination(300)
    assert not running.isActive
    assert running.lastProgress["batchId"] >= 1
    return found


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
def test_a_feed_in_batches_adds_up_to_what_run_says(
    spark: Any, tmp_path: Path, policy: str
) -> None:
    feed = write_feed(tmp_path / "feed", 200)
    changes = told(spark, BIG, credit=feed, max_per_batch=70, policy=policy)
    assert Accumulated(changes).items() == list(query(BIG).run(credit=feed).lines())
    assert changes


def test_streams_and_documents_join_with_functions_of_users(spark: Any, tmp_path: Path) -> None:
    @function("loudly($a as xs:string) as xs:string")
    def loudly(text: str) -> str:
        return text.upper() + "!"

    feed, names = write_feed(tmp_path / "feed", 80), tmp_path / "names.xml"
    names.write_text("<names>" + "".join(f'<n no="{i}">n{i}</n>' for i in range(20)) + "</names>")
    asked = """for $n in stream("names")//n, $a in stream("credit")//account[@no = $n/@no]
    where $a/limit?[now] > 3000 return <a name="{loudly($n)}">{$a/limit?[now]/text()}</a>"""
    changes = told(spark, asked, credit=feed, names=names, max_per_batch=50)
    expected = list(query(asked).run(credit=feed, names=names).lines())
    assert Accumulated(changes).items() == expected
    assert expected
    assert all(re.match(r'<a name="N\d+!">', item) for item in expected)


def test_what_fails_is_an_error_with_its_code(spark: Any, tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", 40)
    with pytest.raises(Error, match="FORG0001"):
        told(spark, 'stream("credit")//account/xs:integer(concat("x", @no))', credit=feed)


def test_refused_fragments_are_counted(spark: Any, tmp_path: Path) -> None:
    feed = tmp_path / "credit.xml"
    bad = '<stream:filler id="1" tsid="3" validTime="tomorrow"><limit>1</limit></stream:filler>'
    feed.write_text(f"{HEAD}{STRUCTURE}{bad}</stream:fragments>")
    running = query(BIG).spark(spark).start(lambda _, changes: None, credit=feed)
    assert running.awaitTermination(300)
    assert [one.code for one in running.totals.refused] == ["XSCF0006"]


def test_a_streaming_data_frame_of_changes(spark: Any, tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", 80)
    frame = query(BIG).spark(spark).watch(credit=feed)
    assert frame.isStreaming
    writer = frame.writeStream.format("memory").queryName("told_changes")
    asked = writer.trigger(availableNow=True).start()
    assert asked.awaitTermination(300)
    rows = spark.sql("select * from told_changes").collect()
    changes = [Change(row.time, row.diff, row.key, row.after, row["item"]) for row in rows]
    assert Accumulated(changes).items() == list(query(BIG).run(credit=feed).lines())
    arrived = [one["observedMetrics"]["arrived"]["fragments"] or 0 for one in asked.recentProgress]
    assert sum(arrived) == len(fragments(80))


def test_answers_change_when_only_the_wall_clock_does(spark: Any, tmp_path: Path) -> None:
    feed, found = tmp_path / "plan.xml", list[int]()
    start = datetime.now(UTC).replace(microsecond=0)
    planned = "".join(
        f'<stream:filler id="1" tsid="2" validTime="{(start - timedelta(seconds=n)).isoformat()}">'
        f"<e>{n}</e></stream:filler>"
        for n in range(150)
    )
    feed.write_text(
        f'{HEAD}<stream:structure><tag id="1" name="plan"><tag id="2" name="e" type="event"/></tag>'
        f'</stream:structure><stream:filler id="0" tsid="1" validTime="2003-01-01Z"><plan>'
        f'<stream:hole id="1" tsid="2"/></plan></stream:filler>{planned}'
    )
    running = query('count(stream("plan")//e?[now - PT2M, now])').spark(spark).start(
        lambda _, changes: found.extend(int(one.item) for _, one in changes if one.diff > 0),
        plan=feed, clock="wall", follow=True,
    )  # fmt: skip
    for _ in range(600):
        if len(found) > 3 or running.awaitTermination(0.5):
            break
    running.stop()
    assert len(found) > 3
    assert found == sorted(set(found), reverse=True)
