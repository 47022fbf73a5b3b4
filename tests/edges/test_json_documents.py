"""JSON, lines of JSON and CSV given as documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstreamcast import query
from xstreamcast.errors import Error

FIRST = "(//*[@key='a'])[1]/string()"


@pytest.mark.parametrize(
    ("name", "text", "asked", "expected"),
    [
        ("x.json", '{"a": "1", "b": [2, 3]}', "sum(//*:number)", ["5"]),
        ("x.ndjson", '{"a": "1"}\n\n{"a": "2"}\n', "count(/*/*)", ["2"]),
        ("x.jsonl", '\ufeff{"a": "é"}', FIRST, ["é"]),
        ("x.csv", 'a,b\n"x, ""y""",2\n', FIRST, ['x, "y"']),
        ("x.csv", "", "count(/*/*)", ["0"]),
    ],
)
def test_a_file_is_read_as_its_suffix_says(
    name: str, text: str, asked: str, expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert list(query(asked).run(path).lines()) == expected
    named = asked.replace("//*", 'doc("n")//*').replace("(/*", '(doc("n")/*')
    assert list(query(named).run(n=path).lines()) == expected


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.json", '{"a": 1,}', "must be a key"),
        ("x.ndjson", '{"a": 1}\n{"a": \n', "must be a value"),
        ("x.csv", "a,b\n1\n", "row 2 of the CSV must have 2 values; got 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(name: str, text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(Error, match=said):
        list(query("count(//*)").run(path).lines())
