"""Nodes around units and children of any element: a document in pieces answers as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_law import chunks
from tests.operators.test_law_divided import documents, ended
from xstreamcast.api import compiled, query
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.plans import planned
from xstreamcast.operators.watching.watch import Watch

QUERIES = (
    'count(//%n[%m = "x"]/..)',
    "count(//%n/ancestor::%m)",
    "count(//%n[@k]/ancestor-or-self::*)",
    'exists(//%n[%m = "7"]/ancestor::%m)',
    "empty(//%n/%m/parent::%n)",
    "count(//%n[@k]/ancestor::*//%m)",
    'count(//%n[%m = "x"]/..//%m)',
    "exists(//%n[%m]/ancestor::%m//%n)",
    '//*[%n = "x"]/%m',
    '//*[%n = "x"][@k]/%m',
    "//*[not(%n)]/%m",
    "//*[@k]/%n/%m",
    "count(//*[%n]/%m)",
    "(count(//%n/..), //*[%m]/%n)",
)


@st.composite
def questions(draw):
    names = st.sampled_from(["a", "b", "c", "d"])
    asked = draw(st.sampled_from(QUERIES))
    return asked.replace("%n", draw(names)).replace("%m", draw(names))


def watched(asked: str, pieces: list[bytes]) -> list[str]:
    watch, told = Watch(compiled(asked), {None: "document"}), Accumulated()
    for chunk in pieces:
        watch.on_bytes(None, chunk)
        for change in watch.tick():
            told.apply(change)
    watch.on_end(None)
    for change in watch.tick():
        told.apply(change)
    return told.items()


@settings(deadline=None)
@given(documents(), questions(), st.lists(st.integers(0, 10**6), max_size=8))
def test_what_stands_around_units_is_counted_once(document, asked, cuts):
    expected = ended(lambda: list(query(asked).run(document).lines()))
    assert ended(lambda: watched(asked, list(chunks(document, cuts)))) == expected


# beside what is listed, a count of what is around units is recomputed
@pytest.mark.parametrize("asked", [one for one in QUERIES if not one.startswith("(")])
def test_they_are_computed_while_the_document_is_read(asked):
    program = compiled(asked.replace("%n", "a").replace("%m", "b"))
    plan = planned(program, {}, frozenset({None}), inner=False)
    assert not plan.circuit.whole


@pytest.mark.parametrize("asked", ["//*[. = 'x']/a", "count(//*)", "//*[a]/@k", "//*[.//b]/a"])
def test_what_reads_more_of_an_element_than_its_children_is_not(asked):
    plan = planned(compiled(asked), {}, frozenset({None}), inner=False)
    assert plan.circuit.whole


def test_what_follows_has_all_that_many_pieces_gave():
    entries = [f"<e><v>{i}</v></e>".encode() for i in range(100)]
    told = watched("<r>{ //e[v mod 3 = 0] }</r>", [b"<log>", *entries, b"</log>"])
    assert told == ["<r>" + "".join(e.decode() for e in entries[::3]) + "</r>"]
