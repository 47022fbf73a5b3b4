"""Columns against lists of lists: every operation means what the plain loop means."""

from itertools import chain, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.model.atomic import ATOMIC, BOOLEAN, DOUBLE, INTEGER, NODE, STRING, derives
from xstreamcast.model.column import Column, concat_rows, ranges, scatter, stack
from xstreamcast.model.items import Items

ITEM = st.one_of(
    st.tuples(st.just(INTEGER), st.integers(-(2**70), 2**70)),
    st.tuples(st.just(STRING), st.text(max_size=3)),
    st.tuples(st.just(BOOLEAN), st.booleans()),
    st.tuples(st.just(DOUBLE), st.floats(allow_nan=False)),
    st.tuples(st.just(NODE), st.integers(0, 2**40)),
)
ROWS = st.lists(st.lists(ITEM, max_size=3), max_size=6)


def columns_of(n):
    rows = st.lists(st.lists(ITEM, max_size=3), min_size=n, max_size=n)
    return st.lists(rows, min_size=1, max_size=3)


def column(rows):
    flat = [item for row in rows for item in row]
    items = Items.mixed([tag for tag, _ in flat], [value for _, value in flat])
    return Column.from_lengths(items, np.array([len(row) for row in rows], np.int64))


def listed(col):
    flat = list(col.items.pairs())
    bounds = col.bounds().tolist()
    return [flat[a:b] for a, b in pairwise(bounds)]


@given(ROWS)
def test_a_column_holds_the_rows_it_was_made_of(rows):
    assert listed(column(rows)) == rows


@given(ROWS, st.data())
def test_take_picks_rows(rows, data):
    picks = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8)) if rows else []
    taken = column(rows).take(np.array(picks, np.int64))
    assert listed(taken) == [rows[i] for i in picks]


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(
            st.lists(st.lists(ITEM, max_size=3), min_size=n, max_size=n), min_size=1, max_size=3
        )
    )
)
def test_rows_end_to_end_are_the_comma_operator(columns):
    joined = concat_rows([column(rows) for rows in columns])
    assert listed(joined) == [list(chain(*parts)) for parts in zip(*columns, strict=True)]


@given(st.lists(ROWS, min_size=1, max_size=3))
def test_stack_lays_columns_below_each_other(columns):
    assert listed(stack([column(rows) for rows in columns])) == list(chain(*columns))


@given(ROWS, st.randoms(use_true_random=False), st.integers(0, 3))
def test_scatter_puts_every_branch_back_in_its_rows(rows, random, spare):
    places = list(range(len(rows) + spare))
    random.shuffle(places)
    places = places[: len(rows)]
    cut = random.randint(0, len(rows))
    parts = [
        (np.array(places[a:b], np.int64), column(rows[a:b]))
        for a, b in ((0, cut), (cut, len(rows)))
    ]
    expected: list[list[object]] = [[] for _ in range(len(rows) + spare)]
    for place, row in zip(places, rows, strict=True):
        expected[place] = row
    assert listed(scatter(len(rows) + spare, parts)) == expected


@given(ROWS, st.data())
def test_keep_drops_items_and_never_rows(rows, data):
    total = sum(map(len, rows))
    mask = data.draw(st.lists(st.booleans(), min_size=total, max_size=total))
    kept, flags = [], iter(mask)
    for row in rows:
        kept.append([item for item in row if next(flags)])
    assert listed(column(rows).keep(np.array(mask, bool))) == kept


@given(ROWS)
def test_a_loop_over_each_item_returns_to_its_rows(rows):
    col = column(rows)
    assert listed(col.each().regroup(col.offsets)) == rows


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=5))
def test_ranges_run_end_to_end(pairs):
    starts = np.array([s for s, _ in pairs], np.int64)
    lengths = np.array([n for _, n in pairs], np.int64)
    assert ranges(starts, lengths).tolist() == [s + i for s, n in pairs for i in range(n)]


def test_a_constant_is_the_same_in_every_row():
    pair = Items.of(STRING, ["a", "b"])
    assert listed(Column.constant(pair, 2)) == [[(STRING, "a"), (STRING, "b")]] * 2
    assert listed(Column.constant(Items.of(INTEGER, [7]), 3)) == [[(INTEGER, 7)]] * 3


def test_derivation_follows_the_table():
    assert derives(ATOMIC["byte"].tag, INTEGER)
    assert derives(ATOMIC["NCName"].tag, STRING)
    assert not derives(STRING, ATOMIC["NCName"].tag)
