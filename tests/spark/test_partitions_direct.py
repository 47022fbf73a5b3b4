"""Units that are partitioned as they are read, without a router: what one place says, they say."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast import query
from xstreamcast.api import compiled
from xstreamcast.circuit.inputs.unit_tags import unit_tags
from xstreamcast.edges.ahead import Ahead
from xstreamcast.edges.structures import read_structure
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.update import RankedAnswer

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from tests.spark.test_partitions_law import Alone, holes, tables, told
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.partitions.unit_keys import Inside
from xstreamcast.edges.table.schema import arrow
from xstreamcast.spark.watching.emitted import ranked_updates, update_rows
from xstreamcast.spark.watching.steps import StepPlan, step_plan

STRUCTURE = (
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="temporal">'
    '<tag id="4" name="b" type="snapshot"/></tag><tag id="3" name="e" type="event"/></tag>'
)
HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
    f"<stream:structure>{STRUCTURE}</stream:structure>"
)
TAGS = {"s": frozenset({2, 3})}
NAMES = [f"a{n}" for n in range(4)], [f"e{n}" for n in range(4)]
ROOT = (
    '<stream:filler id="r" tsid="1" validTime="2003-01-01"><r>'
    f"{holes(NAMES[0], 2)}{holes(NAMES[1], 3)}</r></stream:filler>"
)
QUERIES = [
    'for $a in stream("s")//a return <a>{$a/@n, count($a/b)}</a>',
    'for $a in stream("s")//a where $a/b?[now]/@v > 2 return <a>{$a?[now]/@n}</a>',
    'for $e in stream("s")//e?[now - P3D, now] return $e',
    'for $a in stream("s")/r/a return xs:integer($a?[now]/b[1]/@v)',
    'for $a in stream("s")//a group by $n := string($a/b[1]/@v) return <g>{$n, count($a)}</g>',
    'for $e in stream("s")//e, $a in stream("s")//a[@n = $e/@n] return <m>{$a/@n, $e/@v}</m>',
    'for $a in stream("s")//a order by $a/@n descending return <a>{$a/@n}</a>',
    'sum(stream("s")//e/xs:integer(@v)), count(stream("s")//a)',
    'for tumbling window $w in stream("s")//e start when true() '
    "end at $i when $i mod 2 = 0 return <w>{count($w)}</w>",
]


@st.composite
def lines(draw: st.DrawFn, attached: bool = False) -> str:
    number, tsid = draw(st.integers(0, 3)), draw(st.sampled_from([1, 2, 2, 2, 3, 3]))
    time = f'validTime="2003-01-{draw(st.integers(1, 20)):02}T00:00:00Z"'
    word = draw(st.sampled_from(["filler"] * 6 + ["replace", "repeat", "remove"]))
    value = draw(st.sampled_from(["1", "2", "3", "4", "x"]))
    first = draw(st.lists(st.sampled_from(NAMES[0]), max_size=4, unique=True))
    name, payload = {
        1: ("r", f"<r>{holes(first, 2)}{holes(NAMES[1], 3)}</r>"),
        2: (f"a{number}", f'<a n="{number}"><b v="{value}"/></a>'),
        3: (f"e{number}", f'<e n="{number}" v="{value}"/>'),
    }[tsid]
    if attached and tsid > 1 and draw(st.booleans()):
        name, time = name.replace("a", "u").replace("e", "f"), f'in="r" {time}'
    if word == "remove":
        return f'<stream:remove id="{name}" tsid="{tsid}" {time}/>'
    return f'<stream:{word} id="{name}" tsid="{tsid}" {time}>{payload}</stream:{word}>'


@pytest.mark.parametrize("asked", QUERIES)
@given(data=st.data())
@settings(max_examples=examples(10))
def test_partitions_say_what_one_place_says(asked: str, data: st.DataObject) -> None:
    line = lines(attached=data.draw(st.booleans()))
    made = data.draw(st.lists(st.lists(line, max_size=8), min_size=2, max_size=7))
    pieces = ["".join(one) for one in made]
    pieces[0] = HEAD + pieces[0]
    pieces[data.draw(st.integers(0, 1))] += ROOT
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
    many, moving = data.draw(st.integers(2, 4)), data.draw(st.booleans())
    there, here = InPartitions(how, many, moving, tags=TAGS), Alone(how)
    for number, table in enumerate(tables(pieces)):
        expected = told(here, table)
        assert told(there, table) == expected, number
        if isinstance(expected, str):
            break


def test_a_stream_that_is_read_whole_goes_to_all_partitions() -> None:
    asked = 'for $a in stream("s")//a where $a/@n > count(stream("t")//a) return <a>{$a/@n}</a>'
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments", "t": "fragments"})
    there, here = InPartitions(how, 3, moving=True, tags=TAGS), Alone(how)
    units = [
        f'<stream:filler id="a{n}" tsid="2" validTime="2003-01-0{n + 2}">'
        f'<a n="{n}"/></stream:filler>'
        for n in range(4)
    ]
    both = zip(
        tables([HEAD + ROOT + "".join(units), "", ""]),
        tables([HEAD, ROOT + units[0], units[1] + units[2]], "t"),
        strict=True,
    )
    found = []
    for pair in both:
        table = arrow().concat_tables(pair)
        found.append(here.take(table))
        assert there.take(table) == found[-1]
    assert [len(one) for one in found] == [3, 1, 2, 0]


@pytest.mark.parametrize("days", list(permutations([("f0", 19), ("f1", 19), ("f1", 9)])), ids=str)
def test_an_earlier_instant_of_an_attached_event_moves_it(days: list[tuple[str, int]]) -> None:
    events = [
        f'<stream:filler id="{name}" tsid="3" in="r" validTime="2003-01-{day:02}T00:00:00Z">'
        f'<e n="{name}"/></stream:filler>'
        for name, day in days
    ]
    asked, pieces = 'stream("s")//e', [HEAD + ROOT + events[0], *events[1:]]
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
    there, here = InPartitions(how, 2, tags=TAGS), Alone(how)
    spread, alone = list[Change](), list[Change]()
    for table in tables(pieces):
        spread, alone = spread + there.take(table), alone + here.take(table)
    whole = ("".join(pieces) + "</stream:fragments>").encode()
    expected = list(query(asked).run(s=whole).lines())
    assert Accumulated(alone).items() == expected
    assert Accumulated(spread).items() == expected


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("asked", [
    'for $a in stream("s")//a?[now] return <a>{$a/@n, $a/b/@v}</a>',
    'for $a in stream("s")//a?[now] group by $v := string($a/b/@v) return <g>{$v, count($a)}</g>',
    'stream("s")//e?[now - P1D, now], stream("s")//a?[now]/@n',
])  # fmt: skip
def test_attached_units_whose_older_versions_were_dropped(asked: str, moving: bool) -> None:
    dice = random.Random(3)

    def lines(day: int) -> str:
        made = []
        for hour in range(24):
            n, event = dice.randrange(12), dice.random() < 0.3
            name = f"f{day}-{dice.randrange(8)}" if event else f"u{n}"
            at = f'tsid="{3 if event else 2}" in="r" validTime="2003-01-{day:02}T{hour:02}:00:00Z"'
            payload = f'<e n="{n}"/>' if event else f'<a n="{n}"><b v="{dice.randrange(4)}"/></a>'
            made.append(f'<stream:filler id="{name}" {at}>{payload}</stream:filler>')
        return "".join(made)

    pieces = [HEAD + ROOT, *(lines(day) for day in range(2, 16))]
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
    there, here = InPartitions(how, 2, moving, tags=TAGS), Alone(how)
    spread, alone = list[Change](), list[Change]()
    for table in tables(pieces):
        spread, alone = spread + there.take(table), alone + here.take(table)
    whole = ("".join(pieces) + "</stream:fragments>").encode()
    expected = list(query(asked).run(s=whole).lines())
    assert Accumulated(alone).items() == expected
    assert Accumulated(spread).items() == expected
    kept = [len(one.watch._feeds["s"].history) for one in there.units]
    assert sum(kept) < 24 * 14 - 64, "nothing was dropped"


def test_what_was_repeated_or_refused_is_said_once() -> None:
    how = WatchRequest({"": compiled('count(stream("s")//a)')}, {"s": "fragments"})
    unit = '<stream:filler id="a0" tsid="2" validTime="2003-01-02"><a n="1"/></stream:filler>'
    bad = '<stream:filler id="a1" tsid="2" validTime="2003-01-02"><b/></stream:filler>'
    there, here = InPartitions(how, 3, tags=TAGS), Alone(how)
    for table in tables([HEAD + ROOT + unit, ROOT + bad + unit + unit]):
        assert there.take(table) == here.take(table)
    repeated = {what: n for what, n in here.host.said().items() if what != "bytes of state"}
    assert repeated == {"s: repeated": 3}
    assert {what: n for what, n in there.last.said.items() if what in repeated} == repeated
    assert [one.fragment for one in here.host.refused] == ["a1"]
    assert there.last.refused == here.host.refused


def test_the_wall_clock_is_the_same_in_all_partitions() -> None:
    asked = 'for $a in stream("s")//a?[now - P2D, now] return <a>{$a/@n}</a>'
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"}, wall=True)
    units = [
        f'<stream:filler id="a{n}" tsid="2" validTime="2003-01-0{n + 2}T00:00:00Z">'
        f'<a n="{n}"/></stream:filler>'
        f'<stream:remove id="a{n}" tsid="2" validTime="2003-01-0{n + 4}T00:00:00Z"/>'
        for n in range(4)
    ]
    there, here = InPartitions(how, 3, moving=True, tags=TAGS), Alone(how)
    changed = 0
    for day, table in enumerate(tables([HEAD + ROOT, "".join(units), *[""] * 9]), start=2):
        now = 1041379200_000000 + day * 86400_000000
        expected = here.host.take(table, now)
        assert there.take(table, now) == expected
        changed += bool(expected)
    assert changed > 2


def test_a_unit_that_holds_others_against_its_structure_is_an_error() -> None:
    how = WatchRequest({"": compiled('stream("s")//a')}, {"s": "fragments"})
    there = InPartitions(how, 2, tags=TAGS)
    unit = '<stream:filler id="a0" tsid="2"><a><stream:hole id="e1" tsid="3"/></a></stream:filler>'
    first, _ = tables([HEAD + ROOT + unit])
    with pytest.raises(Error, match="by the tag structure it holds none"):
        there.take(first)


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        (STRUCTURE, ({2, 3}, set())),
        (STRUCTURE.replace('"b" type="snapshot"', '"b" type="temporal"'), ({2, 3}, {4})),
        ('<tag id="1" name="r" type="snapshot"/>', (set(), set())),
        (
            '<tag id="1" name="r" type="snapshot"><tag id="2" name="x" type="snapshot">'
            '<tag id="3" name="a" type="event"/></tag></tag>',
            ({3}, set()),
        ),
        (
            '<tag id="1" name="r" type="snapshot"><tag id="2" name="part" type="temporal">'
            '<tag ref="2"/><tag id="3" name="a" type="event"/></tag></tag>',
            (set(), {2, 3}),
        ),
    ],
)
def test_tags_of_units(structure: str, expected: tuple[set[int], set[int]]) -> None:
    found = unit_tags(read_structure(structure.encode()))
    assert found is not None
    assert (set(found.own), set(found.inside)) == expected


def test_a_router_stays_where_fragments_do_not_say_their_unit() -> None:
    flat = read_structure(STRUCTURE.encode())
    deep = read_structure(STRUCTURE.replace('"b" type="snapshot"', '"b" type="event"').encode())
    how = {"q": WatchRequest({"": compiled('stream("s")//a')}, {"s": "fragments"})}
    direct = step_plan(how, {"s": Ahead(flat)})
    assert direct == StepPlan(2, TAGS, {"q": frozenset({"s"})}, emits=True)
    assert StepPlan.of(direct.json()) == direct
    assert step_plan(how, {"s": Ahead(deep)}).spread is None
    keyed = step_plan(how, {"s": Ahead(deep, names_units=True)})
    assert keyed.spread is not None
    assert keyed.inside == {"s": Inside(frozenset({4}), 1)}
    assert StepPlan.of(keyed.json()) == keyed
    assert step_plan(how, {"s": Ahead()}) == StepPlan(3)
    late = {"q": WatchRequest({"": compiled('stream("s")//a')}, {"s": "fragments"}, lateness=1)}
    assert step_plan(late, {"s": Ahead(flat)}).spread is None
    assert StepPlan.of("4\n") == StepPlan(4)


class Table:
    """What a sink has that keeps the greatest version of each key."""

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}

    def take(self, rows: Any) -> None:
        for row in rows.to_dict("records"):
            if row["version"] > self.rows.get(row["key"], {"version": -1})["version"]:
                self.rows[row["key"]] = row

    def answer(self) -> list[str]:
        live = [row for row in self.rows.values() if not row["deleted"]]
        return [row["item"] for row in sorted(live, key=lambda row: bytes(row["rank"]))]


@pytest.mark.parametrize("asked", [one for one in QUERIES if "xs:integer($a" not in one])
@given(data=st.data())
@settings(max_examples=examples(10))
def test_updates_of_partitions_come_to_the_answer(asked: str, data: st.DataObject) -> None:
    line = lines(attached=data.draw(st.booleans())).filter(lambda one: 'v="x"' not in one)
    made = data.draw(st.lists(st.lists(line, max_size=8), min_size=2, max_size=6))
    pieces = ["".join(one) for one in made]
    pieces[0] = HEAD + ROOT + pieces[0]
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
    plan = step_plan({"": how}, {"s": Ahead(read_structure(STRUCTURE.encode()))})
    many, moving = data.draw(st.integers(2, 4)), data.draw(st.booleans())
    there = InPartitions(how, many, moving, tags=TAGS, emits=plan.emits)
    here, answer, table, ranked = Alone(how), Accumulated(), Table(), RankedAnswer()
    for rows in tables(pieces):
        for change in here.take(rows):
            answer.apply(change)
        changes = there.take(rows)
        updates, there.updates = there.updates, []
        if not plan.emits:  # one place puts items in order anyway
            updates = ranked_updates(ranked, changes)
        table.take(update_rows("", updates))
        assert table.answer() == answer.items()


def test_items_are_emitted_where_they_are_made_unless_all_rows_are_sorted() -> None:
    structures = {"s": Ahead(read_structure(STRUCTURE.encode()))}

    def emits(asked: str) -> bool:
        how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
        return step_plan({"": how}, structures).emits

    assert [emits(one) for one in QUERIES] == [*[True] * 6, *[False] * 3]


def test_rows_that_did_not_change_are_not_emitted_again() -> None:
    how = WatchRequest({"": compiled('stream("s")//a/@n/string()')}, {"s": "fragments"})
    there = InPartitions(how, 2, tags=TAGS, emits=True)
    unit = '<stream:filler id="a0" tsid="2" validTime="2003-01-0{}"><a n="1">{}</a></stream:filler>'
    first, second, third, _ = tables(
        [HEAD + ROOT + unit.format(2, "<b/>"), unit.format(2, ""), unit.format(2, "<b/><b/>")]
    )
    for rows, expected in ((first, 1), (second, 0), (third, 0)):
        there.take(rows)
        assert len(there.updates) == expected
        there.updates = []
