"""Which instant is now: of several streams, of a silent one, of streams that queries declare."""

from __future__ import annotations

from typing import Any

import pytest

import xstreamcast as xsc
from tests.oracle import STRATEGIES, answer
from xstreamcast.model.change import Accumulated

HEAD = '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
TAGS = (
    '<tag id="1" name="yard" type="snapshot"><tag id="2" name="crane" type="temporal"/></tag>'
    "</stream:structure>"
)
EMPTY = HEAD + TAGS
NOW = '<n>{ now - PT0S, count(stream("s")//crane), count(stream("t")//crane) }</n>'


def crane(unit: str, text: str, times: str) -> str:
    head = f'id="{unit}" tsid="2" in="0" {times}'
    return f"<stream:filler {head}><crane>{text}</crane></stream:filler>"


def wire(*lines: str, root: str = "2021-05-06T07:00:00") -> bytes:
    top = f'<stream:filler id="0" tsid="1" validTime="{root}"><yard/></stream:filler>'
    return "\n".join([EMPTY, top, *lines, "</stream:fragments>"]).encode()


FULL = wire(
    crane("k", "up", 'validTime="2021-05-06T08:00:00"'),
    crane("m", "down", 'validTime="2021-05-06T20:00:00" messageTime="2021-05-06T09:00:00"'),
)
BEATS = (EMPTY + '<stream:heartbeat validTime="2021-05-07T00:00:00"/></stream:fragments>').encode()
SILENT = (EMPTY + "</stream:fragments>").encode()
DECLARED = """declare stream near := for $c in stream("s")//crane?[now, now + PT12H]
    return <c at="{ string(now - PT0S) }">{ $c/string() }</c>;
stream("near")//c ! concat(@at, " ", .), string(now - PT0S)"""


def watched(query: str, size: int, **wires: Any) -> list[str]:
    shown = Accumulated()
    for change in xsc.query(query).watch(**wires, batch=size):
        shown.apply(change)
    return shown.items()


@pytest.mark.parametrize(("other", "expected"), [
    (BEATS, "<n>2021-05-07T00:00:00 2 0</n>"), (SILENT, "<n>2021-05-06T09:00:00 1 0</n>"),
])  # fmt: skip
def test_heartbeats_alone_move_the_clock_of_all_streams(other: bytes, expected: str) -> None:
    assert list(xsc.query(NOW).run(s=FULL, t=other).lines()) == [expected]
    assert [watched(NOW, size, s=FULL, t=other) for size in (1, 2, 9)] == [[expected]] * 3
    pytest.importorskip("saxonche")
    for strategy in STRATEGIES:
        assert answer(NOW, {"s": FULL, "t": other}, strategy=strategy) == [expected]


def test_before_anything_arrives_the_clock_is_at_its_beginning() -> None:
    query = 'string(now - PT0S), count(stream("s")//crane)'
    assert list(xsc.query(query).run(s=SILENT).lines()) == ["1970-01-01T00:00:00", "0"]
    assert watched(query, 1, s=SILENT) == ["1970-01-01T00:00:00", "0"]
    pytest.importorskip("saxonche")
    assert answer(query, {"s": SILENT}) == ["1970-01-01T00:00:00", "0"]


def test_a_declared_stream_sees_what_is_planned() -> None:
    at = "2021-05-06T09:00:00"
    expected = [f"{at} up", f"{at} down", at]
    assert list(xsc.query(DECLARED).run(s=FULL).lines()) == expected
    assert watched(DECLARED, 1, s=FULL) == expected


def test_a_declared_stream_has_the_clock_that_is_given() -> None:
    at = "2021-05-06T08:30:00"
    both, first = [f"{at} up", f"{at} down", at], [f"{at} up", at]
    assert list(xsc.query(DECLARED).run(s=FULL, clock=at).lines()) == both
    assert list(xsc.query(DECLARED).run(s=FULL, as_of=at).lines()) == first
