"""Where nothing comes later than a lateness allows, Spark's places forget removals, too."""

from __future__ import annotations

from pathlib import Path

import pytest

import xstreamcast as xsc
from tests.operators.test_removed import LATE, QUERIES, incidents
from xstreamcast.api import compiled
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.watching.network import Network
from xstreamcast.operators.watching.watch import Watch

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from tests.spark.test_partitions_law import tables
from xstreamcast.edges.partitions.host import Host, WatchRequest

SECOND = 10**6


def removals(watch: Watch | Network | None) -> int:
    """How many removals are kept."""
    assert isinstance(watch, Watch)
    known = watch._feeds["s"]
    assert isinstance(known, ForgettingFeed)
    return int((known.history.fragments["payload"][:] < 0).sum())


def asked(text: str, late: int | None) -> WatchRequest:
    lateness = None if late is None else late * SECOND
    return WatchRequest({"": compiled(text)}, {"s": "fragments"}, lateness=lateness)


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("late", [None, LATE])
def test_both_places_emit_the_answer_and_keep_few_removals(
    text: str, late: int | None, tmp_path: Path
) -> None:
    lines, feed = incidents(1200, 0), tmp_path / "feed.xml"
    feed.write_text("".join(lines))
    batches = tables(["".join(lines[at : at + 7]) for at in range(0, len(lines), 7)])
    there, here = InPartitions(asked(text, late), 3), Host(asked(text, late), shallow=True)
    told = Accumulated()
    for batch in batches:
        changes = there.take(batch)
        assert here.take(batch, None) == changes
        for change in changes:
            told.apply(change)
    assert told.items() == list(xsc.query(text).run(s=feed).lines())
    whole = there.units[0].whole  # units that name their parents are in one place
    kept = [removals(here.watch), removals(whole.watch)]
    assert max(kept) < 120 if late is not None else min(kept) > 220, kept


def test_declared_streams_keep_few_removals() -> None:
    text = """declare stream bad := for $i in stream("s")//incident?[now]
        return <bad n="{$i/@n}"/>; count(stream("bad")/answer/bad)"""
    lines, kept = incidents(1200, 0), list[int]()
    batches = tables(["".join(lines[at : at + 7]) for at in range(0, len(lines), 7)])
    for late in (None, LATE * SECOND):
        here = Host(WatchRequest(xsc.query(text).programs, {"s": "fragments"}, lateness=late))
        for batch in batches:
            here.take(batch, None)
        assert isinstance(here.watch, Network)
        kept.append(removals(here.watch.watches["bad"]))
    assert kept[0] > 220
    assert kept[1] < 120
