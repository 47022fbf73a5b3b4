"""Values of nodes that stay on the tape: kernels answer as strings would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.errors import Error
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast, castable
from xstreamcast.functions.compare import equal_pairs, general_compare, group_codes
from xstreamcast.functions.numbers.numbers import number
from xstreamcast.model.atomic import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, UNTYPED
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.tape.steps.axes import NodeTest
from xstreamcast.tape.store import Store

texts = st.lists(st.sampled_from(["", "1", " 2 ", "x", "é", "1e0", "NaN", "12.5"]), min_size=1)


def nodes(values: list[str]) -> tuple[Store, Column]:
    """One element for each text, as a column of one row each."""
    store = Store()
    root = store.read("<r>{}</r>".format("".join(f"<v>{v}</v>" for v in values)).encode())
    step = store.step(np.array([root + 1]), "child", NodeTest.element())
    return store, Column(Items.of_nodes(step[1]))


def read(column: Column) -> Column:
    """The same values as plain strings."""
    return Column(Items.of(UNTYPED, column.items.values.tolist()))


@given(texts, st.sampled_from(["=", "!=", "<", ">="]), st.sampled_from(["1", "x", "é", ""]))
def test_comparison_with_a_string(values, op, other):
    store, column = nodes(values)
    lazy, constant = atomize(store, column), Column.constant(Items.of(STRING, [other]), len(values))
    expected = general_compare(op, read(atomize(store, column)), constant)
    assert general_compare(op, lazy, constant).tolist() == expected.tolist()
    assert (
        general_compare(op, constant, lazy).tolist()
        == general_compare(op, constant, read(lazy)).tolist()
    )


@given(st.lists(st.sampled_from(["1", "2.5", "-3", "NaN"]), min_size=1), st.integers(-3, 3))
def test_comparison_with_a_number(values, other):
    store, column = nodes(values)
    constant = Column.constant(Items.of(INTEGER, [other]), len(values))
    got = general_compare("=", atomize(store, column), constant).tolist()
    assert got == [float(v) == other for v in values]


def test_comparison_of_no_number_with_a_number_fails():
    store, column = nodes(["1", "x"])
    with pytest.raises(Error, match='FORG0001: "x" is not a valid xs:double'):
        general_compare("=", atomize(store, column), Column.constant(Items.of(INTEGER, [1]), 2))


@given(texts)
def test_conversion_to_numbers(values):
    store, column = nodes(values)
    lazy = atomize(store, column)
    assert castable(lazy.items, DOUBLE).tolist() == castable(read(lazy).items, DOUBLE).tolist()
    numbers = number(None, lazy).items.values  # type: ignore[arg-type]
    plain = number(None, read(lazy)).items.values  # type: ignore[arg-type]
    assert np.array_equal(numbers, plain, equal_nan=True)


@given(texts, texts)
def test_joins_and_groups(left, right):
    store, column = nodes(left + right)
    lazy = atomize(store, column).items
    a, b = lazy.slice(0, len(left)), lazy.slice(len(left), len(left + right))
    pairs = list(zip(*(side.tolist() for side in equal_pairs(a, b)), strict=True))
    assert pairs == [(i, j) for i, x in enumerate(left) for j, y in enumerate(right) if x == y]
    seen: dict[str, int] = {}
    expected = [seen.setdefault(v, len(seen)) for v in left + right]
    assert group_codes(lazy).tolist() == expected


def test_rows_of_many_nodes_are_joined_by_hash():
    words = [f"w{i}" for i in range(200)]
    store, column = nodes(words + words[150:] + ["only"])
    lazy = atomize(store, column).items
    left = Column(lazy.slice(0, 200), np.array([0, 100, 200], np.int64))
    right = Column(lazy.slice(200, 251), np.array([0, 25, 51], np.int64))
    assert general_compare("=", left, right).tolist() == [False, True]


def test_comments_are_strings_and_the_rest_untyped():
    store = Store()
    root = store.read(b"<r>a<!--c--></r>")
    handles = np.array([root + 1, root + 2, root + 3])
    assert atomize(store, Column(Items.of_nodes(handles))).items.all_tags().tolist() == [
        UNTYPED,
        UNTYPED,
        STRING,
    ]


def test_untyped_meets_each_type_as_that_type():
    store, column = nodes(["2000-01-01"])
    lazy = atomize(store, column)
    date = cast(Items.of(STRING, ["2000-01-01"]), DATE)
    assert general_compare("=", lazy, Column(date)).tolist() == [True]
    with pytest.raises(Error, match="FORG0001"):
        general_compare("=", lazy, Column(Items.of(BOOLEAN, [True])))
