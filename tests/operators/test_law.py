"""The law: at every instant the accumulated answer is the query asked afresh."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.watched import Watched
from tests.streams_strategies import Case, cases
from xstreamcast.errors import Error


def chunks(wire: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % len(wire) for cut in cuts), len(wire)]
    return [wire[a:b] for a, b in itertools.pairwise(places)]


@settings(deadline=None)
@given(cases(), st.lists(st.integers(0, 10**6), max_size=6))
def test_the_accumulated_answer_is_the_query_asked_afresh(case: Case, cuts: list[int]):
    for query in case.queries:
        following = Watched(query)
        for chunk in chunks(case.wire, cuts):
            following.feed("s", chunk)
            expected = following.afresh()
            if expected is not None:
                assert following.told.items() == expected, query
        try:
            following.end()
        except Error:
            assert following.afresh() is None, query
        else:
            assert following.told.items() == following.afresh(), query
