"""What Python sees of an answer: plain values, rows with columns, changes."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xstreamcast as xsc
from xstreamcast.edges.columns import csv_lines, json_lines, number

STOCK = b"""<stock xmlns="urn:shop"><item sku="007"><name>Lamp</name><price>20</price></item>
<item sku="a"><name>Desk, "oak"</name><price>180.5</price><tag>new</tag>
<tag>wood</tag></item></stock>"""


def answer(text: str, document: bytes | None = None) -> xsc.Answer:
    return xsc.query(text).run(document)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1.5", Decimal("1.5")),
        ("1e0", 1.0),
        ("'a'", "a"),
        ("true()", True),
        ("xs:date('2020-02-03')", date(2020, 2, 3)),
        ("xs:dateTime('2020-02-03T04:05:06.7Z')", datetime(2020, 2, 3, 4, 5, 6, 700_000, UTC)),
        ("xs:dayTimeDuration('PT1H')", timedelta(hours=1)),
        ("xs:yearMonthDuration('P1Y')", "P1Y"),
        ("xs:date('2020-02-03+01:00')", "2020-02-03+01:00"),
        ("xs:dateTime('12020-02-03T00:00:00')", "12020-02-03T00:00:00"),
        ("xs:QName('xs:a')", "xs:a"),
        ("map { 'a': (1, 2), 'b': (), 'c': [3, ()] }", {"a": [1, 2], "b": None, "c": [3, None]}),
    ],
)
def test_items_are_plain_python_values(text: str, value: object) -> None:
    (found,) = answer(text)
    assert found == value
    assert type(found) is type(value)


def test_a_node_is_read_by_name() -> None:
    first, second = answer("//*:item", STOCK)
    assert first["price"] == 20
    assert second["price"] == 180.5
    assert (first["sku"], first["@sku"]) == ("007", "007")  # an id, not the number seven
    assert second["tag"] == ["new", "wood"]
    assert first["name"] == "Lamp"
    assert first.get("colour") is None
    with pytest.raises(KeyError, match="colour"):
        first["colour"]
    assert first.xml.startswith("<item ")
    (stock,) = answer("/*", STOCK)
    assert [item["name"] for item in stock["item"]] == ["Lamp", 'Desk, "oak"']


def test_an_answer_as_rows() -> None:
    assert answer("//*:item", STOCK).rows() == [
        {"sku": "007", "name": "Lamp", "price": 20},
        {"sku": "a", "name": 'Desk, "oak"', "price": 180.5, "tag": ["new", "wood"]},
    ]


def test_text_of_its_own_is_in_the_column_of_the_element() -> None:
    rows = answer("<avoid road='A8'>accident</avoid>, <road>B17</road>, 5").rows()
    assert rows == [{"road": "A8", "avoid": "accident"}, {"road": "B17"}, {"value": 5}]


def test_csv_and_json_lines() -> None:
    rows = answer("//*:item", STOCK).rows()
    assert list(csv_lines(rows)) == [
        "sku,name,price,tag",
        "007,Lamp,20,",
        'a,"Desk, ""oak""",180.5,new; wood',
    ]
    assert next(json_lines(rows)) == '{"sku":"007","name":"Lamp","price":20}'
    assert list(json_lines(answer("xs:double('NaN'), xs:double('-INF')").rows())) == [
        '{"value":"NaN"}',
        '{"value":"-INF"}',
    ]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"])), min_size=1))
def test_csv_is_what_the_csv_module_reads(texts: list[str]) -> None:
    import csv
    from io import StringIO

    written = "\n".join(csv_lines([{"a": text, "b": "x"} for text in texts]))
    read = list(csv.DictReader(StringIO(written, newline="")))
    assert [row["a"] for row in read] == texts


