"""The law of joins, nesting, picking and mapping: deltas add up to what all rows at once give."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.relational.deltas import accumulated, batches, real_round, total
from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.model.atomic import DOUBLE, INTEGER, STRING, UNTYPED
from xstreamcast.model.delta import Row, RowDelta
from xstreamcast.operators.relational.folds.nest import NestOperator
from xstreamcast.operators.relational.joins.band_join import BandJoinOperator
from xstreamcast.operators.relational.joins.join import JoinOperator
from xstreamcast.operators.relational.orders.positions import PickOperator
from xstreamcast.operators.relational.rows import RowsOperator
from xstreamcast.operators.relational.windows.window import WindowOperator

ONE, TWO, INTO, AT = (p.Variable(n, name) for n, name in enumerate("abip", start=1))
OPS = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
integers = st.integers(-3, 3).map(lambda n: (INTEGER, n))
numbers = st.one_of(integers, st.sampled_from([1.0, 2.5]).map(lambda x: (DOUBLE, x)))
texts = st.sampled_from(["", "a", "b"]).map(lambda t: (STRING, t))
anything = st.one_of(numbers, st.sampled_from(["1", "x"]).map(lambda t: (UNTYPED, t)), texts)


def cells(atoms):
    return st.one_of(st.just(()), st.lists(atoms, min_size=1, max_size=2).map(tuple))


def relation(variable, width=2):
    return c.Rows(c.One(), p.Unit(), (variable,), width)


def holds(make, *inputs):
    """Check the law for an operator with several inputs, and give the rows."""
    step, whole = make(), make()
    longest = max(map(len, inputs))
    ticks = [[one[i] if i < len(one) else {} for one in inputs] for i in range(longest)]
    rows = accumulated([step.apply(real_round(), tick) for tick in ticks])
    assert rows == accumulated([whole.apply(real_round(), [total(one) for one in inputs])])
    return rows


@pytest.mark.parametrize("op", [*OPS])
@settings(max_examples=examples(30), deadline=None)
@given(left=batches(cells(numbers)), right=batches(cells(integers)))
def test_join_gives_no_pair_too_few(op, left, right):
    key = p.JoinKey(p.Var(ONE), p.Var(TWO), True, p.EMPTY, op)
    node = c.Join(relation(ONE), relation(TWO), key, (ONE, TWO), 3)
    rows = holds(lambda: JoinOperator(node), left, right)
    for one, mine in accumulated(left).items():
        for other, theirs in accumulated(right).items():
            pairs = [(a, b) for _, a in mine.cells[0] for _, b in theirs.cells[0]]
            if any(OPS[op](a, b) for a, b in pairs):
                assert (*one, other) in rows


BANDS = st.lists(numbers, max_size=2).map(tuple)


def band_join(lower, upper):
    """Where bands begin and end: the first and the second value of a row."""
    one, two = (p.Filter(p.Var(ONE), p.Const((p.Atom(INTEGER, n),))) for n in (1, 2))
    low, high = (
        p.JoinKey(mine, p.Var(TWO), True, p.EMPTY, op) for mine, op in ((one, lower), (two, upper))
    )
    return c.BandJoin(relation(ONE), relation(TWO), low, high, (ONE, TWO), 3)


@settings(max_examples=examples(80), deadline=None)
@given(
    left=batches(BANDS),
    right=batches(cells(numbers)),
    lower=st.sampled_from(["lt", "le"]),
    upper=st.sampled_from(["gt", "ge"]),
)
def test_bands_give_no_pair_too_few(left, right, lower, upper):
    rows = holds(lambda: BandJoinOperator(band_join(lower, upper)), left, right)
    for one, mine in accumulated(left).items():
        for other, theirs in accumulated(right).items():
            first, second = mine.cells[0][:1], mine.cells[0][1:]
            low = any(OPS[lower](a, b) for _, a in first for _, b in theirs.cells[0])
            high = any(OPS[upper](a, b) for _, a in second for _, b in theirs.cells[0])
            if low and high:
                assert (*one, other) in rows


@settings(max_examples=examples(80), deadline=None)
@given(
    left=batches(st.lists(anything, max_size=2).map(tuple)),
    right=batches(cells(anything)),
)
def test_bands_of_any_types(left, right):
    holds(lambda: BandJoinOperator(band_join("le", "gt")), left, right)


@settings(max_examples=examples(40), deadline=None)
@given(left=batches(cells(anything)), right=batches(cells(anything)))
def test_join_of_any_types(left, right):
    key = p.JoinKey(p.Var(ONE), p.Var(TWO), True, p.EMPTY, "eq")
    node = c.Join(relation(ONE), relation(TWO), key, (ONE, TWO), 3)
    holds(lambda: JoinOperator(node), left, right)


@settings(max_examples=examples(30), deadline=None)
@given(left=batches(cells(integers)), right=batches(cells(integers)))
def test_product(left, right):
    node = c.Join(relation(ONE), relation(TWO), None, (ONE, TWO), 3)
    rows = holds(lambda: JoinOperator(node), left, right)
    assert len(rows) == len(accumulated(left)) * len(accumulated(right))


@pytest.mark.parametrize("fold", ["items", "count", "sum", "avg", "min", "max", "exists", "empty"])
@settings(max_examples=examples(30), deadline=None)
@given(inner=batches(cells(numbers)))
def test_nest(fold, inner):
    call = None if fold == "items" else called(fold, p.Var(TWO))
    folds = ((relation(TWO), c.Fold(call, TWO, INTO)),)
    node = c.Nest(relation(ONE, 1), folds, (ONE, INTO), 1)
    outer = [{(k,): RowDelta(None, Row((k,), (((INTEGER, 1),),))) for k in "ab"}]
    rows = holds(lambda: NestOperator(node), outer, inner)
    assert len(rows) == 2
    if fold == "items":
        for key, row in rows.items():
            own = [r for k, r in accumulated(inner).items() if k[:1] == key]
            ordered = sorted(own, key=lambda r: r.rank)
            assert row.cells[1] == tuple(atom for r in ordered for atom in r.cells[0])


positions = st.lists(
    st.one_of(
        st.just(()),
        st.integers(-1, 5).map(lambda n: ((INTEGER, n),)),
        st.just(((DOUBLE, 1.5),)),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=examples(40), deadline=None)
@given(rows=batches(cells(integers)), places=positions)
def test_pick(rows, places):
    node = c.Pick(relation(ONE), relation(AT, 0), AT, 1, (ONE,), 2)
    given = []
    before = None
    for cell in places:
        new = Row((), (cell,))
        given.append({(): RowDelta(before, new)} if before != new else {})
        before = new
    found = holds(lambda: PickOperator(node), rows, given)
    value = places[-1][0][1] if places[-1] else 0
    for outer in "ab":
        there = sorted((r.rank, k) for k, r in accumulated(rows).items() if k[0] == outer)
        expected = (
            [k for _, k in there[int(value) - 1 : int(value)]] if value in range(1, 9) else []
        )
        assert [k for k in found if k[0] == outer] == expected


@settings(max_examples=examples(40), deadline=None)
@given(rows=batches(cells(integers)), scalars=st.lists(st.integers(-2, 2), min_size=1, max_size=5))
def test_map_filter_and_unnest_with_a_scalar(rows, scalars):
    each = p.ForEach(p.Unit(), TWO, p.Var(ONE))
    where = p.Where(each, p.GeneralCompare("lt", p.Var(TWO), p.Var(AT)))
    let = p.Let(where, INTO, p.Arithmetic("+", p.Var(TWO), p.Var(AT)))
    scalar = relation(AT, 0)
    node = c.Rows(relation(ONE), let, (TWO, INTO), 3, nested=True, scalars=((AT, scalar),))
    given = []
    before = None
    for value in scalars:
        new = Row((), (((INTEGER, value),),))
        given.append({(): RowDelta(before, new)} if before != new else {})
        before = new
    found = holds(lambda: RowsOperator(node), rows, given)
    expected = [
        value + scalars[-1]
        for row in accumulated(rows).values()
        for _, value in row.cells[0]
        if value < scalars[-1]
    ]
    assert sorted(row.cells[1][0][1] for row in found.values()) == sorted(expected)


def boundary(test, current):
    return p.Boundary(test, current)


CURRENT, LAST, WINDOW = (p.Variable(n, name) for n, name in enumerate("clw", start=10))


@pytest.mark.parametrize("kind", ["tumbling", "sliding", "landmark"])
@pytest.mark.parametrize("only", [False, True])
@settings(max_examples=examples(25), deadline=None)
@given(rows=batches(integers.map(lambda atom: (atom,))))
def test_windows(kind, only, rows):
    zero = p.Const((p.Atom(INTEGER, 0),))
    start = boundary(p.GeneralCompare("le", p.Var(CURRENT), zero), CURRENT)
    end = boundary(p.GeneralCompare("gt", p.Var(LAST), zero), LAST)
    window = p.ForWindow(p.Unit(), WINDOW, p.Var(ONE), kind, "first", start, end, only)
    node = c.Window(relation(ONE), 1, ONE, window, (), (WINDOW,), 2)
    found = holds(lambda: WindowOperator(node), rows)
    if kind == "landmark" and only:
        for outer in "ab":
            own = [r for k, r in accumulated(rows).items() if k[0] == outer]
            values = [r.cells[0][0][1] for r in sorted(own, key=lambda r: r.rank)]
            expected = sorted(
                values[a : z + 1]
                for a in range(len(values))
                for z in range(a, len(values))
                if values[a] <= 0 < values[z]
            )
            mine = [row for key, row in found.items() if key[0] == outer]
            assert sorted([v for _, v in row.cells[0]] for row in mine) == expected
