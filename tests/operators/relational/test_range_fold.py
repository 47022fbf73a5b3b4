"""The law of folds over rows that compare by order; `evaluate` is a plain loop over all pairs."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.relational.deltas import accumulated, batches, real_round, total
from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.model.atomic import BOOLEAN, DOUBLE, INTEGER, STRING, UNTYPED
from xstreamcast.operators.relational.folds.index import FoldIndex
from xstreamcast.operators.relational.joins.range_fold import RangeFoldOperator

LEFT, RIGHT, INTO = (p.Variable(n, name) for n, name in enumerate("lri", start=1))
OPS = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
FOLDS = ("count", "exists", "empty", "sum", "avg", "min", "max")

integers = st.integers(-3, 3).map(lambda n: (INTEGER, n))
doubles = st.sampled_from([0.0, 1.0, 2.5, -1.5, float("nan")]).map(lambda x: (DOUBLE, x))
untyped = st.sampled_from(["0", "1", "2.5", "-3", " 2 "]).map(lambda t: (UNTYPED, t))
texts = st.sampled_from(["", "a", "b", "ab"]).map(lambda t: (STRING, t))


def cells(atoms):
    return st.one_of(st.just(()), st.lists(atoms, min_size=1, max_size=2).map(tuple))


def relation(variable):
    return c.Rows(c.One(), p.Unit(), (variable,), 2)


def made(op: Any, fold: str, cap: int | None = None) -> RangeFoldOperator:
    key = p.JoinKey(p.Var(LEFT), p.Var(RIGHT), True, p.EMPTY, op)
    one = c.Fold(called(fold, p.Var(RIGHT)), RIGHT, INTO)
    return RangeFoldOperator(
        c.RangeFold(relation(LEFT), relation(RIGHT), key, one, (LEFT, INTO), 2, cap=cap)
    )


def steps(one, other):
    longest = max(len(one), len(other))
    return [[d[i] if i < len(d) else {} for d in (one, other)] for i in range(longest)]


def holds(op, fold, outer, inner, cap=None):
    step = made(op, fold, cap)
    rows = accumulated([step.apply(real_round(), pair) for pair in steps(outer, inner)])
    whole = made(op, fold, cap).apply(real_round(), [total(outer), total(inner)])
    assert repr(rows) == repr({key: accumulated([whole])[key] for key in rows})
    assert len(rows) == len(accumulated(outer))
    return rows


@pytest.mark.parametrize("fold", FOLDS)
@settings(max_examples=examples(40), deadline=None)
@given(outer=batches(cells(integers)), inner=batches(cells(integers)), op=st.sampled_from([*OPS]))
def test_numbers(fold, outer, inner, op):
    rows = holds(op, fold, outer, inner)
    for row in rows.values():
        mine = [value for _, value in row.cells[0]]
        found = [
            (one.rank, [value for _, value in one.cells[0]]) for one in accumulated(inner).values()
        ]
        compared = [
            theirs
            for _, theirs in sorted(found)
            if any(OPS[op](a, b) for a in mine for b in theirs)
        ]
        assert row.cells[1] == expected(fold, [value for own in compared for value in own])


def expected(fold, values):
    match fold:
        case "count":
            return ((INTEGER, len(values)),)
        case "exists" | "empty":
            return ((BOOLEAN, bool(values) == (fold == "exists")),)
        case "sum":
            return ((INTEGER, sum(values)),)
        case "min" | "max":
            return ((INTEGER, min(values) if fold == "min" else max(values)),) if values else ()
        case _:
            return AnyValue()


class AnyValue:
    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize("fold", ["count", "sum", "max"])
@settings(max_examples=examples(40), deadline=None)
@given(
    outer=batches(cells(st.one_of(integers, doubles, untyped))),
    inner=batches(cells(st.one_of(integers, doubles))),
    op=st.sampled_from([*OPS]),
)
def test_numbers_of_several_types(fold, outer, inner, op):
    holds(op, fold, outer, inner)


@settings(max_examples=examples(40), deadline=None)
@given(
    outer=batches(cells(st.one_of(texts, untyped))),
    inner=batches(cells(untyped)),
    op=st.sampled_from([*OPS]),
)
def test_texts(outer, inner, op):
    holds(op, "count", outer, inner)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=200), st.integers(-1, 41))
def test_the_index_adds_what_stands_before_and_behind(changes, bound):
    index, there = FoldIndex(operator.add, 0), dict[int, int]()
    for adds, value in changes:
        if adds and value not in there:
            index.add((value,), 3 * value + 1)
            there[value] = 3 * value + 1
        elif not adds and value in there:
            index.remove((value,))
            del there[value]
    assert len(index) == len(there)
    assert index.below((bound,)) == sum(v for k, v in there.items() if k < bound)
    assert index.above((bound,)) == sum(v for k, v in there.items() if k >= bound)
    assert index.keys_below((bound,)) == [(k,) for k in sorted(there) if k < bound]
    assert index.keys_above((bound,)) == [(k,) for k in sorted(there) if k >= bound]


@settings(max_examples=examples(100), deadline=None)
@given(
    outer=batches(cells(integers)),
    inner=batches(cells(integers)),
    op=st.sampled_from([*OPS]),
    cap=st.integers(1, 4),
)
def test_a_count_that_goes_no_further(outer, inner, op, cap):
    rows = holds(op, "count", outer, inner, cap)
    for key, row in holds(op, "count", outer, inner).items():
        ((_, count),) = row.cells[1]
        assert rows[key].cells[1] == ((INTEGER, min(count, cap)),)


def test_a_count_that_goes_no_further_touches_few_rows():
    from xstreamcast.model.delta import Row, RowDelta

    def rows(values):
        return {("a", n): RowDelta(None, Row(("a", n), (((INTEGER, n),),))) for n in values}

    step = made("lt", "count", 3)
    step.apply(real_round(), [rows(range(5000)), rows(range(5000))])
    more = rows([5000])
    assert sorted(key[1] for key in step.apply(real_round(), [{}, more])) == [4997, 4998, 4999]


def test_a_new_inner_row_touches_the_rows_that_cover_it_only():
    from xstreamcast.model.delta import Row, RowDelta

    step = made("gt", "exists")
    outer = {("a", n): RowDelta(None, Row(("a", n), (((INTEGER, n),),))) for n in range(5000)}
    first = {("a", 0): RowDelta(None, Row(("a", 0), (((INTEGER, 10),),)))}
    step.apply(real_round(), [outer, first])
    more = {("a", 1): RowDelta(None, Row(("a", 1), (((INTEGER, 7),),)))}
    assert sorted(key[1] for key in step.apply(real_round(), [{}, more])) == [8, 9, 10]
