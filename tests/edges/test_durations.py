"""Durations that callers write, in words, as ISO 8601 and as timedelta."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.edges.durations import micros
from xstreamcast.errors import Error

MICROSECOND = timedelta(microseconds=1)


@given(st.timedeltas(timedelta(0), timedelta(days=10_000)))
def test_a_duration_is_the_same_in_every_form(length: timedelta) -> None:
    exact = length // MICROSECOND
    seconds = f"{length.seconds % 60}.{length.microseconds:06}"
    clock = f"T{length.seconds // 3600}H{length.seconds // 60 % 60}M{seconds}S"
    assert micros(length) == exact
    assert micros(f"{exact}us") == exact
    assert micros(f"P{length.days}D{clock}") == exact


@pytest.mark.parametrize(
    ("word", "length"),
    [("30s", 30e6), ("1.5h", 5400e6), ("250ms", 250e3), ("2d", 172_800e6), ("PT5M", 300e6)],
)
def test_words(word: str, length: float) -> None:
    assert micros(word) == length


@pytest.mark.parametrize("word", ["", "x", "5", "1y", "PT", "P", "-PT5M", "P1Y", "P1M", "-1s"])
def test_what_is_no_duration_is_refused(word: str) -> None:
    with pytest.raises(Error, match="a duration must be like 30s, 5m, 2h or PT5M"):
        micros(word)
