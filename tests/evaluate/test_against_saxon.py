"""Generated queries over generated documents: our answer, or error, is SaxonC-HE's."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.evaluate.grammar import Scope, documents, flwors, nodes, queries, truths, windows

pytest.importorskip("saxonche", reason="the oracle is not installed")

from tests.evaluate.oracle import ours, theirs


@given(queries(Scope()), documents)
def test_a_query_answers_as_the_oracle_does(query: str, document: str) -> None:
    assert ours(query, document) == theirs(query, document)


@given(nodes(Scope()), documents)
def test_a_path_selects_what_the_oracle_selects(query: str, document: str) -> None:
    assert ours(query, document) == theirs(query, document)


@given(truths(Scope()), documents)
def test_a_comparison_is_as_true_as_the_oracle_says(query: str, document: str) -> None:
    asked = f"boolean({query})"
    assert ours(asked, document) == theirs(asked, document)


@given(flwors(Scope()), documents)
def test_clauses_give_the_tuples_of_the_oracle(query: str, document: str) -> None:
    assert ours(query, document) == theirs(query, document)


@given(windows(Scope()), documents)
def test_windows_are_those_of_the_oracle(query: str, document: str) -> None:
    assert ours(query, document) == theirs(query, document)
