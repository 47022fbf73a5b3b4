"""`xstreamcast explain --stage xquery`: what it prints runs unchanged on SaxonC-HE."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus_format import read_script
from tests.oracle import STRATEGIES, canonical, saxon
from xstreamcast.cli.main import main

pytest.importorskip("saxonche")

SCRIPT = read_script(Path(__file__).parents[1] / "corpus" / "maxed_out_accounts.stream")


@pytest.fixture
def credit(tmp_path: Path) -> Path:
    """The stream as it stood when an account was maxed out."""
    file = tmp_path / "credit.xml"
    file.write_bytes(SCRIPT.wire(3)["credit"])
    return file


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_printed_query_runs_beside_the_file_of_fragments(
    credit: Path, strategy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = ["explain", "--stage", "xquery", "--strategy", strategy]
    assert main([*stage, "-i", f"credit={credit}", "-q", SCRIPT.query]) == 0
    query = credit.with_name("query.xq")
    query.write_text(capsys.readouterr().out, "utf-8")

    asked = saxon().processor.new_xquery_processor()
    asked.set_query_file(str(query))
    asked.set_query_base_uri(credit.parent.as_uri() + "/")
    asked.set_property("!indent", "no")
    asked.set_property("!omit-xml-declaration", "yes")
    assert SCRIPT.moments[3].expected is not None
    assert [canonical(asked.run_query_to_string())] == SCRIPT.moments[3].expected


def test_the_structure_may_stand_in_a_file_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "credit.ts"
    file.write_text(SCRIPT.structures["credit"], "utf-8")
    told = ["--structure", f"credit={file}", "-q", 'stream("credit")//account']
    assert main(["explain", "--stage", "xquery", *told]) == 0
    out = capsys.readouterr().out
    assert 'xsc:holes_below($xsc:credit.history, xsc:roots($xsc:credit.history), "2")' in out


def test_a_query_that_needs_nothing_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--stage", "xquery", "-q", "1+1"]) == 0
    assert capsys.readouterr().out == "1 + 1\n"


def test_a_clock_behind_and_an_interval_are_told(
    credit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["explain", "--stage", "xquery", "-i", f"credit={credit}"]
    query = ["-q", 'stream("credit")//account?[now - P1D, now]']
    assert main([*told, "--clock", "wall", *query]) == 0
    out = capsys.readouterr().out
    assert "(: materialised: a projection may reach planned states :)" in out
    assert "xsc:reached($xsc:credit.view, $xsc:end1)" in out
    assert main([*told, "--between", *query]) == 0
    assert "$xsc:since, $xsc:until)" in capsys.readouterr().out


def test_without_a_structure_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--stage", "xquery", "-q", 'stream("credit")//account']) == 2
    assert "--structure credit=FILE, or --strategy caq" in capsys.readouterr().err
