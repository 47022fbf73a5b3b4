"""Whatever comes in whatever order: partitions tell the changes that one place tells."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast.api import compiled
from xstreamcast.edges.decoding import decoder_of
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import Ended
from xstreamcast.tape.names import Names

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from tests.spark.in_partitions import InPartitions
from xstreamcast.edges.partitions.host import Host, WatchRequest
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import arrow, row_schema
from xstreamcast.errors import Error

HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="temporal">'
    '<tag id="3" name="b" type="temporal"><tag id="4" name="c" type="event"/></tag></tag></tag>'
    "</stream:structure>"
)
ROOT = (
    '<stream:filler id="r" tsid="1" validTime="2003-01-01"><r>'
    + "".join(f'<stream:hole id="a{n}" tsid="2"/>' for n in range(4))
    + "</r></stream:filler>"
)
QUERIES = [
    'for $a in stream("s")//a return <a>{$a/@n, count($a/b), $a//c}</a>',
    'for $a in stream("s")//a where $a/b?[now]/@v > 2 return <a>{$a?[now]/@n}</a>',
    'for $c in stream("s")//c?[now - P3D, now] return $c',
    'for $a in stream("s")/r/a return xs:integer($a?[now]/b[1]/@v)',
    'count(stream("s")//b?[now])',
    'sum(stream("s")//b/xs:integer(@v))',
    '<r>{for $a in stream("s")//a order by $a/@n descending return <a>{$a/@n, $a//c}</a>}</r>',
    'for $a in stream("s")//a order by max($a//b/number(@v)), $a/@n return <a>{$a/@n, $a/b}</a>',
    '<all n="{avg(stream("s")//b/@v)}">{for $a in stream("s")//a return <a>{$a//b}</a>}</all>',
    'distinct-values(stream("s")//b/@v), exists(stream("s")//c)',
    'for $a in stream("s")//a return $a/../name()',
    'for $a in stream("s")//a, $b in stream("s")//b[@v = $a/@n] return <m>{$b/@v}</m>',
]


def holes(names: list[str], tsid: int) -> str:
    return "".join(f'<stream:hole id="{name}" tsid="{tsid}"/>' for name in names)


@st.composite
def payloads(draw: st.DrawFn) -> tuple[str, int, str]:
    """The id, tag and payload of a fragment: units may stand anywhere, and share what they hold."""
    level = draw(st.sampled_from([1, 2, 2, 3, 3, 3, 4]))
    number = draw(st.integers(0, 4))
    inside = draw(st.lists(st.integers(0, 4), max_size=4, unique=draw(st.booleans())))
    names = [f"{'rabc'[level % 4]}{n}" for n in inside]
    match level:
        case 1:
            return "r", 1, f"<r>{holes(names, 2)}</r>"
        case 2:
            return f"a{number}", 2, f'<a n="{number}">{holes(names, 3)}</a>'
        case 3:
            value = draw(st.sampled_from(["1", "2", "3", "4", "x"]))
            return f"b{number}", 3, f'<b v="{value}">{holes(names, 4)}</b>'
        case _:
            return f"c{number}", 4, f"<c>{draw(st.integers(0, 9))}</c>"


@st.composite
def lines(draw: st.DrawFn) -> str:
    name, tsid, payload = draw(payloads())
    time = f'validTime="2003-01-{draw(st.integers(1, 20)):02}T00:00:00Z"'
    word = draw(st.sampled_from(["filler"] * 6 + ["replace", "repeat", "remove"]))
    if word == "remove":
        return f'<stream:remove id="{name}" tsid="{tsid}" {time}/>'
    return f'<stream:{word} id="{name}" tsid="{tsid}" {time}>{payload}</stream:{word}>'


def tables(pieces: list[str], name: str = "s") -> list[Any]:
    """The rows of each batch; the last says that the stream is over."""
    decoder = decoder_of("fragments", name, Names(), "quarantine")
    rows, out = RowEncoder(name, decoder.ids), []
    for piece in pieces:
        found = [rows.rows(one) for one in decoder.feed(piece.encode())]
        out.append(arrow().Table.from_batches(found, row_schema()))
    return [*out, arrow().Table.from_batches([rows.rows(Ended())])]


def told(place: Any, table: Any) -> Any:
    try:
        return place.take(table)
    except Error as why:
        return why.code


class Alone:
    """The query in one place."""

    def __init__(self, asked: WatchRequest) -> None:
        self.host = Host(asked, shallow=True)

    def take(self, table: Any) -> Any:
        return self.host.take(table, None)


def test_units_that_read_another_stream_whole_are_asked_again_in_all_partitions() -> None:
    asked = 'for $a in stream("s")//a where $a/@n > count(stream("t")//a) return <a>{$a/@n}</a>'
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments", "t": "fragments"})
    there, here = InPartitions(how, 3, moving=True), Alone(how)
    units = [
        f'<stream:filler id="a{n}" tsid="2" validTime="2003-01-0{n + 2}">'
        f'<a n="{n}"/></stream:filler>'
        for n in range(4)
    ]
    told = []
    for pair in zip(
        tables([HEAD + ROOT + "".join(units), "", "", units[3].replace('n="3"', 'n="1"')]),
        tables([HEAD, ROOT + units[0], units[1] + units[2], ""], "t"),
        strict=True,
    ):
        table = arrow().concat_tables(pair)
        told.append(here.take(table))
        assert there.take(table) == told[-1]
    assert there.router.why is None
    assert [len(one) for one in told] == [3, 1, 2, 0, 0]


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
@pytest.mark.parametrize("asked", QUERIES)
@given(data=st.data())
@settings(max_examples=examples(10))
def test_partitions_tell_what_one_place_tells(asked: str, policy: Any, data: st.DataObject) -> None:
    made = data.draw(st.lists(st.lists(lines(), max_size=8), min_size=2, max_size=7))
    pieces = ["".join(one) for one in made]
    pieces[data.draw(st.integers(0, 1))] += ROOT
    at = data.draw(st.sampled_from([0, 0, min(1, len(pieces) - 1)]))
    pieces[at] = HEAD.partition(">")[2] + pieces[at]
    pieces[0] = HEAD.partition(">")[0] + ">" + pieces[0]
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"}, policy=policy)
    there = InPartitions(how, data.draw(st.integers(2, 4)), moving=data.draw(st.booleans()))
    here = Alone(how)
    for number, table in enumerate(tables(pieces)):
        expected = told(here, table)
        assert told(there, table) == expected, number
        if isinstance(expected, str):
            break


def test_a_bucket_whose_units_fail_holds_the_answer_back() -> None:
    asked = 'for $a in stream("s")//a return xs:integer($a?[now]/@n)'
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
    units = [f'<stream:filler id="a{n}" tsid="2" validTime="2003-01-02">' for n in range(4)]
    good = [f'{head}<a n="1"/></stream:filler>' for head in units]
    bad = units[0].replace("01-02", "01-03") + '<a n="x"/></stream:filler>'
    well = units[0].replace("01-02", "01-05") + '<a n="5"/></stream:filler>'
    others = "".join(
        one.replace("01-02", "01-04") + '<a n="2"/></stream:filler>' for one in units[1:]
    )
    there, here = InPartitions(how, 4), Alone(how)
    lengths = []
    for table in tables([HEAD + ROOT + "".join(good), bad, others, well]):
        expected = here.take(table)
        assert there.take(table) == expected
        lengths.append(len(expected))
    assert lengths == [4, 0, 0, 8, 0]


def test_what_was_repeated_is_counted_once() -> None:
    how = WatchRequest({"": compiled('count(stream("s")//a)')}, {"s": "fragments"})
    unit = '<stream:filler id="a0" tsid="2" validTime="2003-01-02"><a n="1"/></stream:filler>'
    there, here = InPartitions(how, 3), Alone(how)
    for table in tables([HEAD + ROOT + unit, ROOT + unit + unit]):
        assert there.take(table) == here.take(table)
    repeated = {what: n for what, n in here.host.said().items() if what != "bytes of state"}
    assert repeated == {"s: repeated": 3}
    assert {what: n for what, n in there.last.said.items() if what in repeated} == repeated


@pytest.mark.parametrize("n", [1, 2], ids=["repeats", "corrects"])
def test_message_times_move_the_clock_whatever_a_query_reads(n: int) -> None:
    how = WatchRequest(
        {"": compiled('for $a in stream("s")//a return <a>{now - vtFrom($a)}</a>')},
        {"s": "fragments"},
    )  # fmt: skip
    unit = (
        '<stream:filler id="a0" tsid="2" validTime="2003-01-02"{}><a><x>{}</x></a></stream:filler>'
    )
    there = InPartitions(how, 3)
    here, found = Alone(how), Accumulated()
    said = unit.format(' messageTime="2003-01-05"', n)
    for table in tables([HEAD + ROOT + unit.format("", 1), said]):
        expected = here.take(table)
        assert there.take(table) == expected
        for change in expected:
            found.apply(change)
    assert found.items() == ["<a>P3D</a>"]


def test_the_wall_clock_is_the_same_in_all_partitions() -> None:
    asked = 'for $a in stream("s")//a?[now - P2D, now] return <a>{$a/@n}</a>'
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"}, wall=True)
    units = [
        f'<stream:filler id="a{n}" tsid="2" validTime="2003-01-0{n + 2}T00:00:00Z">'
        f'<a n="{n}"/></stream:filler>'
        f'<stream:remove id="a{n}" tsid="2" validTime="2003-01-0{n + 4}T00:00:00Z"/>'
        for n in range(4)
    ]
    there, here = InPartitions(how, 3, moving=True), Alone(how)
    changed = 0
    for day, table in enumerate(tables([HEAD + ROOT, "".join(units), *[""] * 9]), start=2):
        now = 1041379200_000000 + day * 86400_000000
        expected = here.host.take(table, now)
        assert there.take(table, now) == expected
        changed += bool(expected)
    assert changed > 2


def test_a_root_that_cannot_be_cut_brings_all_to_one_place() -> None:
    asked = 'for $a in stream("s")//a return <a>{$a/@n}</a>'
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"}, skew=86400_000000 * 5)
    units = [
        f'<stream:filler id="a{n}" tsid="2" validTime="2003-01-0{n + 2}">'
        f'<a n="{n}"/></stream:filler>'
        for n in range(4)
    ]
    strange = ROOT.replace('id="r"', 'id="other"').replace("01-01", "01-05")
    ahead = units[0].replace("01-02", "02-02")  # too far ahead of now
    there, here = InPartitions(how, 3), Alone(how)
    lengths = []
    for table in tables([HEAD + ROOT + "".join(units), ahead, strange, units[0], units[1]]):
        expected = here.take(table)
        assert there.take(table) == expected
        lengths.append(len(expected))
    assert there.router.why == "the stream has several roots"
    assert [one.code for one in there.last.refused] == ["XSCF0013"]
    assert [one.code for one in here.host.refused] == ["XSCF0013"]
    assert lengths[0] == 4
    assert lengths[2] > 4  # taken back, and told anew


@pytest.mark.parametrize(
    "asked",
    [
        'for $a in stream("s")//a return xs:integer($a/@n)',
        'for $a in stream("s")//a group by $k := xs:integer($a/@n) return $k',
        'for $a in stream("s")//a group by $k := string($a/@k) return xs:integer($k)',
        'for $a in stream("s")//a order by xs:integer($a/@n) return xs:date($a/@k)',
        'for $a in stream("s")//a, $b in stream("s")//a where $a/@k = $b/@k return xs:date($b/@n)',
    ],
)
@pytest.mark.parametrize("partitions", [1, 2, 3, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_of_several_errors_the_one_that_comes_first_in_one_place_is_told(
    asked: str, partitions: int, turned: bool
) -> None:
    how = WatchRequest({"": compiled(asked)}, {"s": "fragments"})
    units = [
        f'<stream:filler id="a{n}" tsid="2" validTime="2003-01-0{n + 2}">'
        f'<a n="no {n}" k="key {n}"/></stream:filler>'
        for n in range(4)
    ]
    there, here = InPartitions(how, partitions), Alone(how)
    found: list[list[str]] = [[], []]
    places: tuple[Any, ...] = (there, here)
    for table in tables([HEAD + ROOT, *(reversed(units) if turned else units)]):
        for place, errors in zip(places, found, strict=True):
            try:
                assert place.take(table) == []
            except Error as why:
                errors.append(why.render())
    assert found[0] == found[1]
    assert len(found[0]) == 1
    assert " 0" in found[0][0]  # that of the first unit
