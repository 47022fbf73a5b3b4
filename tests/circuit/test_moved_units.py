"""A root that is sent again with its holes in another order: paths are in document order again."""

from __future__ import annotations

import pytest

from tests.circuit.grammar import HEAD, STRUCTURE
from tests.operators.watched import Watched

U = 'stream("s")/r/u'
QUERIES = (
    f"(for $u in {U} order by $u/v return $u)/k/string()",
    f"(for $u in {U} order by $u/v return $u)[position() <= 2]/k/string()",
    f"sort({U}, (), function($u) {{ -number($u/v) }})/k",
    f"<all>{{ reverse({U})/k }}</all>",
    f"for $u in {U} group by $v := $u/v > 1 order by $v return <g>{{ $u/k }}</g>",
    f"({U}[v = 2], {U}[v < 3])/k/string()",
)


def _root(minute: int, *order: int) -> bytes:
    holes = "".join(f'<stream:hole id="{one}" tsid="2"/>' for one in order)
    head = f'id="0" tsid="1" validTime="2020-01-01T00:0{minute}:00"'
    return f"<stream:filler {head}><r>{holes}</r></stream:filler>".encode()


def _unit(one: int) -> bytes:
    head = f'id="{one}" tsid="2" validTime="2020-01-01T00:00:00"'
    return f"<stream:filler {head}><u><k>k{one}</k><v>{one}</v></u></stream:filler>".encode()


@pytest.mark.parametrize("query", QUERIES)
def test_paths_follow_the_new_order(query):
    structure = STRUCTURE.replace(
        'name="u" type="temporal"', 'name="u" type="snapshot" filler="true"'
    )
    beside = Watched(query, {"s": "fragments"})
    beside.feed("s", (HEAD + structure).encode(), tick=False)
    for chunk in (_root(0, 1, 2, 3), *map(_unit, (1, 2, 3)), _root(1, 3, 1, 2), _root(2, 2, 3)):
        beside.feed("s", chunk)
        assert beside.told.items() == beside.afresh()
