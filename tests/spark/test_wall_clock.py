"""Under a wall clock nothing that arrives moves now: each tick gives what `run` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.planned_streams import planned
from xstreamcast.api import compiled
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.instant import parse_instant

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from tests.spark.test_partitions_law import holes, tables
from tests.spark.test_partitions_planned import CLOSE, HEAD, event, state
from xstreamcast.edges.partitions.host import Host, WatchRequest

QUERIES = (
    'stream("s")//d?[now]', 'for $d in stream("s")//d return vtTo($d)', 'count(stream("s")//c)',
    'for $d in stream("s")//d where vtTo($d) = now return $d/@k/string()',
    'stream("s")//d?[now, now + PT3M]', 'stream("s")//d?[now - PT2M, now]/@k/string()',
    'for $d in stream("s")//d group by $k := string($d/@k) order by $k return count($d/c)',
)  # fmt: skip
MINUTES = st.lists(st.integers(0, 11), min_size=1, max_size=8).map(sorted)
Take = Callable[[Any, int], list[Change]]


def in_one_place(how: WatchRequest) -> Take:
    return Host(how).take


def in_partitions(how: WatchRequest) -> Take:
    return InPartitions(how, 2).take


@settings(deadline=None)
@given(st.sampled_from(QUERIES), planned(state, event), MINUTES, st.booleans())
def test_the_answer_is_that_of_run_at_each_instant_of_the_wall(
    asked: str, wire: list[str], minutes: list[int], spread: bool
) -> None:
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"}, wall=True)
    take = (in_partitions if spread else in_one_place)(how)
    answer, come = Accumulated(), ""
    pieces = [HEAD, *wire]
    for number, (piece, table) in enumerate(zip(pieces, tables(pieces), strict=False)):
        come += piece
        now = f"2020-01-01T00:{minutes[min(number, len(minutes) - 1)]:02}:00Z"
        (instant, _) = parse_instant(now) or (0, False)
        for change in take(table, instant):
            answer.apply(change)
        once = xsc.query(asked).run(s=(come + CLOSE).encode(), clock=now)
        assert answer.items() == list(once.lines()), (now, come)


def test_a_removal_in_the_future_is_no_end_yet() -> None:
    asked = 'for $d in stream("s")//d return string(vtTo($d))'
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"}, wall=True)
    inside = f'<d k="a">{holes([], 3)}</d>'
    begin = (
        f'<stream:filler id="d1" tsid="2" validTime="2020-01-01T00:01:00">{inside}</stream:filler>'
    )
    end = '<stream:remove id="d1" tsid="2" validTime="2020-01-01T00:09:00"/>'
    for take in (in_one_place(how), in_partitions(how)):
        answer, shown = Accumulated(), []
        for table, minute in zip(tables([HEAD, begin + end, "", ""]), (3, 4, 5, 9), strict=False):
            (instant, _) = parse_instant(f"2020-01-01T00:{minute:02}:00Z") or (0, False)
            for change in take(table, instant):
                answer.apply(change)
            shown.append(answer.items())
        ends = [[], *([f"2020-01-01T00:{at}:00Z"] for at in ("04", "05"))]
        assert shown == [*ends, ["2020-01-01T00:09:00"]]
