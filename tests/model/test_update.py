"""Updates: ranks sort as rows do, and what changes come to is the answer in the order of ranks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.rank_bytes import Descending, Unranked, rank_bytes
from xstreamcast.model.update import RankedAnswer, between

NUMBERS = (
    st.integers()
    | st.floats(allow_nan=False)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.booleans()
)
ALIKE = st.sampled_from([NUMBERS, st.text(), st.binary()])


@st.composite
def ranks(draw: st.DrawFn) -> list[Any]:
    """Some ranks that compare: each part is of one kind."""
    parts = draw(st.lists(ALIKE, min_size=1, max_size=3))
    descends = [draw(st.booleans()) for _ in parts]
    one = st.tuples(*(p.map(Descending) if d else p for p, d in zip(parts, descends, strict=True)))
    whole = st.tuples(one, st.lists(st.integers(0, 3), max_size=3).map(tuple))
    return draw(st.lists(whole, min_size=2, max_size=8))


@given(ranks())
def test_bytes_sort_as_ranks_do(found: list[Any]) -> None:
    a, b, *_ = found
    if a < b:
        assert rank_bytes(a) < rank_bytes(b)
    elif b < a:
        assert rank_bytes(b) < rank_bytes(a)
    else:
        assert rank_bytes(a) == rank_bytes(b)
    assert sorted(found, key=rank_bytes) == sorted(found)


def test_numbers_of_all_kinds_sort_by_value() -> None:
    values = [float("-inf"), -(10**30), -1.5, Decimal("-1.25"), -1, 0, Decimal("1e-9"), 0.5, 1]
    values += [Decimal("1.0000001"), 2, 10, 10**30, float("inf")]
    assert sorted(values, key=rank_bytes) == values
    assert rank_bytes(2) == rank_bytes(2.0) == rank_bytes(Decimal("2.00"))
    with pytest.raises(Unranked):
        rank_bytes((object(),))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30)), max_size=60))
def test_updates_come_to_the_answer(steps: list[tuple[int, int]]) -> None:
    answer, ranked, table = Accumulated(), RankedAnswer(), dict[str, tuple[bytes, str]]()
    for number, (what, at) in enumerate(steps):
        keys = [key for key, _ in answer]
        if what == 0 and keys:
            key = keys[at % len(keys)]
            changes = [Change(0, -1, key, None, answer[key])]
        else:
            after = None if at == 0 or not keys else keys[(at - 1) % len(keys)]
            changes = [Change(0, 1, str(number), after, f"item {number}")]
        for one in changes:
            answer.apply(one)
        for update in ranked.updates(changes):
            if update.item is None:
                del table[update.key]
            else:
                table[update.key] = update.rank, update.item
        ranked = RankedAnswer.of(ranked.ranks, ranked.ticks)
        assert [item for _, item in sorted(table.values())] == answer.items()


def test_there_is_always_a_place_between() -> None:
    low, high = between(None, None), None
    high = between(low, None)
    for _ in range(500):
        high = between(low, high)
        assert low < high
    for _ in range(500):
        low = between(low, high)
        assert low < high
    first = between(None, None)
    for _ in range(100):
        before = between(None, first)
        assert before < first
        first = before
