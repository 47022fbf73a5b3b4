"""The index of intervals gives those that a word holds for, as a loop over all of them does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast.evaluate.time.allen import _TESTS
from xstreamcast.model.instant import NOW
from xstreamcast.operators.relational.joins import interval_index
from xstreamcast.operators.relational.joins.interval_index import (
    IntervalIndex,
    box_of_first,
    box_of_second,
)

CLOCK = 6
spans = st.tuples(st.integers(0, 9), st.one_of(st.integers(0, 4), st.just(NOW))).map(
    lambda pair: (pair[0], NOW if pair[1] == NOW else pair[0] + pair[1])
)
changes = st.lists(st.tuples(st.integers(0, 20), st.one_of(st.none(), spans)), max_size=60)


def at(instant: int) -> int:
    return CLOCK if instant == NOW else instant


def holds(word, one, other) -> bool:
    ends = [np.array([at(t)]) for t in (*one, *other)]
    return bool(_TESTS[word](*ends)[0])


@pytest.mark.parametrize("full", [2, 256])
@settings(max_examples=examples(60), deadline=None)
@given(steps=changes, own=spans, word=st.sampled_from([*_TESTS]))
def test_both_sides_of_every_word(full, steps, own, word):
    module: Any = interval_index
    before, module._FULL = module._FULL, full
    try:
        index, there = IntervalIndex(), dict[int, Any]()
        for key, span in steps:
            if key in there:
                index.remove(there.pop(key), (key,), (key,))
            if span is not None:
                index.add(span, (key,), (key,))
                there[key] = span
    finally:
        module._FULL = before
    begin, end = own[0], at(own[1])
    second = set(index.within(box_of_second(word, begin, end), CLOCK))
    assert second == {(key,) for key, span in there.items() if holds(word, own, span)}
    first = set(index.within(box_of_first(word, begin, end), CLOCK))
    assert first == {(key,) for key, span in there.items() if holds(word, span, own)}
    passed = {(k,) for k, span in there.items() if any(3 <= t <= 5 for t in span)}
    assert set(index.between(3, 5)) == passed
