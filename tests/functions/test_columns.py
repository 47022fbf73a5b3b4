"""Operations on whole batches: what arrays do equals what single values do."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.functions.ours import item
from tests.functions.values import NUMERIC, value
from xstreamcast.errors import Error
from xstreamcast.functions.atomize import effective_boolean
from xstreamcast.functions.cast import cast, castable, strings
from xstreamcast.functions.compare import (
    compare_pairs,
    equal_pairs,
    general_compare,
    group_codes,
    order_ranks,
    value_compare,
)
from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.model.atomic import DOUBLE, INTEGER, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

OPS = ["=", "!=", "<", "<=", ">", ">="]
small = st.one_of(
    st.tuples(st.just("integer"), st.integers(-3, 3).map(str)),
    st.tuples(st.just("decimal"), st.sampled_from(["-1.5", "0", "0.1", "2.0"])),
    st.tuples(st.just("double"), st.sampled_from(["NaN", "-0", "0.1", "2", "INF"])),
)
words = st.tuples(
    st.sampled_from(["string", "untypedAtomic", "anyURI"]), st.sampled_from(["", "a", "b", "é"])
)
untyped_numbers = st.tuples(st.just("untypedAtomic"), st.sampled_from(["1", " 2 ", "0.1", "NaN"]))


def items(values: list[tuple[str, str]]) -> Items:
    return Items.concat([item(v) for v in values])


def outcome(run: Any) -> Any:
    try:
        return run()
    except Error as wrong:
        return wrong.code


@given(st.lists(st.tuples(value(NUMERIC), value(NUMERIC)), min_size=1), st.sampled_from("+-*"))
def test_mixed_arithmetic_is_the_arithmetic_of_each_pair(pairs, op):
    left, right = items([a for a, _ in pairs]), items([b for _, b in pairs])
    batch = arithmetic(op, left, right)
    single = Items.concat([arithmetic(op, item(a), item(b)) for a, b in pairs])
    assert batch.all_tags().tolist() == single.all_tags().tolist()
    assert strings(batch).tolist() == strings(single).tolist()


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.integers(-(2**63), 2**63 - 1).filter(bool),
    st.sampled_from(["+", "-", "*", "idiv", "mod"]),
)
def test_integers_never_overflow(numbers, other, op):
    right = Items.of(INTEGER, [other] * len(numbers))
    got = arithmetic(op, Items.of(INTEGER, numbers), right).values.tolist()
    exact = {
        "+": lambda a: a + other,
        "-": lambda a: a - other,
        "*": lambda a: a * other,
        "idiv": lambda a: int(Decimal(a) // Decimal(other)),
        "mod": lambda a: a - other * int(Decimal(a) // Decimal(other)),
    }[op]
    assert got == [exact(a) for a in numbers]


def rows_of(domain: st.SearchStrategy[Any], widest: int) -> st.SearchStrategy[Any]:
    return st.lists(st.lists(domain, max_size=widest), min_size=3, max_size=3)


def column(rows: list[list[tuple[str, str]]]) -> Column:
    flat = [v for row in rows for v in row]
    return Column.from_lengths(items(flat), np.array([len(row) for row in rows], np.int64))


def by_pairs(op: str, left: list[list[Any]], right: list[list[Any]]) -> list[bool]:
    return [
        any(general_compare(op, Column(item(a)), Column(item(b)))[0] for a in ls for b in rs)
        for ls, rs in zip(left, right, strict=True)
    ]


@given(st.sampled_from(OPS), rows_of(small, 4), rows_of(small, 4))
def test_general_comparison_of_rows_asks_every_pair(op, left, right):
    assert general_compare(op, column(left), column(right)).tolist() == by_pairs(op, left, right)


@given(
    st.sampled_from(OPS),
    st.sampled_from([(small, small), (words, words), (untyped_numbers, small)]).flatmap(
        lambda sides: st.tuples(*(st.lists(side, min_size=1, max_size=5) for side in sides))
    ),
)
def test_long_rows_are_compared_by_rank_as_by_pair(op, sides):
    # Repeated often enough that the pairs would be many: then ranks decide.
    many = [[(values * 90)[:90]] for values in sides]
    expected = by_pairs(op, [sides[0]], [sides[1]])
    assert general_compare(op, column(many[0]), column(many[1])).tolist() == expected


@given(st.lists(words), st.lists(words))
def test_equal_pairs_are_all_pairs_that_compare_equal(left, right):
    i, j = equal_pairs(items(left), items(right))
    expected = [
        (a, b)
        for a in range(len(left))
        for b in range(len(right))
        if compare_pairs("eq", item(left[a]), item(right[b]))[0]
    ]
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == expected


@given(st.lists(st.one_of(words, small, value(["time", "boolean", "hexBinary"])), min_size=1))
def test_groups_are_the_classes_of_eq(values):
    codes = group_codes(items(values)).tolist()
    exact = all(kind != "double" for kind, _ in values)
    for a, one in zip(codes, values, strict=True):
        for b, other in zip(codes, values, strict=True):
            same = outcome(lambda a=one, b=other: bool(value_compare("eq", item(a), item(b))[0]))
            same = same is True or one[1] == other[1] == "NaN"
            if exact or one[0] == other[0]:
                assert (a == b) == same
    assert codes[0] == 0
    assert set(codes) == set(range(len(set(codes))))


@given(st.lists(st.lists(small, max_size=1), min_size=1), st.booleans())
def test_order_ranks_sort_as_lt_does(rows, empty_greatest):
    col = column(rows)
    ranks = order_ranks(col, empty_greatest=empty_greatest)
    ordered = [rows[i] for i in np.argsort(ranks, kind="stable")]
    flat = [row[0] for row in ordered if row and row[0][1] != "NaN"]
    for a, b in pairwise(flat):
        assert not value_compare("gt", item(a), item(b))[0]
    empties = [i for i, row in enumerate(ordered) if not row]
    edge = range(len(rows) - len(empties), len(rows)) if empty_greatest else range(len(empties))
    assert empties == list(edge)


@given(st.lists(st.text("019.-e x", max_size=4)))
def test_castable_says_whether_cast_succeeds(texts):
    source = Items.of(STRING, texts)
    for tag in (INTEGER, DOUBLE):
        single = [outcome(lambda t=t, tag=tag: cast(Items.of(STRING, [t]), tag)) for t in texts]
        assert castable(source, tag).tolist() == [isinstance(made, Items) for made in single]


def test_effective_boolean_of_rows():
    col = column([[], [("string", "")], [("double", "NaN")], [("untypedAtomic", "x")]])
    assert effective_boolean(None, col).tolist() == [False, False, False, True]  # type: ignore[arg-type]
    with pytest.raises(Error, match="FORG0006"):
        effective_boolean(None, column([[("integer", "1"), ("integer", "1")]]))  # type: ignore[arg-type]


def test_dates_have_no_effective_boolean():
    with pytest.raises(Error, match="FORG0006"):
        effective_boolean(None, column([[("date", "2000-01-01")]]))  # type: ignore[arg-type]


def test_parts_of_dates_have_no_order():
    with pytest.raises(Error, match="XPTY0004"):
        value_compare("lt", item(("gYear", "2000")), item(("gYear", "2001")))
