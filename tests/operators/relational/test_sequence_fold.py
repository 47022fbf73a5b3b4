"""Folds over runs of a sequence beside the function over the items of the run."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from tests.operators.relational.deltas import real_round
from xstreamcast.algebra import plan as p
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.nodes import Fold
from xstreamcast.model.atomic import DECIMAL, DOUBLE, INTEGER, UNTYPED
from xstreamcast.model.delta import Cell
from xstreamcast.operators.relational.folds.gathered import Gathered
from xstreamcast.operators.relational.folds.sequence import SequenceFold

X, Y = p.Variable(1, "x"), p.Variable(2, "y")
EXACT = st.integers(-9, 9).map(lambda n: (INTEGER, n)) | st.sampled_from(
    [(DECIMAL, Decimal("0.1")), (DECIMAL, Decimal("2.50"))]
)
MIXED = EXACT | st.sampled_from([(DOUBLE, 0.1), (DOUBLE, 1e16), (UNTYPED, "0.3"), (UNTYPED, "7")])
CELLS = st.sampled_from([EXACT, MIXED]).flatmap(lambda one: st.lists(one, max_size=2).map(tuple))


@given(
    st.sampled_from(["count", "exists", "empty", "sum", "avg", "min", "max"]),
    st.lists(st.dictionaries(st.integers(0, 30), st.none() | CELLS, max_size=8), max_size=8),
    st.data(),
)
def test_a_run_gives_what_the_function_gives_over_its_items(name, ticks, data):
    fold = Fold(called(name, p.Var(X)), X, Y)
    found = SequenceFold(fold)
    cells: dict[int, Cell] = {}
    for tick in ticks:
        gone = [(n,) for n in tick if n in cells]
        come = [((n,), cell) for n, cell in tick.items() if cell is not None]
        found.update(gone, come)
        for n, cell in tick.items():
            cells.pop(n, None)
            if cell is not None:
                cells[n] = cell
        first, last = sorted(data.draw(st.tuples(st.integers(0, 30), st.integers(0, 30))))
        whole = Gathered(fold)
        whole.update([], [((n,), (n,), one) for n, one in cells.items() if first <= n <= last])
        assert found.value((first,), (last,), real_round()) == whole.value(real_round())
