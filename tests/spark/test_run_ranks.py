"""Bytes that sort as the keys of `order by` do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from xstreamcast.algebra import plan as p
from xstreamcast.functions.compare import order_ranks
from xstreamcast.model.atomic import (
    BOOLEAN,
    DATE_TIME,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    HEX_BINARY,
    INTEGER,
    STRING,
    UNTYPED,
)
from xstreamcast.model.column import Column
from xstreamcast.model.date_time import DateTime
from xstreamcast.model.duration import Duration
from xstreamcast.model.items import Items
from xstreamcast.operators.batch.ranks import classes, met, ranks, told_classes

DECIMALS = st.decimals(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [Decimal(text) for text in ("0", "-0", "1", "1.0", "10", "0.1", "-0.1", "99", "100", "-100")]
)
TEXTS = st.text("aé\0\U0001f600b\uffff", max_size=4)
MOMENTS = st.integers(-(10**6), 10**6)
KINDS: list[tuple[int, st.SearchStrategy[Any]]] = [
    (STRING, TEXTS), (UNTYPED, TEXTS), (BOOLEAN, st.booleans()), (DECIMAL, DECIMALS),
    (INTEGER, st.integers() | st.integers(-(10**30), 10**30)),
    (DOUBLE, st.floats() | st.sampled_from([0.0, -0.0, float("nan")])),
    (HEX_BINARY, st.binary(max_size=3)),
    (DAY_TIME_DURATION, DECIMALS.map(lambda seconds: Duration(0, seconds))),
    (DATE_TIME, st.builds(lambda day, zone: DateTime(day, 0, zone),
                          MOMENTS, st.none() | st.integers(-840, 840))),
]  # fmt: skip
COLUMNS = st.sampled_from(KINDS).flatmap(
    lambda kind: st.lists(st.none() | kind[1], max_size=12).map(lambda rows: (kind[0], rows))
)


def _column(tag: int, rows: list[Any]) -> Column:
    lengths = np.array([one is not None for one in rows], np.int64)
    return Column.from_lengths(Items.of(tag, [one for one in rows if one is not None]), lengths)


@settings(max_examples=examples(600), deadline=None)
@given(COLUMNS, st.booleans(), st.booleans(), st.sampled_from([0, -300]))
@example((DECIMAL, [Decimal("1.10"), Decimal("1.1"), Decimal("-1.1"), None]), True, True, 0)
def test_they_sort_as_the_keys(
    made: tuple[int, list[Any]], descending: bool, greatest: bool, timezone: int
) -> None:
    column = _column(*made)
    key = p.OrderKey(p.Const(()), descending, greatest)
    found = ranks([key], [column], timezone)
    wanted = order_ranks(column, empty_greatest=greatest, timezone=timezone).tolist()
    wanted = [-one for one in wanted] if descending else wanted
    for a, first in zip(found, wanted, strict=True):
        for b, second in zip(found, wanted, strict=True):
            assert (a < b, a == b) == (first < second, first == second)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(TEXTS, st.integers()), max_size=12), st.booleans())
def test_keys_after_each_other(rows: list[tuple[str, int]], descending: bool) -> None:
    columns = [
        _column(STRING, [one for one, _ in rows]),
        _column(INTEGER, [one for _, one in rows]),
    ]
    keys = [p.OrderKey(p.Const(()), descending), p.OrderKey(p.Const(()))]
    found = ranks(keys, columns, 0)
    sign = -1 if descending else 1
    texts = {text: sign * at for at, text in enumerate(sorted({text for text, _ in rows}))}
    wanted = sorted(range(len(rows)), key=lambda i: (texts[rows[i][0]], rows[i][1]))
    assert sorted(range(len(rows)), key=lambda i: found[i]) == wanted


def test_classes_that_do_not_agree_are_seen() -> None:
    exact, double = _column(DECIMAL, [Decimal(1)]), _column(DOUBLE, [1.0])
    whole, nothing = _column(INTEGER, [1]), _column(DOUBLE, [])
    told = [told_classes(classes([one])) for one in (exact, whole, nothing)]
    assert [len(one) for one in met(told)] == [1]
    assert [len(one) for one in met([*told, told_classes(classes([double]))])] == [2]
