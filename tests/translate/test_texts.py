"""Translations as they read: the query of each golden file, below its rule for each strategy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Golden
from tests.oracle import STRATEGIES
from xstreamcast.algebra.translate import translate
from xstreamcast.algebra.translate.needed import QUERY
from xstreamcast.edges.structures import read_structure
from xstreamcast.errors import Error
from xstreamcast.syntax import parse

FILES = sorted((Path(__file__).parent / "texts").glob("*.txt"))
STRUCTURE = read_structure(
    b"""<tag type="snapshot" id="1" name="creditAccounts">
      <tag type="temporal" id="2" name="account">
        <tag type="snapshot" id="3" name="customer"/>
        <tag type="temporal" id="4" name="creditLimit"/>
        <tag type="event" id="5" name="transaction">
          <tag type="snapshot" id="6" name="vendor"/>
          <tag type="temporal" id="7" name="status"/>
          <tag type="snapshot" id="8" name="amount"/>
        </tag>
      </tag>
    </tag>"""
)


def shown(query: str, strategy: str) -> str:
    """The translation without its prolog."""
    text = translate(parse(query), strategy, {"credit": STRUCTURE})  # type: ignore[arg-type]
    return text.partition(QUERY)[2].strip()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_translation_reads_as_written(path: Path, golden: Golden) -> None:
    query = path.read_text("utf-8").partition("----\n")[0]
    golden(path, "\n".join(f"{one}\n{shown(query, one)}\n" for one in STRATEGIES))


def test_the_golden_files_are_there() -> None:
    assert len(FILES) >= 8


def test_what_is_no_xcql_stays_as_written() -> None:
    query = 'declare variable $x := 1;\nfor $y at $i in (1, 2)\nreturn <a b="{ $x }">{ $y }</a>'
    assert translate(parse(query)).endswith(query + "\n")


def test_of_the_prolog_stands_there_what_the_query_needs() -> None:
    assert translate(parse("1 + 1")) == "1 + 1\n"
    lifespan = translate(parse("vtFrom(<a/>)"))
    assert "declare function xsc:cover(" in lifespan
    assert "xsc:interval_projection" not in lifespan
    assert "xsc:get_fillers" not in lifespan
    assert "---- projections" not in lifespan


def test_holes_are_not_followed_without_a_structure() -> None:
    query = parse('stream("credit")//account')
    with pytest.raises(Error, match="the tag structure of stream credit must be known"):
        translate(query, "qac")
    assert "$xsc:credit.view//account" in translate(query, "caq")
