"""Errors: the table, the places, and how each is shown (tests/corpus/errors/*.err)."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import RULE, Golden
from xstreamcast.errors import (
    CODES,
    DataPlace,
    Error,
    InputError,
    Place,
    QueryError,
    Source,
    UsageError,
    error,
)

CASES = sorted((Path(__file__).parent / "corpus" / "errors").glob("*.err"))


def described(text: str) -> Error:
    """The error that the upper part of a golden file describes."""
    head, _, body = text.partition("source\n")
    said = dict(line.split(" ", 1) for line in head.splitlines() if line)
    return error(said["code"], said.get("message"), at=place(said, body), hint=said.get("hint"))


def place(said: dict[str, str], body: str) -> Place | None:
    text = body.encode().decode("unicode_escape") if said.get("escaped") else body
    if "at" in said:
        start = text.rindex(said["at"])
        return Source(said["name"], text).place((start, start + len(said["at"])))
    if "stream" in said:
        numbers = {key: int(said[key]) for key in ("offset", "line", "column") if key in said}
        line = text.splitlines()[numbers["line"] - 1] if text else None
        return DataPlace(said["stream"], said.get("fragment"), **numbers, source_line=line)
    return None


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_an_error_is_shown_as_its_golden_file_says(path: Path, golden: Golden) -> None:
    golden(path, described(path.read_text("utf-8").partition(RULE)[0]).render())


def test_there_are_golden_files_for_queries_and_for_data() -> None:
    assert len(CASES) >= 8


def test_a_painted_error_is_the_plain_one_with_colours() -> None:
    shown = error("XPST0008", at=Source("q.xq", "1 + $x").place((4, 6)), hint="declare it")
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown.render(color=True)) == shown.render()
    assert "\x1b[" in shown.render(color=True)
    assert "\x1b[" not in shown.render()


@pytest.mark.parametrize(
    ("code", "kind", "status"),
    [
        ("XPST0003", QueryError, 3),
        ("XQST0033", QueryError, 3),
        ("XPDY0002", QueryError, 1),
        ("FOAR0001", QueryError, 1),
        ("XPTY0004", QueryError, 1),
        ("XSCS0001", QueryError, 3),
        ("XSCX0001", InputError, 4),
        ("XSCU0001", UsageError, 2),
    ],
)
def test_the_table_chooses_class_and_exit_code(code: str, kind: type[Error], status: int) -> None:
    made = error(code)
    assert type(made) is kind
    assert made.exit_status == status
    assert made.message == CODES[code][1]


def test_a_type_error_found_while_compiling_is_static() -> None:
    assert error("XPTY0004", static=True).exit_status == 3


def test_a_code_that_is_not_in_the_table_must_be_the_querys_own() -> None:
    with pytest.raises(ValueError, match="XSCX9999"):
        error("XSCX9999")
    own = error("too-hot", "no", qname=("urn:mine", "too-hot"), value=[451])
    assert isinstance(own, QueryError)
    assert (own.qname, own.value, own.exit_status) == (("urn:mine", "too-hot"), [451], 1)


def test_sentences_are_lower_case_without_full_stop() -> None:
    names = ("XQuery", "XML", "JSON", "NaN", "Spark")
    for code, (_, sentence) in CODES.items():
        assert re.fullmatch(r"[A-Z]{4}\d{4}", code)
        assert sentence[0].islower() or sentence.startswith(names), sentence
        assert not sentence.endswith("."), sentence


def test_an_error_survives_the_way_to_another_process() -> None:
    made = error("FOER0000", "no", at=DataPlace("s", 7, 3), hint="h", qname=("", "x"), value=1)
    back = pickle.loads(pickle.dumps(made))
    assert type(back) is QueryError
    assert vars(back) == vars(made)
    assert back.render() == made.render()


def test_a_place_is_added_once_and_never_moved() -> None:
    first, second = DataPlace("a"), DataPlace("b")
    made = error("XPDY0002").located(None).located(first).located(second)
    assert made.place == first


@given(st.text(st.sampled_from("ab\n\r\tü漢"), max_size=30), st.data())
def test_a_place_leads_back_to_the_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = Source("q", text).place((start, end))
    lines = text.split("\n")
    assert sum(len(line) + 1 for line in lines[: found.line - 1]) + found.column - 1 == start
    assert lines[found.line - 1].rstrip("\r") == found.source_line


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_whatever_the_text_an_error_is_shown_in_few_plain_lines(
    text: str, start: int, length: int
) -> None:
    shown = error("XPST0003", at=Source("q", text).place((start, start + length))).render()
    assert len(shown.split("\n")) == 4
    assert all(len(line) < 220 for line in shown.split("\n"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
    assert shown.endswith("^")
