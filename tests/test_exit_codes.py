"""`run` and `watch` end with the same code for the same mistake."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from xstreamcast.cli.main import main

FILLER = '<filler id="1" tsid="2" validTime="2020-01-01T00:00:00"><a/></filler>'
STRUCTURE = '<structure><tag id="1" name="r"><tag id="2" name="a"/></tag></structure>'
INPUTS = {
    "empty": ("", 4),
    "blank": ("  \n", 4),
    "text": ("hello", 4),
    "not well-formed": ("<r><a></r>", 4),
    "fragments without a structure": (FILLER, 4),
    "an external entity": ("<!DOCTYPE r [<!ENTITY e SYSTEM 'x'>]><r><a>&e;</a></r>", 4),
    "a document": ("<r><a/></r>", 0),
    "an entity": ("<!DOCTYPE r [<!ENTITY e 'x'>]><r><a>&e;</a></r>", 0),
    "a refused fragment": (STRUCTURE + FILLER.replace("2020-01-01T00:00:00", "no"), 0),
}
QUERIES = {
    "does not compile": ("for $x in", 3),
    "is unknown": ("unknown-function()", 3),
    "divides by zero": ("1 div 0", 1),
}


def status(*words: str) -> tuple[int, str]:
    with redirect_stderr(io.StringIO()) as said:
        found = main(list(words))
    return found, said.getvalue()


@pytest.mark.parametrize("command", ["run", "watch"])
@pytest.mark.parametrize(("text", "code"), INPUTS.values(), ids=INPUTS)
def test_inputs(command: str, text: str, code: int, tmp_path: Path):
    path, out = tmp_path / "s.xml", tmp_path / "out"
    path.write_text(text)
    words = ("-i", f"s={path}", "-q", 'stream("s")//a', "-o", str(out))
    found, said = status(command, *words)
    assert found == code, said
    assert (code == 0) == ("error[" not in said)


@pytest.mark.parametrize("command", ["run", "watch"])
@pytest.mark.parametrize(("text", "code"), QUERIES.values(), ids=QUERIES)
def test_queries(command: str, text: str, code: int, tmp_path: Path):
    assert status(command, "-q", text, "-o", str(tmp_path / "out"))[0] == code


@pytest.mark.parametrize("command", ["run", "watch"])
def test_files_and_options(command: str, tmp_path: Path):
    missing = ("-i", f"s={tmp_path / 'missing.xml'}", "-q", 'stream("s")//a')
    assert status(command, *missing)[0] == 2
    assert status(command, "-q", "1", "--no-such-option")[0] == 2
    assert status(command, "-q", "1", "-o", str(tmp_path / "no" / "out"))[0] == 2


NOT_GIVEN = {
    "a stream": 'stream("s")//a',
    "a document": 'doc("s")//a',
    "a name that is computed": 'doc("s" || "")//a',
    "the context item": "//a",
    "a variable": "declare variable $x external; $x//a",
}


@pytest.mark.parametrize("command", ["run", "watch"])
@pytest.mark.parametrize("text", NOT_GIVEN.values(), ids=NOT_GIVEN)
def test_what_is_not_given_is_a_mistake_in_the_command(command: str, text: str, tmp_path: Path):
    (tmp_path / "t.xml").write_text("<a/>")
    for given in ((), ("-i", f"t={tmp_path / 't.xml'}")):
        found, said = status(command, "-q", text, "-o", str(tmp_path / "out"), *given)
        assert found == 2, said


def test_a_query_may_catch_that_an_input_is_not_given(tmp_path: Path):
    text = 'try { doc("s")//a } catch * { $err:code }'
    assert status("run", "-q", text, "-o", str(tmp_path / "out"))[0] == 0
