"""Containment is judged by instant: what stands in each other at different times is no circle, and
what would stand below itself is left out there, in whatever order fragments arrive.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import xstreamcast as xsc
from tests.history.test_semantics import asked
from tests.oracle import STRATEGIES, answer, canonical
from tests.streams_strategies import Asking
from xstreamcast.edges.structures import write_structure
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.history.history import History
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import FragmentBatch, NewStructure, Refused
from xstreamcast.model.structure import Tag, TagStructure, TagType

pytest.importorskip("saxonche")

TYPES: tuple[TagType, ...] = ("temporal", "temporal", "event", "snapshot")


def structure(a: TagType, b: TagType) -> TagStructure:
    """Elements a and b that may contain each other."""
    tags = {
        0: Tag(0, "", "r", "snapshot", False, (1, 2)),
        1: Tag(1, "", "a", a, True, (1, 2)),
        2: Tag(2, "", "b", b, True, (1, 2)),
    }
    return TagStructure(0, tags)


def stream(told: TagStructure, *lines: str) -> bytes:
    head = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
    written = write_structure(told, None).decode()
    return "\n".join([head, written, *lines, "</stream:fragments>"]).encode()


def said(code: int, day: int, *holes: int) -> str:
    """A fragment: ids that are odd are of tag a, the others of b."""
    tags = [0 if one == 0 else 2 - one % 2 for one in (code, *holes)]
    name = "rab"[tags[0]]
    below = "".join(
        f'<stream:hole id="{hole}" tsid="{tag}"/>'
        for hole, tag in zip(holes, tags[1:], strict=True)
    )
    head = f'id="{code}" tsid="{tags[0]}" validTime="2020-01-0{day}"'
    return f"<stream:filler {head}><{name} k='{code}'>{below}</{name}></stream:filler>"


VERSIONED = structure("temporal", "temporal")
TURNED = [said(0, 1, 1, 2), said(1, 1, 2), said(2, 1), said(1, 5), said(2, 5, 1)]


@pytest.mark.parametrize("order", [TURNED, TURNED[::-1], TURNED[2:] + TURNED[:2]])
def test_one_may_stand_in_another_and_then_the_other_in_it(order: list[str]) -> None:
    wire = stream(VERSIONED, *order)
    assert asked('stream("s")/r/a/b/@vtTo/string()', wire) == ["2020-01-05T00:00:00"]
    assert asked('stream("s")/r/b/a/@vtFrom/string()', wire) == ["2020-01-05T00:00:00"]
    assert asked('for $b in stream("s")/r/a/b return count($b//*)', wire) == ["0"]
    assert asked('stream("s")//*[@k = 1]/@vtFrom/string()', wire)
    assert history(wire).circular == 0


CIRCLE = [said(0, 1, 1), said(1, 1, 2), said(2, 1), said(2, 5, 1)]


@pytest.mark.parametrize("order", [CIRCLE, CIRCLE[::-1], CIRCLE[2:] + CIRCLE[:2]])
def test_what_contains_itself_is_left_out_below_itself_and_counted(order: list[str]) -> None:
    wire = stream(VERSIONED, *order)
    assert asked('stream("s")//*/@k/string()', wire) == ["0", "1", "2", "2"]
    assert asked('for $b in stream("s")/r/a/b return count($b//*)', wire) == ["0", "0"]
    assert history(wire).circular == 2


@pytest.mark.parametrize("bad", [said(1, 2, 1), said(1, 2, 0)])
def test_a_hole_for_the_fragment_itself_or_for_the_root_is_refused_whatever_came(bad: str) -> None:
    for lines in ([bad, *TURNED], [*TURNED, bad]):
        found = Decoder("s").feed(stream(VERSIONED, *lines))
        assert [one.code for one in found if isinstance(one, Refused)] == ["XSCF0007"]


def history(wire: bytes) -> History:
    decoder = Decoder("s")
    made: History | None = None
    for arrival in decoder.feed(wire):
        if isinstance(arrival, NewStructure):
            made = History("s", arrival.structure, ids=decoder.ids)
        elif isinstance(arrival, FragmentBatch):
            assert made is not None
            made.add(arrival)
    assert made is not None
    return made


@st.composite
def circles(draw: DrawFn) -> tuple[str, bytes, bytes]:
    """A query, and fragments that may contain each other, in two orders of arrival."""
    told = structure(draw(st.sampled_from(TYPES)), draw(st.sampled_from(TYPES)))
    lines = {}
    for code in range(5):
        for day in draw(st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True)):
            holes = [one for one in range(1, 5) if one != code and draw(st.integers(0, 2)) == 0]
            lines[code, day] = said(code, day, *holes)
    first, second = (draw(st.permutations(list(lines.values()))) for _ in range(2))
    return Asking(draw, told).query(), stream(told, *first), stream(told, *second)


@given(circles())
def test_we_answer_as_saxon_does_in_every_order_of_arrival(case: tuple[str, bytes, bytes]) -> None:
    query, *wires = case
    expected = answer(query, {"s": wires[0]})
    for wire in wires:
        for strategy in STRATEGIES:
            found = xsc.query(query).run(s=wire, strategy=strategy)
            assert [canonical(one) for one in found.lines()] == expected
        told = Accumulated()
        for change in xsc.query(query).watch(s=wire):
            told.apply(change)
        assert [canonical(one) for one in told.items()] == expected
    for strategy in STRATEGIES[1:]:
        assert answer(query, {"s": wires[1]}, strategy=strategy) == expected
