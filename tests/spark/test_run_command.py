"""`run --runner spark` and `explain --stage spark` as commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import write_feed
from xstreamcast.cli.main import main
from xstreamcast.edges.ingesting import ingest

QUERY = 'stream("credit")//account[@no < 12]/limit?[now]/number(.)'


@pytest.fixture
def table(tmp_path: Path) -> Path:
    ingest(write_feed(tmp_path / "feed", 120), tmp_path / "table", stream="credit")
    return tmp_path / "table"


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    assert main([*words]) == 0
    told = capsys.readouterr()
    return told.out, told.err


@pytest.mark.parametrize("form", ["lines", "ndjson", "csv", "records", "xml", "table"])
def test_the_command_prints_what_the_local_runner_prints(
    spark: Any, table: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    words = ["run", "-q", QUERY, "-i", f"credit=table:{table}", "--format", form, "--limit", "9"]
    local, _ = _said(capsys, *words)
    found, said = _said(capsys, *words, "--runner", "spark")
    assert found == local
    assert found.count("\n") >= 9
    assert "tasks, each a range of the 30 units of credit" in said


def test_explain_shows_what_tasks_do_beside_the_plan_of_spark(
    spark: Any, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("explain", "--stage", "spark", "-i", f"credit=table:{table}", "-q")
    found, _ = _said(capsys, *words, f"count({QUERY})")
    assert "each a range of the 30 units of credit" in found
    assert "part 0: folded by count, of " in found
    assert "MapInArrow" in found
    alone, _ = _said(capsys, *words, 'stream("credit")//account[3]')
    assert "one task, which reads everything" in alone
    assert "credit: it" in alone


STRUCTURE = (
    '<stream:structure xmlns:stream="urn:xstreamcast:stream"><tag id="1" name="r" type="snapshot">'
    '<tag id="2" name="a" type="temporal"><tag id="3" name="b" type="temporal"/></tag></tag>'
    "</stream:structure>"
)


@pytest.mark.parametrize(
    ("unit", "expected"), [(' unit="a"', "no router"), ("", "router, in one place")]
)
def test_explain_shows_stages_beside_the_plan_of_spark(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], unit: str, expected: str
) -> None:
    """Fragments that name their units need no router; the plan names the same stages."""
    file = tmp_path / "s.xml"
    file.write_text(f'{STRUCTURE}<filler id="b" tsid="3"{unit}><b/></filler>')
    words = ("explain", "--stage", "spark", "--watch", "-i", f"s={file}", "-q")
    grouped = 'for $a in stream("s")//a group by $n := $a/@n return <n>{$n, count($a)}</n>'
    stages, _, plan = _said(capsys, *words, grouped)[0].partition("== Physical Plan ==")
    assert stages.startswith(expected)
    named = re.findall(r"CollectMetrics ([\w ]+),", plan)
    router = ["router"] if unit == "" else []
    assert named == ["answer", "stage 1", "units", *router, "arrived"]
    assert plan.count("TransformWithStateInPySpark") == len(named) - 1
