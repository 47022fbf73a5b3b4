"""The commands run and eval, as their users see them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xstreamcast.cli.eval import answer, serve
from xstreamcast.cli.eval_inputs import Shelf
from xstreamcast.cli.main import main


@pytest.fixture
def document(tmp_path: Path) -> str:
    path = tmp_path / "d.xml"
    path.write_text('<a><b x="1">1 &lt; 2</b><b>q</b></a>', encoding="utf-8")
    return str(path)


def _run(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    status = main(["run", *words])
    return status, capfd.readouterr().out.splitlines()


def test_an_unnamed_input_is_the_context_item(
    document: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found = _run(capfd, "-q", "//b, 1.5", "-i", document)
    assert found == (0, ['<b x="1">1 &lt; 2</b>', "<b>q</b>", "1.5"])


def test_named_inputs_and_bindings(document: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = 'declare variable $n as xs:integer external; stream("s")//b[$n]'
    assert _run(capfd, "-q", text, "-i", f"s={document}", "-b", "n=2") == (0, ["<b>q</b>"])


def test_a_binding_that_no_variable_takes_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    text = "declare variable $limit external; $limit"
    assert main(["run", "-q", text, "-b", "limt=2"]) == 2
    assert "it declares $limit" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("lines", ["1 < 2", "2"]),
        ("records", ['{"t": "xs:string", "v": "1 < 2"}', '{"t": "xs:integer", "v": "2"}']),
        ("ndjson", ['{"value":"1 < 2"}', '{"value":2}']),
        ("csv", ["value", "1 < 2", "2"]),
        ("xml", ["<results>", "<item>1 &lt; 2</item>", "<item>2</item>", "</results>"]),
        ("table", ["    1  xs:string       1 < 2", "    2  xs:integer      2"]),
    ],
)
def test_formats(
    form: str, lines: list[str], document: str, capfd: pytest.CaptureFixture[str]
) -> None:
    query = "//b[1]/string(), count(//b), 7"
    assert _run(capfd, "-q", query, "-i", document, "--format", form, "--limit", "2") == (0, lines)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["-q", "1 +"], 3),
        (["-q", "1 div 0"], 1),
        (["-q", "1", "-i", "there is no such file.xml"], 2),
        ([], 2),
    ],
)
def test_exit_codes(words: list[str], status: int) -> None:
    assert main(["run", *words]) == status


def test_a_query_file_and_an_output_file(tmp_path: Path) -> None:
    (tmp_path / "q.xq").write_text("1 to 3", encoding="utf-8")
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "q.xq"), "-o", str(out)]) == 0
    assert out.read_text("utf-8") == "1\n2\n3\n"


def test_eval_answers_each_request_on_a_line_of_its_own(document: str) -> None:
    requests = [
        {"id": 1, "query": "//b[2], 1", "context": document},
        {"id": 2, "query": "1 +"},
        {"id": 3, "query": 'doc("u")/a/b/@x', "documents": {"u": document}},
        {
            "id": 4,
            "query": "declare variable $p external; $p + 1",
            "params": {"p": {"select": "2"}},
        },
    ]
    lines: list[str] = []
    serve([json.dumps(request) for request in requests], lines.append, lambda: None)
    first, second, third, fourth = (json.loads(line) for line in lines)
    assert first["items"] == [{"n": "element", "xml": "<b>q</b>"}, {"t": "xs:integer", "v": "1"}]
    assert second["error"]["code"] == "XPST0003"
    assert third["items"] == [{"n": "attribute", "v": "1", "name": "x", "ns": ""}]
    assert fourth["items"] == [{"t": "xs:integer", "v": "3"}]


def test_eval_names_the_errors_a_query_makes_up() -> None:
    request = {"id": 1, "query": 'error(QName("urn:e", "mine"), "no")'}
    assert answer(request, Shelf())["error"]["code"] == "Q{urn:e}mine"
