"""History queries on Spark answer as the local runner does, whatever is spread over tasks."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import xstreamcast as xsc
from tests.spark.feeds import write_feed
from xstreamcast.circuit.batch.parts import Distributed, OneTask
from xstreamcast.edges.binding import Options
from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.table.log import Log
from xstreamcast.errors import Error
from xstreamcast.spark.running.spark_run import SparkRun

LISTED = 'stream("credit")//account[@no mod 7 = 3]/limit'
SPREAD = (
    LISTED,
    'count(stream("credit")//limit), sum(stream("credit")//limit?[now])',
    'for $a in stream("credit")//account order by number($a/limit?[now]) descending, '
    "$a/@no return <r>{$a/@no}</r>",
    '<all>{stream("credit")//limit?[now][. > 7000]}</all>',
    'some $l in stream("credit")//limit satisfies vtFrom($l) > 2003-12-20T00:00:00',
    'for $a in stream("credit")//account where $a/limit?[now] = stream("known")//limit return $a',
    'for $a in stream("credit")//account group by $l := $a/limit?[now] '
    'return <g l="{$l}">{count($a)}</g>',
    'for $a in stream("credit")//account group by $l := $a/limit?[now] where count($a) > 1 '
    "order by number($l) descending "
    'return <g l="{$l}">{$a/string(@no)}{max($a//limit ! vtFrom(.))}</g>',
)
TOGETHER = (
    'for $a in stream("credit")//account group by $l := $a/limit?[now] return $a[last()]/limit',
    'declare function local:all() { stream("credit")//limit }; '
    'stream("credit")//account[1], count(local:all())',
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    ingest(write_feed(folder / "feed", 200), folder / "table", stream="credit", most=90)
    return folder / "table"


def _named(table: Path) -> dict[str, Any]:
    known = table.parent / "known.xml"
    known.write_text("<known><limit>7000</limit><limit>3000</limit></known>")
    return {"credit": Path(f"table:{table}"), "known": known}


def _both(
    spark: Any,
    text: str,
    inputs: dict[str, Any],
    tasks: int = 3,
    few: int = 1 << 20,
    **options: Any,
) -> tuple[list[str], list[str], SparkRun]:
    query = xsc.query(text)
    document, asked = inputs.pop("", None), Options(**options)
    run = SparkRun(spark, query.telling(""), document, inputs, asked, tasks=tasks, few=few)
    expected = list(query.run(run.document, **options, **inputs).lines())
    try:
        return run.collected()["item"].to_pylist(), expected, run
    finally:
        run.sources.close()


@pytest.mark.parametrize("text", SPREAD, ids=range(len(SPREAD)))
def test_what_units_tell_is_spread_over_tasks(spark: Any, table: Path, text: str) -> None:
    found, expected, run = _both(spark, text, _named(table))
    assert found == expected
    assert found
    assert isinstance(run.plan, Distributed)


@pytest.mark.parametrize("text", TOGETHER, ids=range(len(TOGETHER)))
def test_what_needs_all_units_is_one_task_and_says_why(spark: Any, table: Path, text: str) -> None:
    found, expected, run = _both(spark, text, _named(table))
    assert found == expected
    assert isinstance(run.plan, OneTask)
    assert run.plan.reasons


@pytest.mark.parametrize(
    "options",
    [
        {"as_of": "2003-06-01T00:00:00"},
        {"between": ("2003-03-01T00:00:00", "2003-06-01T00:00:00")},
        {"strategy": "caq"},
        {"strategy": "qac"},
        {"clock": "2003-07-01T00:00:00"},
    ],
    ids=str,
)
def test_what_is_now_and_which_strategy_are_those_of_the_whole(
    spark: Any, table: Path, options: dict[str, Any]
) -> None:
    found, expected, _ = _both(spark, LISTED, _named(table), **options)
    assert found == expected


def test_what_cannot_be_sent_is_asked_by_one_task(spark: Any, table: Path) -> None:
    text = '<r>{for $a in stream("credit")//account[@no = 3] return document {$a}}</r>'
    found, expected, run = _both(spark, text, _named(table))
    assert found == expected
    assert isinstance(run.plan, OneTask)


def test_only_the_tags_that_a_query_needs_are_read(spark: Any, table: Path) -> None:
    text = 'stream("credit")//account/string(@no)'
    xsc.query(text).run(**_named(table))  # whoever reads all keeps what was seen
    found, expected, run = _both(spark, text, _named(table))
    assert found == expected
    assert "fragments read: accounts, account" in run.words


def test_joins_of_spark_find_what_the_driver_finds(spark: Any, table: Path) -> None:
    text = 'stream("credit")//account[limit = 7000]'
    shutil.copytree(table, table.parent / "copy")
    shutil.rmtree(table.parent / "copy" / "_guides")
    copied = {**_named(table), "credit": Path(f"table:{table.parent / 'copy'}")}
    found, expected, run = _both(spark, text, copied, few=0)
    assert found == expected
    assert any(one.startswith("joins of Spark computed the rows") for one in run.words)
    nested, expected, _ = _both(spark, 'stream("s")//q', _nested(table.parent), few=0)
    assert nested == expected


def _nested(folder: Path) -> dict[str, Any]:
    """A stream whose root holds a unit twice; units hold each other's content."""
    tags = (
        '<stream:structure><tag id="1" name="r" type="snapshot"><tag id="2" name="p" '
        'type="temporal"><tag id="2"/></tag></tag></stream:structure>'
    ).replace('<tag id="2"/>', '<tag id="3" name="q" type="temporal"/>')
    lines = [f'<stream:fragments xmlns:stream="urn:xstreamcast:stream">{tags}']
    holes = "".join(f'<stream:hole id="{n}" tsid="2"/> ' for n in (1, 2, 3, 1, 4))
    lines.append(_filler("0", 1, f"<r>before {holes}<!-- <stream:hole id='9'/> --></r>"))
    for n in range(1, 5):
        inner = f'<stream:hole id="{n % 4 + 1}q" tsid="3"/><stream:hole id="1q" tsid="3"/>'
        lines.append(_filler(str(n), 2, f'<p n="{n}">{inner}</p>'))
        lines.append(_filler(f"{n}q", 3, f"<q>{n}</q>"))
    (folder / "s.xml").write_text("\n".join([*lines, "</stream:fragments>"]))
    return {"s": folder / "s.xml"}


