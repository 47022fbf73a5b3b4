"""`xstreamcast functions` lists what a query can call."""

from __future__ import annotations

import pytest

from xstreamcast.cli.main import main
from xstreamcast.functions.forms import FORMS
from xstreamcast.functions.registry import rows


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["functions", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_every_row_is_listed_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys)
    assert len(lines) == len(list(rows())) + len(FORMS) > 250
    assert [line for line in lines if not line.partition("\t")[2].strip()] == []


def test_a_pattern_narrows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert all("date" in line.lower() for line in listed(capsys, "DATE"))
    found = listed(capsys, "fn:substring-*")
    assert {line.partition("(")[0] for line in found} == {
        "fn:substring-before",
        "fn:substring-after",
    }


def test_the_forms_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(capsys, "fn:abs", "--format", "table") == [
        "fn:abs($arg as xs:numeric?) as xs:numeric?",
        "    " + next(row.doc for row in rows() if row.name == "fn:abs"),
    ]
    assert listed(capsys, "fn:abs", "--format", "markdown")[:2] == [
        "| function | what it returns |",
        "|---|---|",
    ]


def test_a_name_that_is_not_there_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["functions", "no-such-name"]) == 2
    assert "no function is named like no-such-name" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["vtFrom", "vtTo", "stream", "now", "during", "?["])
def test_what_a_query_says_about_time_is_listed_too(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert any(name in line.partition("\t")[0] for line in listed(capsys, name))
