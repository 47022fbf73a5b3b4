"""Tasks that search payloads before they tokenise them give the answer of a single process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

import xstreamcast as xsc
from tests.conftest import PROFILE
from tests.oracle import answer
from tests.spark.test_run_law import _answer, _here

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.batch.units import UnitsTask
from xstreamcast.edges.binding import Options
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table.schema import arrow
from xstreamcast.spark.running.spark_run import SparkRun

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
HEAD = """<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="r" type="snapshot"><tag id="4" name="g" type="snapshot">
<tag id="2" name="e" type="{kind}"><tag id="5" name="v"/><tag id="6" name="d"><tag id="7" name="v"/>
</tag><tag id="3" name="h" type="temporal"/></tag></tag></tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2020-01-01"><r><g>{first}</g><g>{second}</g></r>
</stream:filler>
"""
VALUES = (
    "one", "two", "o&#110;e", "<![CDATA[one]]>", "on<!-- e -->e", "<b>one</b>", "no one", " one ",
    "é", "", "&amp;one", "one<?p one?>", "t\nwo",
)  # fmt: skip
ATTRIBUTES = ("one", "two", "o&#110;e", "a>b", "/", "", "é", "one two", "a\tb")
TEXTS = (
    '"one"',
    '"two"',
    '"é"',
    '"a>b"',
    '"/"',
    '("one", "é")',
    '"on"',
    '"&amp;one"',
    '""',
    '"a b"',
)
TESTS = (
    "v = {text}", "{text} = v", "@n = {text}", "d/v = {text}", "d/@n = {text}", "v = {text}][1",
    "contains(@n, {one})", "starts-with(@n, {one})", "some $a in v satisfies contains($a, {one})",
    "some $a in v satisfies ends-with($a, {one})", "@n = {text} and v = {text}", "h = {text}",
    "some $a in d/v satisfies starts-with($a, {one})", "@n eq {one}", "v eq {one}", "v != {text}",
    "v < {text} and @n = {text}", "contains(v, {one})", "v = {text} or @n = {text}", "v = ()",
    "not(v = {text})", "2][v = {text}", "v = {text}][last()",
)  # fmt: skip
QUERIES = (
    '{s}//e[{test}]', 'count({s}//e[{test}])', '{s}/r/g/e[{test}]/d', 'count({s}//e[{test}]/..)',
    'count({s}//e[{test}]/ancestor::g)', 'count({s}//e[{test}]/ancestor::*//v)',
    'for $x in {s}//e[{test}] where $x/v = {text} order by $x/@n return <a>{{$x/v, $x/h}}</a>',
    'for $x at $i in {s}//e where $x/v = {text} return $i', '{s}//*[v = {text}]/v',
    '{s}//*[{test}]/@n', '({s}//*[v = {text}])[2]', '{s}//e[{test}]?[now]/v',
    '{s}//e?[now][{test}]', '{s}//e#[1][{test}]', '{s}//e[{test}]#[last]', '{s}//e[{test}]/h',
    'exists({s}//e[{test}]/..)', 'for $x in {s}//e return <a>{{$x/h[1]/text()}}</a>', '{s}//e/h',
    'for $x in {s}//e where some $a in $x/v satisfies $a = {text} return vtFrom($x)',
    '{s}//e[{test}]/v, count({s}//h)', 'count({s}//d[v = {text}]), {s}//e[@n = {text}]/@n',
    'for $x in {s}//e where $x/v = {text} group by $k := string($x/@n) return ($k, count($x))',
    '(for $x in {s}//e where $x/@n = {text} return $x/v)[last()]', '{s}//g[e/v = {text}]/e/@n',
)  # fmt: skip


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Versions or events, whose values are written in many ways."""

    value = st.sampled_from(VALUES)

    def payload() -> str:
        values = "".join(f"<v>{one}</v>" for one in draw(st.lists(value, max_size=2)))
        inner = draw(st.none() | value)
        inside = "" if inner is None else f"<v x='>'>{inner}</v>"
        at = draw(st.none() | st.sampled_from(ATTRIBUTES))
        named = "" if at is None else f" n='{at}'"
        hole = f'<stream:hole id="h{draw(st.integers(0, 2))}" tsid="3"/>'
        held = hole if draw(st.booleans()) else ""
        return f"<e{named}>{values}<d m='one' {named}>{inside}</d>{held}</e>"

    ids = [f"e{n}" for n in range(draw(st.integers(2, 7)))]
    holes = [f'<stream:hole id="{one}" tsid="2"/>' for one in ids]
    middle = draw(st.integers(0, len(ids)))
    kind = draw(st.sampled_from(("event", "temporal")))
    first, second = "".join(holes[:middle]), "".join(holes[middle:])
    lines = [HEAD.format(kind=kind, first=first, second=second)]
    for _ in range(draw(st.integers(1, 12))):
        op = draw(st.sampled_from(("filler", "filler", "filler", "repeat", "remove")))
        one, day = draw(st.sampled_from(ids)), draw(st.integers(1, 4))
        content = "" if op == "remove" else payload()
        at = f'id="{one}" tsid="2" validTime="2020-01-0{day}"'
        lines.append(f"<stream:{op} {at}>{content}</stream:{op}>\n")
    for n in range(draw(st.integers(0, 3))):
        at = f'id="h{n}" tsid="3" validTime="2020-01-0{n + 1}"'
        lines.append(f"<stream:filler {at}><h>{draw(value)}</h></stream:filler>\n")
    return "".join([*lines, "</stream:fragments>"]).encode()


