"""A query whose units are partitioned says what the local runner says, change by change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpus_format import read_script
from tests.corpus_functions import register
from tests.operators.test_corpus_watched import SCRIPTS, WatchedScript, moments
from xstreamcast.api import compiled
from xstreamcast.operators.watching.inputs import Policy

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from tests.spark.test_watch_corpus import arriving
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.table.schema import row_schema


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    register()


def row_tables(path: Path, policy: Policy) -> list[Any]:
    tables = arriving(read_script(path), policy)
    return [row_schema().empty_table() if one is None else one.drop(["query"]) for one in tables]


@pytest.mark.parametrize("policy", ["optimistic", pytest.param("strict", marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_in_partitions_says_what_it_says_here(path: Path, policy: Policy) -> None:
    script = read_script(path)
    asked = WatchRequest(
        {"": compiled(script.query)}, dict.fromkeys(script.structures, "fragments"), policy=policy
    )
    there = InPartitions(asked, 3, moving=True)
    here = WatchedScript(script, policy, shallow=True)
    first, *tables, last = row_tables(path, policy)
    there.take(first)
    for moment, table in zip(moments(script), tables, strict=True):
        changes = list(here.feed(moment.stream, moment.arrives.encode()))
        assert there.take(table) == changes, moment.line
    assert there.take(last) == here.end()
