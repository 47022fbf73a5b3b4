"""A query over a table that reads some of its tags answers as one that reads all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.corpus_format import read_script
from tests.spark.feeds import write_feed

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.batch.units import UnitsTask
from xstreamcast.edges.binding import Options
from xstreamcast.edges.ingesting import ingest
from xstreamcast.spark.running.spark_run import SparkRun

FILES = sorted((Path(__file__).parents[1] / "corpus").glob("*.stream"))


@pytest.mark.parametrize("strategy", ["qac+", "auto"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_corpus_asked_of_tables_twice(path: Path, strategy: str, tmp_path: Path) -> None:
    script = read_script(path)
    if script.definitions:
        pytest.skip("defines functions of its own")
    table, query = tmp_path / "table", xsc.query(script.query)
    inputs: dict[str, Any] = {}
    for name, wire in script.wire(len(script.moments) - 1).items():
        (tmp_path / f"{name}.xml").write_bytes(wire)
        ingest(tmp_path / f"{name}.xml", table, stream=name)
        inputs[name] = f"table:{table}"
    wires: dict[str, Any] = dict(script.wire(len(script.moments) - 1))
    direct = list(query.run(strategy=strategy, **wires).lines())
    for _ in range(2):  # the second time what was found the first time is kept
        assert list(query.run(strategy=strategy, **inputs).lines()) == direct


def test_only_the_tags_that_are_needed_are_read(tmp_path: Path) -> None:
    feed, table = write_feed(tmp_path / "feed", 40), tmp_path / "table"
    ingest(feed, table, stream="credit")
    query = xsc.query('count(stream("credit")//account)')
    answers = [query.run(credit=f"table:{table}") for _ in range(2)]
    assert [list(answer) for answer in answers] == [[10], [10]]
    assert [answer.loaded[0].read for answer in answers] == [11, 11]
    (feed / "003.xml").write_text('<filler id="l1" tsid="3"><limit>1</limit></filler>\n')
    ingest(feed, table, stream="credit")
    assert query.run(credit=f"table:{table}").loaded[0].read == 11


def test_superseded_versions_are_not_read_where_only_now_is_asked(tmp_path: Path) -> None:
    ingest(write_feed(tmp_path / "feed", 40), tmp_path / "table", stream="credit")
    inputs: dict[str, Any] = {"credit": Path(f"table:{tmp_path / 'table'}")}
    read = {}
    for text in ('sum(stream("credit")//limit?[now])', 'sum(stream("credit")//limit)'):
        run = SparkRun(None, xsc.query(text).telling(""), None, inputs, Options(), tasks=2)
        made = run.work()
        assert isinstance(made.task, UnitsTask)
        picked = [made.task.picked(place) for place in range(made.tasks)]
        read[text] = sum(len(one) for some in picked for one in some)
        now = "as they are now alone: account, limit"
        assert (now in made.words) == ("now" in text)
    accounts, now_alone, all_versions = 10, 10, 30
    assert list(read.values()) == [accounts + now_alone, accounts + all_versions]
