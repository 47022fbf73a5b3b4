"""The law of folds over rows between two values, and over rows that agree on others, too."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.relational.deltas import accumulated, batches, real_round, total
from tests.operators.relational.test_range_fold import expected
from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.model.atomic import DOUBLE, INTEGER, STRING, UNTYPED
from xstreamcast.operators.relational.joins.band_index import BandIndex
from xstreamcast.operators.relational.joins.range_fold_by import RangeFoldBy

MINE, THEIRS, INTO = (p.Variable(n, name) for n, name in enumerate("mti", start=1))
OPS = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
FOLDS = ("count", "exists", "sum", "min", "max")
numbers = st.lists(st.integers(-4, 4), max_size=3)


# A row holds numbers: what it compares by is the first, the second or all of them. The language
# takes them apart, so that the plans are those of a query.
def nth(variable: p.Variable, n: int) -> p.Expression:
    return p.Filter(p.Var(variable), p.Const((p.Atom(INTEGER, n),)))


def key(op: Any, mine: p.Expression, theirs: p.Expression) -> p.JoinKey:
    return p.JoinKey(mine, theirs, True, p.EMPTY, op)


def relation(variable: p.Variable) -> c.Rows:
    return c.Rows(c.One(), p.Unit(), (variable,), 2)


ONE, TWO, THREE = (nth(MINE, n) for n in (1, 2, 3))
VALUE, AGREED = nth(THEIRS, 1), nth(THEIRS, 2)


def made(fold: str, lower: str, upper: str | None, equal: p.Expression | None, agreed=AGREED):
    first = key(lower, ONE, VALUE)
    second = None if upper is None else key(upper, TWO, VALUE)
    by = () if equal is None else (key("eq", equal, agreed),)
    return c.RangeFold(
        relation(MINE), relation(THEIRS), first, c.Fold(called(fold, p.Var(THEIRS)), THEIRS, INTO),
        (MINE, INTO), 2, upper=second, equal=by,
    )  # fmt: skip


def holds(node: c.RangeFold, outer, inner):
    """Deltas add up to what all rows at once give; a snapshot in between changes nothing."""
    step = RangeFoldBy(node)
    longest = max(len(outer), len(inner))
    ticks = [[d[i] if i < len(d) else {} for d in (outer, inner)] for i in range(longest)]
    rows = accumulated([step.apply(real_round(), tick) for tick in ticks])
    whole = RangeFoldBy(node).apply(real_round(), [total(outer), total(inner)])
    assert repr(rows) == repr({one: accumulated([whole])[one] for one in rows})
    assert len(rows) == len(accumulated(outer))
    return rows


def values(cell):
    return [value for _, value in cell]


def at(cell, n: int):
    return values(cell)[n - 1 : n]


def members(inner, test):
    found = sorted((one.rank, one.cells[0]) for one in accumulated(inner).values())
    return [value for _, cell in found if test(cell) for value in values(cell)]


cells = numbers.map(lambda given: tuple((INTEGER, n) for n in given))


@pytest.mark.parametrize("fold", FOLDS)
@settings(max_examples=examples(40), deadline=None)
@given(
    outer=batches(cells),
    inner=batches(cells),
    lower=st.sampled_from(["lt", "le"]),
    upper=st.sampled_from(["gt", "ge"]),
)
def test_rows_between_two_values(fold, outer, inner, lower, upper):
    for row in holds(made(fold, lower, upper, None), outer, inner).values():
        mine = row.cells[0]

        def between(cell, mine=mine):
            low = any(OPS[lower](a, b) for a in at(mine, 1) for b in at(cell, 1))
            return low and any(OPS[upper](a, b) for a in at(mine, 2) for b in at(cell, 1))

        assert row.cells[1] == expected(fold, members(inner, between))


@pytest.mark.parametrize("upper", [None, "ge"])
@settings(max_examples=examples(60), deadline=None)
@given(
    outer=batches(cells),
    inner=batches(cells),
    fold=st.sampled_from(FOLDS),
    several=st.booleans(),
    lower=st.sampled_from(["lt", "le"]),
)
def test_rows_that_agree(upper, outer, inner, fold, several, lower):
    """`several`: rows may have more than one value on either side that must be equal."""
    equal, agreed = (p.Var(MINE), p.Var(THEIRS)) if several else (THREE, AGREED)
    for row in holds(made(fold, lower, upper, equal, agreed), outer, inner).values():
        mine = row.cells[0]

        def compares(cell, mine=mine):
            same = (values(mine), values(cell)) if several else (at(mine, 3), at(cell, 2))
            low = any(OPS[lower](a, b) for a in at(mine, 1) for b in at(cell, 1))
            high = upper is None or any(a >= b for a in at(mine, 2) for b in at(cell, 1))
            return low and high and bool(set(same[0]) & set(same[1]))

        assert row.cells[1] == expected(fold, members(inner, compares))


mixed = st.one_of(
    st.integers(-2, 2).map(lambda n: (INTEGER, n)),
    st.sampled_from([0.0, 1.5, float("nan"), 2.0**53]).map(lambda x: (DOUBLE, x)),
    st.just((INTEGER, 2**53 + 1)),
)


@pytest.mark.parametrize("fold", ["count", "sum"])
@settings(max_examples=examples(60), deadline=None)
@given(
    outer=batches(st.lists(mixed, max_size=3).map(tuple)),
    inner=batches(st.lists(mixed, max_size=2).map(tuple)),
    upper=st.sampled_from([None, "gt"]),
)
def test_numbers_of_several_types(fold, outer, inner, upper):
    holds(made(fold, "le", upper, THREE), outer, inner)


texts = st.one_of(
    st.sampled_from(["", "a", "b"]).map(lambda t: (STRING, t)),
    st.sampled_from(["a", "b", "1"]).map(lambda t: (UNTYPED, t)),
)


@settings(max_examples=examples(60), deadline=None)
@given(
    outer=batches(st.lists(texts, max_size=3).map(tuple)),
    inner=batches(st.lists(texts, max_size=2).map(tuple)),
    upper=st.sampled_from([None, "gt"]),
)
def test_texts(outer, inner, upper):
    holds(made("count", "le", upper, THREE), outer, inner)


bands = st.tuples(st.booleans(), st.integers(0, 30), st.integers(-3, 9))


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(bands, max_size=700), st.integers(-1, 41))
def test_bands_around_a_value(changes, value):
    index = BandIndex()
    there: dict[int, Any] = {}
    for number, (adds, low, more) in enumerate(changes):
        if adds or not there:
            there[number] = (low, (number,), (number,), low + more)
            index.add(there[number])
        else:
            index.remove(there.pop(min(there)))
    found = sorted(index.around(value))
    assert found == [(n,) for n, (low, _, _, high) in there.items() if low <= value <= high]
    filled = BandIndex()
    filled.fill(there.values())
    assert sorted(filled.around(value)) == found
