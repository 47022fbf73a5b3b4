"""Projections that reach planned states, with several partitions: what one place answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.planned_streams import planned
from xstreamcast.api import compiled
from xstreamcast.edges.ahead import Ahead
from xstreamcast.edges.structures import read_structure
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from tests.spark.test_partitions_law import holes, tables
from tests.spark.watched import Left
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.partitions.messages import ArrivedPacks, Whole
from xstreamcast.edges.partitions.packing import Packing
from xstreamcast.edges.partitions.units import UnitPartition
from xstreamcast.spark.watching.steps import step_plan

STRUCTURE = (
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="d" type="temporal">'
    '<tag id="3" name="c" type="event"/></tag></tag>'
)
HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
    f"<stream:structure>{STRUCTURE}</stream:structure>"
    '<stream:filler id="r" tsid="1" validTime="2020-01-01T00:00:00">'
    f"<r>{holes(['d1', 'd2', 'd3'], 2)}</r></stream:filler>"
)
CLOSE = "</stream:fragments>"
REACHING = (
    'stream("s")//d?[now, now + PT3M]',
    'for $d in stream("s")//d return count($d/c?[2020-01-01T00:00:00, now + PT4M])',
    'for $d in stream("s")//d?[now, now + PT5M] group by $k := $d/@k return <g>{$k, count($d)}</g>',
    'for $d in stream("s")//d?[now + PT2M] return <d k="{$d/@k}">{count($d/c)}</d>',
)
QUERIES = (*REACHING, 'for $d in stream("s")//d?[now] return <d>{$d/@k, count($d/c)}</d>')


def state(unit: int, key: str) -> str:
    inside = f'<d k="{key}">{holes([f"c{unit}"], 3)}</d>'
    return f'id="d{unit}" tsid="2">{inside}'


def event(unit: int) -> str:
    return f'id="c{unit}" tsid="3"><c/>'


@given(st.sampled_from(QUERIES), planned(state, event), st.booleans())
def test_the_answer_is_that_of_run_after_each_batch(
    asked: str, wire: list[str], moving: bool
) -> None:
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
    there, answer, come = InPartitions(how, 3, moving=moving), Accumulated(), ""
    pieces = [HEAD, *wire]
    for piece, table in zip(pieces, tables(pieces), strict=False):
        come += piece
        for change in there.take(table):
            answer.apply(change)
        assert answer.items() == list(xsc.query(asked).run(s=(come + CLOSE).encode()).lines())


PLANNED = (
    '<stream:filler id="d1" tsid="2" messageTime="2020-01-01T00:01:00" '
    'validTime="2020-01-01T00:04:00" validTo="2020-01-01T00:06:00"><d k="a"/></stream:filler>'
)


def test_what_reaches_ahead_is_not_partitioned_as_it_is_read() -> None:
    """A partition of its own could not turn to one place when something planned comes."""
    flat = STRUCTURE.replace('<tag id="3" name="c" type="event"/>', "")
    ahead = {"s": Ahead(read_structure(flat.encode()))}

    def spread(asked: str) -> Any:
        plan = step_plan({"": WatchRequest({"": compiled(asked)}, {"s": "fragments"})}, ahead)
        return plan.spread, plan.emits

    assert spread('stream("s")//d?[now]') == ({"": frozenset({"s"})}, True)
    assert spread('stream("s")//d?[now - PT3M, now]') == ({"": frozenset({"s"})}, True)
    assert [spread(one) for one in REACHING] == [(None, False)] * len(REACHING)


def test_updates_that_partitions_emit_are_not_lost_where_one_place_takes_over() -> None:
    how = WatchRequest({"": compiled('stream("s")//d')}, {"s": "fragments"})
    (table, _) = tables([HEAD])
    (pack,) = Packing()(table.to_batches())
    whole = Whole(1, ((ArrivedPacks([("s", pack["rows"][0].as_py())]).blob, None),))
    assert UnitPartition(how, 0, 2, 3).take(whole)
    with pytest.raises(Error, match="the answer is made in another place now"):
        UnitPartition(how, 0, 2, 3, emits=True).take(whole)


@pytest.mark.spark
def test_planned_states_on_spark_in_two_partitions(spark: Any, tmp_path: Path) -> None:
    feed = tmp_path / "plan.xml"
    feed.write_text(HEAD + PLANNED + "\n")
    left = Left(spark, REACHING[0] + "/string(@k)", s=feed, partitions=2, follow=True)
    try:
        assert left.caught_up() == ["a"]
        with feed.open("a") as file:
            file.write('<stream:heartbeat validTime="2020-01-01T00:07:00"/>\n')
        assert left.caught_up() == []
    finally:
        left.running.stop()
    assert [one.diff for one in left.changes] == [1, -1]
