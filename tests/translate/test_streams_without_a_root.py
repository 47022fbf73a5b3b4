"""A structure may name the units alone: the translation finds what `run` and `watch` find."""

from __future__ import annotations

import itertools

import pytest

import xstreamcast as xsc
from tests.oracle import STRATEGIES, answer, canonical
from xstreamcast.algebra.translate import Strategy
from xstreamcast.model.change import Accumulated

pytest.importorskip("saxonche")

HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="5" name="boat" type="temporal"><tag id="6" name="berth" type="temporal"/></tag>'
    "</stream:structure>"
)
HOLE = '<stream:hole id="k" tsid="6"/>'


def filler(unit: str, tag: int, day: int, content: str, above: str = "") -> str:
    inside = f' in="{above}"' if above else ""
    head = f'id="{unit}" tsid="{tag}" validTime="2019-07-{day:02}"{inside}'
    return f"<stream:filler {head}>{content}</stream:filler>"


LINES = (
    filler("z", 5, 2, f'<boat n="z">{HOLE}</boat>'), filler("a", 5, 4, '<boat n="a"/>'),
    filler("z", 5, 6, f'<boat n="y">{HOLE}</boat>'), filler("k", 6, 3, "<berth>12</berth>"),
    filler("m", 6, 5, "<berth>7</berth>", "a"),
)  # fmt: skip
QUERIES = (
    'stream("s")/boat', 'stream("s")//berth', 'count(stream("s")/boat?[now])',
    'for $b in stream("s")//boat?[now] return concat($b/@n, " ", $b/berth)',
    'stream("s")//boat#[last]/string(@n)', 'stream("s")/boat/berth?[2019-07-05]/string()',
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_the_units_are_found_in_every_way(query: str) -> None:
    for lines in itertools.islice(itertools.permutations(LINES), 0, None, 29):
        wire = "\n".join([HEAD, *lines, "</stream:fragments>"]).encode()
        found = list(xsc.query(query).run(s=wire).lines())
        assert found
        shown = Accumulated()
        for change in xsc.query(query).watch(s=wire, batch=1):
            shown.apply(change)
        assert shown.items() == found
        assert [answer(query, {"s": wire}, strategy=one) for one in STRATEGIES] == [
            [canonical(line) for line in found]
        ] * 3


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_not_known_yet_is_no_root(strategy: Strategy) -> None:
    wire = "\n".join([HEAD, *LINES, "</stream:fragments>"]).encode()
    query = 'stream("s")/boat/string(@n)'
    found = answer(query, {"s": wire}, as_of="2019-07-03T00:00:00", strategy=strategy)
    assert found == ["z"] == list(xsc.query(query).run(s=wire, as_of="2019-07-03").lines())
