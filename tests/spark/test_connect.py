"""As a client of Spark Connect: what works there, and what is refused plainly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spark.feeds import write_feed
from xstreamcast import query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")
pytest.importorskip("grpc", reason="what Spark Connect needs is not installed: pyspark[connect]")
pytest.importorskip("grpc_status", reason="what Spark Connect needs is not installed")

from tests.spark.cluster import HERE, PATIENCE, end, free_port, listens, spark_process
from tests.spark.killing import ends_within
from xstreamcast.edges.ingesting import ingest

pytestmark = pytest.mark.spark
QUERY = 'stream("credit")//account[limit?[now] > 4000]/@no'
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
# A process that has been a driver cannot become a client.
CLIENT = """
import json, sys
from xstreamcast import query
from xstreamcast.cli.main import main
from xstreamcast.spark.session import session
master, commands, (text, feed, out) = map(json.loads, sys.argv[1:])
codes = [main(words) for words in commands]
changes = query(text).spark(session(master)).watch(credit=feed)
writing = changes.writeStream.format("json").option("path", out + "/told")
writing = writing.option("checkpointLocation", out + "/cp").trigger(availableNow=True).start()
writing.awaitTermination()
print(json.dumps(codes))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("connect"), free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": HERE,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.streaming.stateStore.providerClass": _STORE,
    }
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    words += ["--master", "local[2]", "--class", _SERVER, "spark-internal"]
    memory = {"SPARK_DAEMON_MEMORY": "1g"}
    process = spark_process("org.apache.spark.deploy.SparkSubmit", folder, *words, more=memory)
    try:
        until = time.monotonic() + PATIENCE
        while not listens(port):
            assert not ends_within(process, 0.2), "the server has ended"
            assert time.monotonic() < until, "the server does not listen"
        yield f"sc://{HERE}:{port}"
    finally:
        end(process)


def test_a_client(server: str, tmp_path: Path) -> None:
    feed, table = write_feed(tmp_path / "feed", 120), tmp_path / "table"
    ingest(feed, table, stream="credit")
    there = ["--master", server]
    commands = [
        ["run", "-q", QUERY, "-i", f"credit=table:{table}", "--runner", "spark", *there],
        ["ingest", str(feed), "--table", str(tmp_path / "t2"), "--stream", "credit", *there],
        ["watch", "-q", QUERY, "-i", f"credit={feed}", "--runner", "spark", *there],
    ]
    words = [json.dumps(one) for one in (server, commands, [QUERY, str(feed), str(tmp_path)])]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CLIENT, *words],
        env=dict(os.environ), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *answer, codes = done.stdout.splitlines()
    expected = list(query(QUERY).run(credit=feed).lines())
    assert answer == expected
    assert json.loads(codes) == [0, 2, 2]
    assert done.stderr.count("error[XSCU0001]") == 2, done.stderr
    assert "\tat " not in done.stderr
    rows = [
        json.loads(line)
        for path in (tmp_path / "told").glob("*.json")
        for line in path.read_text().splitlines()
    ]
    rows.sort(key=lambda row: row["nth"])
    changes = [Change(0, r["diff"], r["key"], r.get("after"), r["item"]) for r in rows]
    assert Accumulated(changes).items() == expected
