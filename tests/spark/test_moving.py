"""The places of a query, moved to another number of partitions between two batches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.feeds import write_feed
from tests.spark.moved import Running
from xstreamcast import query
from xstreamcast.edges.partitions.host import Host, WatchRequest
from xstreamcast.edges.partitions.unit_keys import Inside
from xstreamcast.edges.replay import Offset, Replay, split_rows
from xstreamcast.edges.table.schema import arrow
from xstreamcast.model.change import Accumulated, Change

FILTER = """for $a in stream("credit")//account
where sum($a/limit?[now]) > 4000 return <a no="{$a/@no}">{$a/limit?[now]/text()}</a>"""
GROUPS = """for $a in stream("credit")//account group by $k := string($a/limit?[now])
return <limit of="{$k}" accounts="{count($a)}">{max($a/xs:integer(@no))}</limit>"""
JOIN = """for $a in stream("credit")//account let $k := sum($a/limit?[now]) div 1000
for $b in stream("credit")//account where $b/@no = $k
return <m>{$a/@no, attribute to {$b/@no}}</m>"""
WINDOWS = """for tumbling window $w in stream("credit")//account?[now] start when true()
only end at $i when $i mod 5 = 0 return <five>{sum($w/limit/xs:integer(.))}</five>"""
INSIDE = 'stream("credit")//account//limit'
COUNT = 'count(stream("credit")//limit?[now])'
QUERIES = {
    "filter": FILTER, "groups": GROUPS, "join": JOIN, "windows": WINDOWS, "inside": INSIDE,
    "count": COUNT,
}  # fmt: skip
TAGS, NAMED = {"credit": frozenset({2})}, {"credit": Inside(frozenset({3}), 1)}


def batches(feed: Any, most: int) -> list[Any]:
    replay, start, found = Replay(str(feed), None, 2), Offset(), []
    while (end := replay.advance(start, most)) != start:
        rows = [one for split in replay.plan(start, end) for one in split_rows("credit", split)]
        found.append(arrow().Table.from_batches(rows))
        start = end
    return found


@pytest.mark.parametrize("keyed", [True, False], ids=["direct", "routed"])
@pytest.mark.parametrize("steps", [(2, 3), (3, 1), (1, 2), (2, 1, 4)], ids=str)
@pytest.mark.parametrize("name", QUERIES)
def test_moved_places_go_on_as_if_nothing_had_been(
    tmp_path: Any, name: str, steps: tuple[int, ...], keyed: bool
) -> None:
    feed = write_feed(tmp_path / "feed", 240, keyed=keyed)
    asked = WatchRequest(query(QUERIES[name]).programs, {"credit": "fragments"})
    rows = batches(feed, 30)
    known = (TAGS, NAMED) if keyed else (None, None)
    whole, running = Host(asked, shallow=True), Running(asked, steps[0], *known)
    expected, at = list[Change](), len(rows) // len(steps)
    for number, one in enumerate(rows):
        if number and number % at == 0 and number // at < len(steps):
            running = running.moved(steps[number // at])
        expected += whole.take(one, None)
        running.take(one)
        answer = Accumulated(running.changes).items()
        assert answer == Accumulated(expected).items()
    assert running.partitions == steps[-1]
    assert answer == list(query(QUERIES[name]).run(credit=feed).lines())
    if not running.deep:  # one place has other names: its answer is emitted anew
        assert running.changes == expected
