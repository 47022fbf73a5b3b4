"""JSON, lines of JSON and CSV given as documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xstreamcast import query
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import Refused

FIRST = "(//*[@key='a'])[1]/string()"


@pytest.mark.parametrize(
    ("name", "text", "asked", "expected"),
    [
        ("x.json", '{"a": "1", "b": [2, 3]}', "sum(//*:number)", ["5"]),
        ("x.ndjson", '{"a": "1"}\n\n{"a": "2"}\n', "count(/*/*)", ["2"]),
        ("x.jsonl", '\ufeff{"a": "é"}', FIRST, ["é"]),
        ("x.csv", 'a,b\n"x, ""y""",2\n', "//row/a/string()", ['x, "y"']),
        ("x.tsv", "a\tb\n1\t2\n", "sum(//row/*)", ["3"]),
        ("x.csv", "", "count(/*/*)", ["0"]),
    ],
)
def test_a_file_is_read_as_its_suffix_says(
    name: str, text: str, asked: str, expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert list(query(asked).run(path).lines()) == expected
    named = asked.replace("//", 'doc("n")//').replace("(/*", '(doc("n")/*')
    assert list(query(named).run(n=path).lines()) == expected


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.json", '{"a": 1,}', "must be a key"),
        ("x.json", "", "must be a value"),
        ("x.ndjson", '{"a": 1}\n{"a": \n', "must be a value"),
        ("x.csv", "a,b\n1\n", "x.csv line 2: a record must have 2 values; got 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(name: str, text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(Error, match=said):
        list(query("count(//*)").run(path).lines())


def watched(text: str, **sources: Any) -> tuple[list[str], list[str]]:
    """The accumulated answer, and what was refused."""
    refused: list[Refused] = []
    told = Accumulated()
    for change in query(text).watch(**sources, keep=refused.append):
        told.apply(change)
    return told.items(), [f"{one.code} {one.reason}" for one in refused]


@pytest.mark.parametrize(
    ("name", "text", "asked", "expected"),
    [
        ("x.ndjson", '{"a": 1}\n{"a": 22}\n{"a": 3}\n', "*[@key='a'][. < 10]/string()", ["1", "3"]),
        ("x.csv", "a,b\n1,x\n22,y\n3,z", "a[. < 10]/string()", ["1", "3"]),
        ("x.json", '{"a":\n1}', "//*[@key='a']/string()", ["1"]),
    ],
)
def test_lines_are_units_of_a_watch(
    name: str, text: str, asked: str, expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    whole = 'doc("s")' + (asked if name.endswith(".json") else f"/*/*/{asked}")
    assert list(query(whole).run(s=path).lines()) == expected
    assert watched(whole, s=path) == (expected, [])


def test_lines_that_are_none_are_quarantined_by_a_watch(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2\n3,z\n")
    found, refused = watched('doc("s")//row/a/string()', s=path)
    assert found == ["1", "3"]
    assert refused == ["XSCX0001 line 3: a record must have 2 values; got 1"]


def test_files_of_a_folder_are_one_document(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "2.csv").write_text("b,a\ny,2\n")
    asked = 'doc("s")//a/string()'
    assert list(query(asked).run(s=tmp_path).lines()) == ["1", "2"]
    assert watched(asked, s=tmp_path) == (["1", "2"], [])


def test_lines_of_json_need_no_suffix_in_a_watch() -> None:
    found, _ = watched('doc("s")//*:number/string()', s=b'{"a": 1}\n{"a": 2}\n')
    assert found == ["1", "2"]
