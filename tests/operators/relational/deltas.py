"""Generated deltas of a relation, and what an operator's deltas add up to."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

from hypothesis import strategies as st

from xstreamcast.algebra import plan as p
from xstreamcast.api import compiled
from xstreamcast.circuit import nodes as c
from xstreamcast.model.atomic import DECIMAL, DOUBLE, INTEGER
from xstreamcast.model.delta import Delta, Key, Row, RowDelta
from xstreamcast.operators.relational.tick import Round
from xstreamcast.operators.units.evaluating import EvaluationContext
from xstreamcast.tape.names import Names

_PROGRAM = compiled("1")
integers = st.integers(-3, 3).map(lambda n: (INTEGER, n))
decimals = st.sampled_from(["0", "1", "2.5", "-1.5"]).map(lambda t: (DECIMAL, Decimal(t)))
doubles = st.sampled_from([0.0, -0.0, 1.0, 2.5, float("inf")]).map(lambda x: (DOUBLE, x))
cells = st.one_of(st.just(()), st.tuples(st.one_of(integers, decimals, doubles)))


def a_round() -> Round:
    """A round in which no unit is read."""
    return Round(cast(Any, None), cast(Any, None), frozenset(), False)


def real_round() -> Round:
    """A round in which expressions can be evaluated, and no unit is read."""
    asking = EvaluationContext(_PROGRAM, Names())
    return Round(asking, lambda source, keys: [], frozenset(), False)


@st.composite
def batches(draw, values=cells) -> list[Delta]:
    """Inserts, changes, removals and new ranks of rows in two outer rows."""
    rows: dict[Key, Row] = {}
    out: list[Delta] = []
    for _ in range(draw(st.integers(1, 6))):
        delta: Delta = {}
        chosen = st.tuples(st.sampled_from("ab"), st.integers(0, 5))
        for key in draw(st.lists(chosen, unique=True, max_size=5)):
            old, new = rows.get(key), None
            if old is None or draw(st.integers(0, 2)):
                rank = (key[0], (draw(st.integers(0, 4)), key[1]))
                new = Row(rank, (draw(values),))
            delta[key] = RowDelta(old, new)
            rows.pop(key, None)
            if new is not None:
                rows[key] = new
        out.append(delta)
    return out


def total(deltas: list[Delta]) -> Delta:
    """One delta from nothing to what all of them together give."""
    rows = accumulated(deltas)
    return {key: RowDelta(None, row) for key, row in rows.items()}


def accumulated(deltas: list[Delta]) -> dict[Key, Row]:
    """The rows after all deltas; each must take away what was there."""
    rows: dict[Key, Row] = {}
    for delta in deltas:
        for key, (old, new) in delta.items():
            assert rows.pop(key, None) == old, f"{key}: {old} was not there"
            if new is not None:
                rows[key] = new
    return rows


VALUE = p.Variable(1, "value")


def source() -> c.Node:
    """A relation with one column."""
    return c.Rows(c.One(), p.Unit(), (VALUE,), 2)
