"""The commands fragment and infer: from a document to fragments and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from xstreamcast.cli.main import main

DOCUMENT = '<r><a at="2003-01-01">1<b/></a> x <a at="2003-01-02">2</a></r>'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.xml").write_text(DOCUMENT)
    return tmp_path


def test_there_and_back_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["infer", "d.xml", "--filler", "b", "-o", "ts.xml"]) == 0
    assert "a: event, because it repeats and carries an instant (@at)" in capsys.readouterr().err
    options = ["--structure", "ts.xml", "--valid-time", "@at", "--shuffle", "7", "-o", "f.xml"]
    assert main(["fragment", "d.xml", *options]) == 0
    assert capsys.readouterr().err == "4 fragments\n2 of them have no @at: no valid time\n"
    assert main(["fragment", "--join", "f.xml", "-o", "back.xml"]) == 0
    back, there = (etree.parse(name) for name in ("back.xml", "d.xml"))
    assert etree.tostring(back, method="c14n") == etree.tostring(there, method="c14n")


def test_fragments_go_to_stdout_and_nothing_else_does(folder: Path, capsysbinary) -> None:
    tags = '<tag id="1" name="r"><tag id="2" name="a"><tag id="3" name="b"/></tag></tag>'
    (folder / "ts.xml").write_text(tags)
    assert main(["fragment", "d.xml", "-s", "ts.xml"]) == 0
    written = capsysbinary.readouterr().out
    assert written.startswith(b'<stream:fragments xmlns:stream="urn:xstreamcast:stream">\n')
    assert written.count(b"<stream:filler") == 1


def test_refused_fragments_are_told_and_the_rest_is_joined(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "f.xml").write_text(
        '<structure><tag id="1" name="r"/></structure><filler id="0"><r/></filler><filler id="1">'
    )
    assert main(["fragment", "--join", "f.xml"]) == 4
    said = capsys.readouterr()
    assert said.out == "<r/>\n"
    assert "refused: XSCF0001 f:1:74 (byte 73): the input ends inside the fragment" in said.err
    assert said.err.endswith("1 refused, kept in f.refused.xml\n")
    assert (folder / "f.refused.xml").read_text().endswith('<filler id="1">\n')
    assert main(["fragment", "--join", "f.xml", "--on-error", "stop"]) == 4
    assert "error[XSCF0001]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["fragment", "d.xml"], 2, "xstreamcast infer d.xml -o TS proposes one"),
        (["fragment", "gone.xml", "-s", "d.xml"], 4, "XSCT0001"),
        (["fragment", "--join", "d.xml"], 4, "XSCF0010"),
        (["infer", "gone.xml"], 2, "no such file"),
        (["infer", "d.xml", "x.dtd"], 2, "a DTD or XSD must be the only file"),
    ],
)
def test_mistakes_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], status: int, said: str
) -> None:
    assert main(words) == status
    assert said in capsys.readouterr().err
