"""Texts that are read together are what they are one by one, errors included."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.errors import Error
from xstreamcast.functions.cast import cast, cast_value
from xstreamcast.functions.compare.keys import value_ranks
from xstreamcast.model.atomic import DATE, DECIMAL, INTEGER, STRING, UNTYPED
from xstreamcast.model.items import Items

numbers = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(lambda d: format(d, "f")),
    st.text("0123456789.+- \n", max_size=6),
)
days = st.one_of(st.dates().map(str), st.text("0123456789-Z \n", min_size=9, max_size=11))


def by_cast(texts: list[str], source: int, target: int) -> list[object] | str:
    try:
        found: list[object] = cast(Items.of(source, texts), target).values.tolist()
        return found
    except Error as refused:
        return str(refused)


def one_by_one(texts: list[str], source: int, target: int) -> list[object] | str:
    try:
        return [cast_value(source, text, target) for text in texts]
    except Error as refused:
        return str(refused)


@given(st.lists(numbers, min_size=1, max_size=5), st.sampled_from((STRING, UNTYPED)))
def test_numbers(texts, source):
    for target in (DECIMAL, INTEGER):
        assert by_cast(texts, source, target) == one_by_one(texts, source, target)


@given(st.lists(days, min_size=1, max_size=5))
def test_dates(texts):
    assert by_cast(texts, STRING, DATE) == one_by_one(texts, STRING, DATE)


def test_a_day_that_is_none_and_the_year_before_the_first():
    for text in ("2023-02-29", "0000-01-01", "2023-13-01", "20230101", "2023-W01-1"):
        assert by_cast(["2024-02-29", text], STRING, DATE) == one_by_one(
            ["2024-02-29", text], STRING, DATE
        )


@given(st.lists(st.decimals(-9, 9, places=2) | st.sampled_from([Decimal("1"), Decimal("1.00")])))
def test_ranks_of_decimals(values):
    places = {value: i for i, value in enumerate(sorted(set(values)))}
    assert value_ranks(Items.of(DECIMAL, values), 0).tolist() == [places[one] for one in values]