def test_units_that_stand_within_units_and_twice_in_the_root(spark: Any, tmp_path: Path) -> None:
    found, expected, run = _both(spark, 'stream("s")//q', _nested(tmp_path), tasks=4)
    assert found == expected
    assert len(found) == 10
    assert isinstance(run.plan, Distributed)
    assert "into a table for this run" in run.sources.notes[0]


def _filler(name: str, tag: int, payload: str) -> str:
    head = f'<stream:filler id="{name}" tsid="{tag}" validTime="2003-01-01">'
    return f"{head}{payload}</stream:filler>"


def test_an_error_is_the_one_of_the_whole(spark: Any, table: Path) -> None:
    text = 'stream("credit")//account ! (@no idiv (@no - 17))'
    query = xsc.query(text)
    with pytest.raises(Error) as local:
        list(query.run(**_named(table)).lines())
    run = SparkRun(spark, query.telling(""), None, _named(table), Options(), tasks=3)
    with pytest.raises(Error) as told:
        run.collected()
    assert str(told.value) == str(local.value)


def test_from_python_it_is_a_data_frame_in_order(spark: Any, table: Path) -> None:
    query = xsc.query(LISTED)
    frame = query.spark(spark).run(credit=str(table))
    assert frame.columns == ["place", "ordinal", "kind", "item"]
    expected = list(query.run(credit=Path(f"table:{table}")).lines())
    rows = frame.collect()
    assert [row.item for row in rows] == expected
    assert [(row.place, row.ordinal) for row in rows] == sorted(
        (row.place, row.ordinal) for row in rows
    )
    again = frame.orderBy("place", "ordinal").filter("kind = 'element'")
    assert [row.item for row in again.collect()] == expected


def test_a_data_frame_of_fragments_may_be_asked(spark: Any, table: Path) -> None:
    from xstreamcast.spark.frames import fragments_in

    state = Log(table).state()
    feed = b"".join(path.read_bytes() for path in sorted((table.parent / "feed").glob("*.xml")))
    messages = spark.createDataFrame(
        [(bytearray(line),) for line in feed.splitlines() if b"<stream:filler" in line],
        "value binary",
    )
    told = fragments_in(messages, stream="credit", structure=state.streams["credit"].structure)
    found = xsc.query(LISTED).spark(spark).run(credit=told)
    expected = xsc.query(LISTED).run(credit=Path(f"table:{table}")).lines()
    assert [row.item for row in found.collect()] == list(expected)


def test_functions_of_python_work_in_tasks(spark: Any, table: Path) -> None:
    secret = 3

    @xsc.function("thrice($x as xs:integer) as xs:integer", deterministic=True)
    def thrice(x: int) -> int:
        return x * secret

    text = 'stream("credit")//account[thrice(xs:integer(@no)) mod 21 = 0]/string(@no)'
    found, expected, run = _both(spark, text, _named(table))
    assert found == expected
    assert found
    assert isinstance(run.plan, Distributed)
