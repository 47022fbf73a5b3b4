"""Fragments that name the units in which they stand: no router, and no wrong answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast.api import compiled
from xstreamcast.edges.ahead import Ahead, name_units
from xstreamcast.edges.structures import read_structure
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from tests.spark.test_partitions_law import HEAD, QUERIES, ROOT, Alone, holes, tables, told
from tests.spark.test_partitions_law import lines as linked
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.partitions.unit_keys import Inside
from xstreamcast.spark.watching.steps import step_plan

TAGS = {"s": frozenset({2})}
INSIDE = {"s": Inside(frozenset({3, 4}), 1)}
DIRECT = [one for one in QUERIES if "/../" not in one]  # the other one is in one partition


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Fragments of units 0 to 3, each of which holds only what names it."""
    unit, number = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    inside = draw(st.lists(st.integers(0, 2), max_size=3, unique=True))
    level = draw(st.sampled_from([1, 2, 2, 3, 3, 3, 4, 4]))
    names = [f"{'rabc'[level % 4]}{unit}{n}" for n in inside]
    value = draw(st.sampled_from(["1", "2", "3", "4", "x"]))
    name, payload = {
        1: ("r", "<r>" + holes([f"a{n}" for n in inside], 2) + "</r>"),
        2: (f"a{unit}", f'<a n="{unit}">{holes(names, 3)}</a>'),
        3: (f"b{unit}{number}", f'<b v="{value}">{holes(names, 4)}</b>'),
        4: (f"c{unit}{number}", f"<c>{value}</c>"),
    }[level]
    time = f'validTime="2003-01-{draw(st.integers(1, 20)):02}T00:00:00Z"'
    if level == 3 or (level == 4 and draw(st.integers(0, 3))):
        time += f' unit="a{unit}"'
    if level > 2 and draw(st.integers(0, 3)) == 0:
        name, parent = f"d{name}", f"a{unit}" if level == 3 else f"b{unit}{number}"
        time += f' in="{parent}"'
    word = draw(st.sampled_from(["filler"] * 6 + ["replace", "repeat", "remove"]))
    if word == "remove":
        return f'<stream:remove id="{name}" tsid="{level}" {time}/>'
    return f'<stream:{word} id="{name}" tsid="{level}" {time}>{payload}</stream:{word}>'


def _pieces(data: st.DataObject, line: st.SearchStrategy[str]) -> list[str]:
    made = data.draw(st.lists(st.lists(line, max_size=10), min_size=2, max_size=7))
    pieces = ["".join(one) for one in made]
    pieces[0] = HEAD + pieces[0]
    pieces[data.draw(st.integers(0, 1))] += ROOT
    return pieces


def _both(asked: str, data: st.DataObject, policy: Any = "optimistic") -> tuple[Any, Any]:
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"}, policy=policy)
    many, moving = data.draw(st.integers(2, 4)), data.draw(st.booleans())
    return InPartitions(how, many, moving, tags=TAGS, inside=INSIDE), Alone(how)


@pytest.mark.parametrize("asked", DIRECT)
@given(data=st.data())
@settings(max_examples=examples(10))
def test_partitions_say_what_one_place_says(asked: str, data: st.DataObject) -> None:
    there, here = _both(asked, data)
    for number, table in enumerate(tables(_pieces(data, lines()))):
        expected = told(here, table)
        assert told(there, table) == expected, number
        if isinstance(expected, str):
            break


@st.composite
def claimed(draw: st.DrawFn) -> str:
    """Fragments that any unit holds, and that name any unit, or none."""
    line = draw(linked())
    unit = draw(st.sampled_from(["", *(f' unit="a{n}"' for n in range(4))]))
    return line if 'tsid="1"' in line else line.replace(" tsid=", f"{unit} tsid=", 1)


