"""The scripts of the corpus on Spark, all in one streaming query: what the local runner says."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.corpus_format import Script, read_script
from tests.corpus_functions import register
from tests.operators.test_corpus_watched import SCRIPTS, WatchedScript, moments
from tests.oracle import canonical
from xstreamcast.api import compiled
from xstreamcast.edges.decoding import decoder_of
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.fragment import Ended
from xstreamcast.operators.watching.inputs import Policy
from xstreamcast.tape.names import Names

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import arrow
from xstreamcast.spark.watching.sink import BatchTotals, once_each

pytestmark = pytest.mark.spark
THOROUGH = os.environ.get("XSC_PROFILE") == "thorough"
Steps = dict[str, dict[int, list[Change]]]
STRICT = SCRIPTS if THOROUGH else SCRIPTS[::4]
ASKED: list[tuple[Path, Policy]] = [
    *((path, "optimistic") for path in SCRIPTS),
    *((path, "strict") for path in STRICT),
]


SPREAD = ASKED if THOROUGH else ASKED[1::6]  # all of them are spread in test_partitions.py


def name_of(path: Path, policy: str) -> str:
    return f"{path.parent.name}/{path.stem}/{policy}"


def arriving(script: Script, policy: str) -> list[Any]:
    """The rows of each moment, as a source of Spark gives them; the last say that all is over."""
    decoders = {
        name: decoder_of("fragments" if told else "updates", name, Names(), "stop")
        for name, told in script.structures.items()
    }
    rows = {name: RowEncoder(name, one.ids) for name, one in decoders.items()}
    steps: list[list[Any]] = [[]]
    for name, decoder in decoders.items():
        steps[0] += map(rows[name].rows, decoder.feed(script.beginning(name)))
    for moment in moments(script):
        found = decoders[moment.stream].feed(moment.arrives.encode())
        steps.append([rows[moment.stream].rows(one) for one in found])
    steps.append([])
    for name, decoder in decoders.items():
        steps[-1] += map(rows[name].rows, [*decoder.close(), Ended()])
    pa, query = arrow(), name_of(script.path, policy)
    tables = [pa.Table.from_batches(one) if one else None for one in steps]
    return [
        None if one is None else one.append_column("query", pa.array([query] * len(one)))
        for one in tables
    ]


def write_steps(folder: Path, scripts: list[tuple[Path, Policy]]) -> None:
    """A file for each step, with that of all scripts."""
    pa = arrow()
    steps: dict[int, list[Any]] = defaultdict(list)
    for path, policy in scripts:
        for at, table in enumerate(arriving(read_script(path), policy)):
            steps[at] += [] if table is None else [table]
    for at, tables in steps.items():
        file = folder / f"{at:03}.parquet"
        pa.parquet.write_table(pa.concat_tables(tables), file)
        os.utime(file, (1000 + at, 1000 + at))  # files are taken in by age


@pytest.fixture(scope="module")
def told(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Steps:
    """The changes of each script and step, in one place."""
    return watched(spark, tmp_path_factory.mktemp("corpus"), ASKED, 1)


@pytest.fixture(scope="module")
def told_in_partitions(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Steps:
    """The changes of some scripts, in three partitions."""
    return watched(spark, tmp_path_factory.mktemp("partitions"), SPREAD, 3)


def watched(spark: Any, folder: Path, scripts: list[tuple[Path, Policy]], partitions: int) -> Steps:
    """All scripts in one streaming query."""
    from xstreamcast.spark.source import ROWS
    from xstreamcast.spark.watching.changes import changes_of
    from xstreamcast.spark.watching.state import Keeping

    register()
    (folder / "steps").mkdir()
    write_steps(folder / "steps", scripts)
    asked = {
        name_of(path, policy): WatchRequest(
            {"": compiled((script := read_script(path)).query)},
            dict.fromkeys(script.structures, "fragments"),
            policy=policy,
        )
        for path, policy in scripts
    }
    found: Steps = {name: defaultdict(list) for name in asked}

    def write(epoch: int, changes: list[tuple[str, Change]]) -> None:
        for query, change in changes:
            found[query][epoch].append(change)

    reader = spark.readStream.schema(f"{ROWS}, query string").option("maxFilesPerTrigger", 1)
    rows = reader.parquet(str(folder / "steps"))
    done = BatchTotals()
    # nothing is kept between batches but what the store has: a log, and snapshots from time to time
    keeping = Keeping(least=4000, in_worker=False)
    changes = changes_of(
        rows, asked, raises=False, everything=True, keeping=keeping, partitions=partitions
    )
    query = changes.writeStream.foreachBatch(once_each(write, done)).option(
        "checkpointLocation", str(folder / "checkpoint")
    )
    query.trigger(availableNow=True).start().awaitTermination()
    assert done.batches == len(list((folder / "steps").iterdir()))
    return found


@pytest.mark.parametrize(("path", "policy"), ASKED, ids=lambda one: getattr(one, "stem", one))
def test_a_script_on_spark_says_what_it_says_here(told: Any, path: Path, policy: Policy) -> None:
    says_the_same(path, policy, told[name_of(path, policy)])


@pytest.mark.parametrize(("path", "policy"), SPREAD, ids=lambda one: getattr(one, "stem", one))
def test_a_script_in_partitions_says_what_it_says_here(
    told_in_partitions: Any, path: Path, policy: Policy
) -> None:
    says_the_same(path, policy, told_in_partitions[name_of(path, policy)], shallow=True)


def says_the_same(
    path: Path, policy: Policy, found: dict[int, list[Change]], shallow: bool = False
) -> None:
    script = read_script(path)
    here, there = WatchedScript(script, policy, shallow), Accumulated(found[0])
    assert here.told.items() == there.items()
    for at, moment in enumerate(moments(script), start=1):
        changes = list(here.feed(moment.stream, moment.arrives.encode()))
        assert found[at] == changes, moment.line
        for change in found[at]:
            there.apply(change)
        if moment.expected is not None and policy == "optimistic":
            assert list(map(canonical, there.items())) == list(map(canonical, moment.expected))
    here.end()
    for change in found[len(moments(script)) + 1]:
        there.apply(change)
    assert there.items() == here.told.items()
