"""A disk that is full: it is said which, and when there is room again nothing is lost or twice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.spark.feeds import write_feed
from xstreamcast import query
from xstreamcast.model.change import Accumulated, Change

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.full_disk import QUERY
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table import Log
from xstreamcast.edges.table.files import read_files

pytestmark = pytest.mark.spark
APART = ["unshare", "--map-root-user", "--mount"]


def can_mount(folder: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(folder)]
    return subprocess.run([*APART, *mount], capture_output=True).returncode == 0


def counted(table: Path) -> Counter[tuple[str, int, bytes]]:
    rows = read_files(Log(table).path, list(Log(table).state().files))
    return Counter((row["id"], row["valid"], row["payload"]) for row in rows.to_pylist())


def test_full_disks(tmp_path: Path) -> None:
    if not can_mount(tmp_path):
        pytest.skip("no file system can be mounted here")
    feed = write_feed(tmp_path / "feed", 400)
    command = [sys.executable, "-m", "tests.spark.full_disk", str(tmp_path)]
    done = subprocess.run(
        [*APART, *command], cwd=Path(__file__).parents[2], env=dict(os.environ),
        capture_output=True, text=True, timeout=580,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    told = {name: (code, said) for name, code, said in map(json.loads, done.stdout.splitlines())}
    for name, where in (("checkpoint", "cp"), ("sink", "sink/told"), ("table", "table")):
        code, said = told[name]
        assert code == 2, told
        assert f"error[XSCU0004]: {tmp_path / where}" in said
        assert "does not fit: no space left on device" in said
        assert "it continues where it stopped" in said
        assert "\tat " not in said
    assert told["watch"][0] == 0, told
    assert told["ingest"][0] == 0, told
    changes = [Change.from_json(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert Accumulated(changes).items() == list(query(QUERY).run(credit=feed).lines())
    ingest(feed, tmp_path / "beside", stream="credit")
    assert counted(tmp_path / "kept") == counted(tmp_path / "beside")