@pytest.mark.parametrize("asked", DIRECT[:6])
@given(data=st.data())
@settings(max_examples=examples(20))
def test_keys_that_contradict_links_stop_the_query_before_an_answer_is_wrong(
    asked: str, data: st.DataObject
) -> None:
    there, here = _both(asked, data)
    for number, table in enumerate(tables(_pieces(data, claimed()))):
        expected, found = told(here, table), told(there, table)
        if found == "XSCU0005":
            return
        assert found == expected, number
        if isinstance(expected, str):
            return


def _refused(*pieces: str) -> Error:
    how = WatchRequest({"": compiled('stream("s")//a')}, {"s": "fragments"})
    there = InPartitions(how, 2, moving=True, tags=TAGS, inside=INSIDE)
    *rest, last, _ = tables([HEAD + ROOT, *pieces])
    for table in rest:
        there.take(table)
    with pytest.raises(Error) as why:
        there.take(last)
    return why.value


def _unit(name: str, child: str) -> str:
    return f'<stream:filler id="{name}" tsid="2"><a>{holes([child], 3)}</a></stream:filler>'


def test_what_contradicts_is_named_with_what_to_do() -> None:
    inner = '<stream:filler id="b0" tsid="3" unit="{}"><b v="1"/></stream:filler>'
    for pieces in (
        (_unit("a1", "b0"), inner.format("a0")),
        (inner.format("a1"), inner.format("a0")),
        (_unit("a1", "b0"), _unit("a0", "b0")),
    ):
        why = _refused(*pieces)
        assert why.code == "XSCU0005"
        assert "fragment b0 is declared in unit a1, and in unit a0 too" in why.message
        assert "--partitions 1" in str(why.hint)
        assert "s" in str(why.place)


def test_a_parent_in_another_unit_is_named() -> None:
    attached = '<stream:filler id="d0" tsid="3" unit="a1" in="b0"><b v="1"/></stream:filler>'
    inner = '<stream:filler id="b0" tsid="3" unit="a0"><b v="1"/></stream:filler>'
    for pieces in ((inner, attached), (_unit("a0", "b0"), attached)):
        why = _refused(*pieces)
        assert "fragment b0 is declared in unit a0, and in unit a1 too" in why.message


def test_a_fragment_that_holds_others_must_name_its_unit() -> None:
    keyless = f'<stream:filler id="b0" tsid="3"><b>{holes(["c0"], 4)}</b></stream:filler>'
    why = _refused(_unit("a1", "b0"), keyless)
    assert "does not name its unit" in why.message
    assert why.place is not None


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        ("", False),
        ('<filler id="b0" tsid="3"><b/></filler>', False),
        ('<filler id="b0" tsid="3" unit="a0"><b/></filler>', True),
        (
            '<filler id="b0" tsid="3" unit="a0"><b/></filler>'
            '<filler id="c" tsid="4"><c/></filler>', True,
        ),
        (f'<filler id="b0" tsid="3"><b>{holes(["c"], 4)}</b></filler>'
         '<filler id="c" tsid="4" unit="a"><c/></filler>', False),
    ],
)  # fmt: skip
def test_whether_a_stream_names_its_units_is_seen_from_its_beginning(
    fragments: str, expected: bool
) -> None:
    decoder = Decoder("s")
    arrived = decoder.feed((HEAD + fragments + "</stream:fragments>").encode())
    assert name_units(decoder.structure, arrived) is expected


@pytest.mark.parametrize("asked", QUERIES)
def test_keyed_streams_have_no_router(asked: str) -> None:
    tags = HEAD.partition("<stream:structure>")[2].removesuffix("</stream:structure>")
    structure = read_structure(tags.encode())
    how = {"q": WatchRequest({"": compiled(asked)}, {"s": "fragments"})}
    assert step_plan(how, {"s": Ahead(structure)}).spread is None
    plan = step_plan(how, {"s": Ahead(structure, names_units=True)})
    assert (plan.spread is not None) == (asked in DIRECT)
    assert (plan.tags, plan.inside) == ((TAGS, INSIDE) if asked in DIRECT else ({}, {}))
