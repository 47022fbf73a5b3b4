"""The law of each operator: its deltas add up to what it gives for all rows at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.relational.deltas import (
    VALUE,
    a_round,
    accumulated,
    batches,
    real_round,
    source,
    total,
)
from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.operators.relational.folds.folds import fold_state
from xstreamcast.operators.relational.groups.group import GroupOperator
from xstreamcast.operators.relational.orders.order import OrderOperator
from xstreamcast.operators.relational.orders.positions import (
    NumberOperator,
    SliceOperator,
    UnionOperator,
)

AT, SIZE, KEY, FOLDED = (p.Variable(n, name) for n, name in enumerate("psgf", start=2))
SLICES = ((1, 1), (1, 3), (2, None), (3, 4), (-1, None), (-2, -1), (2, 1))


def holds(make, deltas):
    """Check the law, and give the rows."""
    step, whole = make(), make()
    rows = accumulated([step.apply(a_round(), [delta]) for delta in deltas])
    assert rows == accumulated([whole.apply(a_round(), [total(deltas)])])
    return rows


def in_outer(rows, outer):
    return sorted((row.rank, key) for key, row in rows.items() if key[0] == outer)


@settings(max_examples=examples(60), deadline=None)
@given(batches(), st.sampled_from(SLICES))
def test_slice(deltas, bounds):
    rows = holds(
        lambda: SliceOperator(c.Slice(source(), 1, bounds[0], bounds[1], (VALUE,), 2)), deltas
    )
    first, last = bounds
    if first > 0:
        for outer in "ab":
            there = in_outer(accumulated(deltas), outer)
            assert in_outer(rows, outer) == there[first - 1 : last]


@settings(max_examples=examples(60), deadline=None)
@given(batches(), st.booleans())
def test_number(deltas, sized):
    size = SIZE if sized else None
    columns = (VALUE, AT, SIZE) if sized else (VALUE, AT)
    rows = holds(lambda: NumberOperator(c.Number(source(), 1, AT, size, columns, 2)), deltas)
    for outer in "ab":
        found = [rows[key].cells[1][0][1] for _, key in in_outer(rows, outer)]
        assert found == list(range(1, len(found) + 1))


@settings(max_examples=examples(80), deadline=None)
@given(batches(), st.booleans(), st.booleans())
def test_order(deltas, descending, greatest):
    keys = (c.SortKey(VALUE, descending, greatest),)
    rows = holds(lambda: OrderOperator(c.Order(source(), 1, keys, (VALUE,), 2)), deltas)
    for outer in "ab":
        cells = [rows[key].cells[0] for _, key in in_outer(rows, outer)]
        values = [float(cell[0][1]) for cell in cells if cell]
        assert values == sorted(values, reverse=descending)
        empties = [not cell for cell in cells]
        assert empties == sorted(empties, reverse=greatest == descending)


@pytest.mark.parametrize("fold", ["items", "count", "exists", "empty"])
@settings(max_examples=examples(60), deadline=None)
@given(deltas=batches())
def test_group(fold, deltas):
    call = None if fold == "items" else called(fold, p.Var(VALUE))
    folds = (c.Fold(call, VALUE, FOLDED),)
    node = c.Group(source(), 1, ((VALUE, KEY),), folds, (), (KEY, FOLDED), 2)
    rows = holds(lambda: GroupOperator(node), deltas)
    for outer in "ab":
        members = [row.cells[0] for key, row in accumulated(deltas).items() if key[0] == outer]
        groups = {cell[0][1] if cell else None for cell in members}
        assert sum(key[0] == outer for key in rows) == len(groups)


@settings(max_examples=examples(60), deadline=None)
@given(batches(), batches())
def test_union(one, other):
    node = c.Union((source(), source()), 1, (VALUE,), 2)
    step = UnionOperator(node)
    longest = max(len(one), len(other))
    pairs = [[d[i] if i < len(d) else {} for d in (one, other)] for i in range(longest)]
    rows = accumulated([step.apply(a_round(), pair) for pair in pairs])
    assert rows == accumulated([UnionOperator(node).apply(a_round(), [total(one), total(other)])])
    assert len(rows) == len(accumulated(one)) + len(accumulated(other))


@settings(max_examples=examples(60), deadline=None)
@given(batches(), st.sampled_from(["count", "sum", "max", "string-join"]))
def test_a_fold_that_counts_rows_once(deltas, name):
    """Rows in pairs: of those that agree in their first part, one counts."""
    fold = c.Fold(called(name, p.Var(VALUE)), VALUE, FOLDED, once=(1, 2))
    plain, once = fold_state(replace(fold, once=None)), fold_state(fold)
    for delta in deltas:
        gone = [(old.rank, key, old.cells[0]) for key, (old, _) in delta.items() if old]
        come = [(new.rank, key, new.cells[0]) for key, (_, new) in delta.items() if new]
        pairs = range(1, 3)
        plain.update([(r[1:], k[1:], v) for r, k, v in gone if k[0] == "a"],
                     [(r[1:], k[1:], v) for r, k, v in come if k[0] == "a"])  # fmt: skip
        once.update(
            [((*r, n), (*k, n), v) for r, k, v in gone if k[0] == "a" for n in pairs],
            [((*r, n), (*k, n), v) for r, k, v in come if k[0] == "a" for n in pairs],
        )
        assert once.value(real_round()) == plain.value(real_round())
