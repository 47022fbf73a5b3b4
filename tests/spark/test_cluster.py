"""On a cluster of two workers the same commands give what they give in one process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spark.feeds import write_feed
from xstreamcast import query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.cluster import Cluster, cluster
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table import Log
from xstreamcast.edges.table.files import read_files

pytestmark = pytest.mark.spark
QUERY = """for $a in stream("credit")//account
where sum($a/limit?[now]) > 4000 return <a no="{$a/@no}">{$a/limit?[now]/text()}</a>"""
# One process, so that executors start once; `ingest` ends Spark, so it comes last.
COMMANDS = "import json, sys; from xstreamcast.cli.main import main\n"
COMMANDS += "sys.exit(max([main(words) for words in json.loads(sys.argv[1])]))"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), 2) as made:
        yield made


def counted(table: Path) -> Counter[tuple[str, int, bytes]]:
    rows = read_files(Log(table).path, list(Log(table).state().files))
    return Counter((row["id"], row["valid"], row["payload"]) for row in rows.to_pylist())


def test_the_same_answers_as_in_one_process(two: Cluster, tmp_path: Path) -> None:
    feed, table = write_feed(tmp_path / "feed", 400), tmp_path / "table"
    ingest(feed, table, stream="credit")
    told, beside, batch = tmp_path / "told", tmp_path / "beside", ("--max-per-batch", "100")
    there, to = ("--master", two.master), ("-o", str(told), *batch)
    commands = [
        ["run", "-q", QUERY, "-i", f"credit=table:{table}", "--runner", "spark", *there],
        ["watch", "-q", QUERY, "-i", f"credit={feed}", "--runner", "spark", *there, *to],
        ["ingest", str(feed), "--table", str(beside), "--stream", "credit", *there, *batch],
    ]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        env=two.environment, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = list(query(QUERY).run(credit=feed).lines())
    assert len(expected) > 10
    assert done.stdout.splitlines() == expected
    changes = [Change.from_json(line) for line in told.read_text().splitlines()]
    assert Accumulated(changes).items() == expected
    assert counted(beside) == counted(table)
    tasks = two.tasks()
    assert len(tasks) == 2, "one of the workers had nothing to do"
    assert min(tasks.values()) > 2, tasks
    assert "TransformWithState" not in done.stderr, "what Spark says to those who work on it"