@given(st.integers(-(10**17), 10**17) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back(value: float) -> None:
    assert number(repr(value)) == value


@pytest.mark.parametrize("text", ["", "007", "+1", " 1", "1_0", "0x1", "INF", "٣", "1."])
def test_what_only_looks_like_a_number_stays_text(text: str) -> None:
    assert number(text) is None


def test_a_frame_of_pandas() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = answer("//*:item", STOCK).to_pandas()
    assert list(frame.columns) == ["sku", "name", "price", "tag"]
    assert frame["price"].sum() == 200.5


def test_a_table_of_arrow() -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = answer("//*:item", STOCK).to_arrow()
    assert table.column("price").to_pylist() == [20, 180.5]
    assert table.num_rows == 2


def test_a_collection_is_a_list_of_documents(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_text(f"<d>{name}</d>")
    count = xsc.query('for $d in collection("c") return string($d/d)')
    given: list[Any] = [b"<d>1</d>", tmp_path / "b.xml", str(tmp_path / "*.xml")]
    assert list(count.run(c=given)) == ["1", "b.xml", "a.xml", "b.xml"]
    assert list(count.run(c=tmp_path)) == ["a.xml", "b.xml"]
    assert list(count.run(c=b"<d>1</d>")) == ["1"]
    addresses = xsc.query('uri-collection("c")')
    assert list(addresses.run(c=[tmp_path / "a.xml"])) == [(tmp_path / "a.xml").as_uri()]
    assert list(addresses.run(c=b"<d/>")) == ["c"]
    with pytest.raises(xsc.Error, match="there is no collection named other"):
        xsc.query('collection("other")').run(c=given)


@pytest.mark.slow
@pytest.mark.spark
def test_a_frame_of_spark() -> None:
    from xstreamcast.spark.session import session

    frame = answer("//*:item", STOCK).to_spark(session())
    assert frame.columns == ["sku", "name", "price", "tag"]
    assert [row.price for row in frame.collect()] == [20.0, 180.5]


def test_a_notebook_shows_a_table() -> None:
    shown = answer("//*:item", STOCK)._repr_html_()
    assert "<thead><tr><th>sku</th><th>name</th><th>price</th><th>tag</th></tr></thead>" in shown
    assert "<td>Desk, &quot;oak&quot;</td><td>180.5</td><td>new; wood</td></tr>" in shown
    assert shown.endswith("<p>2 items</p>")
    assert answer("()")._repr_html_() == "<p>0 items</p>"
    assert answer("'<b>'")._repr_html_().count("&lt;b&gt;") == 1
    many = answer("1 to 1000")._repr_html_()
    assert many.count("<tr>") == 51
    assert many.endswith("<p>1000 items, the first 50 shown</p>")


def roads(*severities: int) -> bytes:
    fillers = "".join(
        f'<filler id="1" tsid="2" validTime="2026-01-0{n}"><incident>{severity}</incident></filler>'
        for n, severity in enumerate(severities, start=1)
    )
    return (
        '<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal"/></tag>'
        '</structure><filler id="0" tsid="1" validTime="2025-12-31"><roads><hole id="1" tsid="2"/>'
        f"</roads></filler>{fillers}"
    ).encode()


NOW = xsc.query('stream("roads")//incident?[now]/string()')


def test_changes_in_a_with_block() -> None:
    with NOW.watch(roads=roads(5, 4), batch=1) as changes:
        first = next(changes)
    assert (first.diff, first.item) == (1, "5")
    assert list(changes) == []  # closed


def test_changes_are_awaited() -> None:
    async def collected() -> list[tuple[int, str]]:
        changes = NOW.watch(roads=roads(5, 4), batch=1)
        return [(change.diff, change.item) async for change in changes]

    assert asyncio.run(collected()) == [(1, "5"), (-1, "5"), (1, "4")]


def test_a_task_that_waits_for_a_silent_input_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "roads.stream"
    path.write_bytes(roads(5))

    async def waited() -> list[str]:
        found: list[str] = []
        inputs: dict[str, Any] = {"roads": path}

        async def follow() -> None:
            async for change in NOW.watch(follow=True, batch=1, **inputs):
                found.append(change.item)
                first.set()

        first = asyncio.Event()
        task = asyncio.create_task(follow())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return found

    began = time.monotonic()
    assert asyncio.run(waited()) == ["5"]
    assert time.monotonic() - began < 30


def test_watch_takes_the_options_of_the_command(tmp_path: Path) -> None:
    late = roads(5, 4) + roads(3)[roads().rindex(b"</filler>") + 9 :].replace(b"2026", b"2025")
    notes: list[str] = []
    options: dict[str, Any] = {
        "batch": 1, "lateness": timedelta(hours=1), "max_skew": "10d", "say": notes.append,
        "quarantine": tmp_path / "refused.xml", "metrics": tmp_path / "numbers.json",
        "metrics_every": "1ms", "max_memory": 1 << 40, "limits": xsc.QueryLimits(),
    }  # fmt: skip
    with NOW.watch(roads=late, **options) as changes:
        assert changes.measured() == {}
        found = list(changes)
        assert len(found) > 2
        assert changes.measured()["inputs"]["roads"]["late"] == 1
        assert any("late" in line for line in changes.report())
    assert b"XSCF0014" in (tmp_path / "refused.xml").read_bytes()
    last = json.loads((tmp_path / "numbers.json").read_text().splitlines()[-1])
    assert (last["changes"], last["refused"]) == (len(found), 1)
    limited = NOW.watch(roads=late, batch=1, limit=2)
    assert [one.item for one in limited] == [one.item for one in found[:2]]


def test_watch_continues_from_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "roads.stream"
    path.write_bytes(roads(5, 4))
    given: dict[str, Any] = {"roads": path, "batch": 1, "checkpoint": tmp_path / "state"}
    every = [str(one) for one in NOW.watch(**given)]
    assert list(NOW.watch(**given)) == []
    path.write_bytes(roads(5, 4, 6))
    more = [str(one) for one in NOW.watch(**given)]
    assert every + more == [str(one) for one in NOW.watch(roads=path, batch=1)]


def test_changes_that_were_not_taken_come_again(tmp_path: Path) -> None:
    path = tmp_path / "roads.stream"
    path.write_bytes(roads(5, 4))
    given: dict[str, Any] = {"roads": path, "batch": 1, "checkpoint": tmp_path / "state"}
    with NOW.watch(**given) as changes:
        first = next(changes)
    assert str(next(NOW.watch(**given))) == str(first)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lateness": "soon"}, "a duration must be like 30s"),
        ({"batch": 0}, "batch must be at least 1; got 0"),
        ({"max_memory": 1}, "more than --max-memory 1"),
        ({"limits": xsc.QueryLimits(max_text=1)}, "max_text|characters"),
    ],
)
def test_watch_refuses_options_that_are_none(options: dict[str, Any], said: str) -> None:
    query = xsc.query('stream("roads")//incident ! concat(string(.), "abc")')
    with pytest.raises(xsc.Error, match=said):
        list(query.watch(roads=roads(5, 4), **options))