@st.composite
def queries(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    one = draw(st.sampled_from([t for t in TEXTS if "(" not in t]))
    test = draw(st.sampled_from(TESTS)).format(text=text, one=one)
    query = draw(st.sampled_from(QUERIES))
    return query.format(s='stream("s")', test=test, text=text)


def _tasks(text: str, table: Path, tasks: int, as_of: str | None = None) -> list[str] | str:
    inputs = {"s": Path(f"table:{table}")}
    given = Options(as_of=as_of)
    run = SparkRun(None, xsc.query(text).telling(""), None, inputs, given, tasks=tasks)
    return _answer(lambda: _here(run))


def _local(text: str, table: Path, as_of: str | None = None) -> list[str] | str:
    return _answer(lambda: xsc.query(text).run(s=f"table:{table}", as_of=as_of).lines())


def _table(folder: str, wire: bytes, most: int | None = None) -> Path:
    (Path(folder) / "s.xml").write_bytes(wire)
    ingest(Path(folder) / "s.xml", Path(folder) / "table", stream="s", most=most)
    return Path(folder) / "table"


@settings(suppress_health_check=SLOW, max_examples=400 if PROFILE == "thorough" else 10)
@given(
    streams(),
    st.lists(queries(), min_size=1, max_size=3),
    st.sampled_from((None, 2)),
    st.sampled_from((None, None, "2020-01-02")),
)
def test_tasks_give_the_answer_of_one_process(
    wire: bytes, texts: list[str], most: int | None, as_of: str | None
) -> None:
    with TemporaryDirectory() as folder:
        table = _table(folder, wire, most)
        for text in texts:
            expected = _local(text, table, as_of)
            for tasks in (1, 2, 5):
                assert _tasks(text, table, tasks, as_of) == expected, text


@settings(suppress_health_check=SLOW, max_examples=200 if PROFILE == "thorough" else 10)
@given(streams(), queries())
def test_tasks_give_the_answer_of_an_independent_processor(wire: bytes, text: str) -> None:
    with TemporaryDirectory() as folder:
        found = _tasks(text, _table(folder, wire), 2)
        if not isinstance(found, str):  # an error: which of several is raised is free
            assert _canonical(found) == _canonical(answer(text, {"s": wire}))


def _canonical(items: list[str]) -> list[str]:
    """Items without the choices that a writer of XML has."""
    return [
        etree.tostring(etree.fromstring(one), method="c14n").decode() if one[:1] == "<" else one
        for one in items
    ]


# -- what is read ----------------------------------------------------------------------------------


def _numbered(versions: int) -> bytes:
    """A hundred units; each version of a tenth of them has another value."""
    holes = "".join(f'<stream:hole id="e{n}" tsid="2"/>' for n in range(100))
    lines = [HEAD.format(kind="temporal", first=holes, second="")]
    for day in range(versions):
        for n in range(100):
            at = f'id="e{n}" tsid="2" validTime="2020-01-0{day + 1}"'
            text = f"{n % 10}-{day if n % 10 == 3 else 0}"
            lines.append(f'<stream:filler {at}><e n="{n}"><v>{text}</v></e></stream:filler>\n')
    return "".join([*lines, "</stream:fragments>"]).encode()


@pytest.mark.parametrize(
    ("text", "versions", "units", "rows"),
    [
        ('{s}//e[v = "3-0"]', 1, 10, 10),
        ('{s}//e[v = "3-1"]', 3, 10, 30),  # all versions of units that have such a version
        ('{s}//*[v = "3-0"]/v', 1, 10, 10),
        ('{s}//e[some $v in v satisfies contains($v, "3-")]', 1, 10, 10),
        ('{s}//e[v = "none"]', 2, 0, 0),
    ],
)
def test_units_that_are_not_found_are_not_tokenised(
    text: str, versions: int, units: int, rows: int, tmp_path: Path
) -> None:
    table = _table(str(tmp_path), _numbered(versions))
    query = text.format(s='stream("s")')
    inputs = {"s": Path(f"table:{table}")}
    run = SparkRun(None, xsc.query(query).telling(""), None, inputs, Options(), tasks=1)
    work = run.work()
    found = work.task._rows(0)  # type: ignore[attr-defined]
    assert found.rows.num_rows == rows
    assert len(set(found.units.tolist())) == units
    assert any("tokenised only where their bytes allow it" in one for one in work.words)
    assert _here(run) == _local(query, table)


AROUND = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream">
<stream:structure><tag id="1" name="r" type="snapshot"><tag id="2" name="g"><tag id="3" name="e"
type="event"><tag id="4" name="v"/></tag></tag><tag id="5" name="k"><tag id="6" name="g"><tag id="7"
name="e" type="event"><tag id="8" name="v"/></tag></tag></tag></tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2020-01-01"><r>%s</r></stream:filler>
%s</stream:fragments>
"""


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ('count({s}//e[v = "x"]/..)', 9),  # until one is found in each element around units
        ('count({s}//e[v = "x"]/ancestor::g)', 9),
        ('count({s}//e[v = "x"]/ancestor::k)', 2),
        ('exists({s}//e[v = "x"]/parent::k)', 0),
        ('count({s}//e[v = "x"][. > 1]/..)', None),  # which may be an error, so that all are read
        ('count({s}//e[v = "x"]/ancestor::*)', 9),
        ('count({s}//e[v = "none"]/..)', 12),
    ],
)
def test_ranges_that_lead_to_no_other_element_of_the_root_are_not_read(
    text: str, ranges: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups, fillers = [], []
    for group in range(4):  # of six units each; the last two are below k
        tag = 3 if group < 2 else 7
        ids = [f"{group}-{n}" for n in range(6)]
        holes = "".join(f'<stream:hole id="{one}" tsid="{tag}"/>' for one in ids)
        groups.append(f"<g>{holes}</g>")
        for n, one in enumerate(ids):
            value = "x" if group != 1 and n > 1 else "y"
            at = f'id="{one}" tsid="{tag}" validTime="2020-01-01"'
            fillers.append(f"<stream:filler {at}><e><v>{value}</v></e></stream:filler>")
    root = "".join([*groups[:2], "<k>", *groups[2:], "</k>"])
    table = _table(str(tmp_path), AROUND % (root.encode(), "".join(fillers).encode()))
    query = text.format(s='stream("s")')
    expected = _local(query, table)
    for tasks in (1, 2, 5):
        assert _tasks(query, table, tasks) == expected
    run = SparkRun(
        None, xsc.query(query).telling(""), None, {"s": Path(f"table:{table}")}, Options(), tasks=12
    )
    work = run.work()
    assert work.count == 12
    read: list[int] = []
    whole = UnitsTask._range

    def counted(task: UnitsTask, place: int) -> Iterator[Any]:
        read.append(place)
        return whole(task, place)

    monkeypatch.setattr(UnitsTask, "_range", counted)
    pa = arrow()
    batches = work.task([pa.record_batch([pa.array(range(12))], ["id"])])
    found = pa.Table.from_batches(list(batches))
    if expected != "FORG0001":
        assert list(run.answered(found)["item"].to_pylist()) == expected
    assert len(read) == (12 if ranges is None else ranges)
