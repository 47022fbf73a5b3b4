"""Deleting a rule never changes an answer: all rules, all but each, each alone, none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from bench import queries
from tests.evaluate.grammar import Scope, documents, flwors, windows
from tests.evaluate.grammar import queries as generated
from tests.rewrite.ways import NONE, answer, assert_no_rule_matters, fires
from xstreamcast.rewrite.rules import RULES

QUERIES = [
    line for line in (Path(__file__).parent / "queries.txt").read_text("utf-8").splitlines() if line
]
DOCUMENT = (
    b'<r><a k="1" m="x">1<b k="1" m="1">2</b><b k="2" m="x"/></a><b k="10" m="1"/><!--n-->'
    b'<a k="2" m="1"><b k="2">x</b><a k="10"><c k="1">2</c><b k="1" m="x">1</b></a></a>'
    b'<c><b k="2.5" m="1"/>x</c><a k="1"/></r>'
)
ODD = b'<r><a k="x" m="1"/><a/><b k="" m="1">1</b><b k="x"/><a k="y"><b k="y" m="x">y</b></a></r>'


@pytest.mark.parametrize("query", QUERIES)
def test_no_rule_changes_an_answer(query: str) -> None:
    assert_no_rule_matters(query, DOCUMENT)
    assert_no_rule_matters(query, ODD)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_fires_somewhere(rule) -> None:
    assert any(fires(query, rule) for query in QUERIES)


@pytest.mark.parametrize("query", [*queries.nine(), *queries.xmark()], ids=lambda q: q.name)
def test_published_queries_answer_alike_with_and_without_rules(query, tiny) -> None:
    assert answer(query.text, tiny[query.kind], RULES) == answer(query.text, tiny[query.kind], NONE)


@given(flwors(Scope()), documents)
def test_generated_loops_answer_alike(query: str, document: str) -> None:
    _same(query, document)


@given(generated(Scope()), documents)
def test_generated_queries_answer_alike(query: str, document: str) -> None:
    _same(query, document)


@given(windows(Scope()), documents)
def test_generated_windows_answer_alike(query: str, document: str) -> None:
    _same(query, document)


def _same(query: str, document: str) -> None:
    given = document.encode()
    assert answer(query, given, RULES) == answer(query, given, NONE)


@pytest.fixture(scope="module")
def tiny() -> dict[str, bytes]:
    """A small document of each kind that the published queries ask."""
    import io

    from bench.generate import write

    made = {}
    for kind in ("auction", "bibliography"):
        sink = io.BytesIO()
        write(kind, 0.002, 1, sink)
        made[kind] = sink.getvalue()
    return made
