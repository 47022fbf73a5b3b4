"""The first n rows of an order over documents: equal to those of all rows, and no others kept."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.relational.deltas import VALUE, a_round, accumulated
from tests.operators.relational.test_growing_group import ODD_ENTRIES, Log, element
from xstreamcast.algebra import plan as p
from xstreamcast.api import compiled
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.show.operators import show_circuit
from xstreamcast.model.atomic import DECIMAL, DOUBLE, FLOAT, INTEGER, STRING, UNTYPED
from xstreamcast.model.delta import Row, RowDelta
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.relational.orders.order import OrderOperator
from xstreamcast.operators.relational.orders.top_rows import TopRows
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.plans import planned

NAN, INF = float("nan"), float("inf")
SECOND = p.Variable(2, "second")
EXACT = st.one_of(
    st.sampled_from([0, 1, -1, 5, 2**53, 2**53 + 1, 2**70]).map(lambda n: (INTEGER, n)),
    st.sampled_from(["0", "1.5", "5", "-1.0"]).map(lambda t: (DECIMAL, Decimal(t))),
)
INEXACT = st.one_of(
    st.sampled_from([0.0, -0.0, 1.5, NAN, INF, -INF]).map(lambda x: (DOUBLE, x)),
    st.sampled_from([0.0, 1.5, NAN]).map(lambda x: (FLOAT, x)),
)
TEXT = st.one_of(
    st.sampled_from(["", "a", "b", "10", "9"]).map(lambda t: (STRING, t)),
    st.sampled_from(["a", "c"]).map(lambda t: (UNTYPED, t)),
)


@st.composite
def rows_that_come(draw):
    """Rows of two columns, in batches; wherever they stand, they stay."""
    cells = [
        st.one_of(st.just(()), st.tuples(draw(st.sampled_from([EXACT, INEXACT, TEXT]))))
        for _ in range(2)
    ]
    places = iter(draw(st.permutations(range(24))))
    return [
        {
            (str(at), 0): RowDelta(None, Row((at, 0), tuple(draw(cell) for cell in cells)))
            for at in (next(places) for _ in range(draw(st.integers(0, 6))))
        }
        for _ in range(draw(st.integers(1, 4)))
    ]


def keys_of(flags):
    return tuple(
        c.SortKey(column, *way) for column, way in zip((VALUE, SECOND), flags, strict=False)
    )


WAYS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=2)


@settings(max_examples=examples(200), deadline=None)
@given(rows_that_come(), WAYS, st.integers(1, 5))
def test_the_first_rows_are_those_of_an_order_of_all(deltas, ways, limit):
    source = c.Rows(c.One(), p.Unit(), (VALUE, SECOND), 2)
    node = c.Order(source, 0, keys_of(ways), (VALUE,), 2)
    top = TopRows(c.Order(source, 0, keys_of(ways), (VALUE,), 2, limit))
    every = OrderOperator(node)
    shown, made = [], []
    for delta in deltas:
        shown.append(top.apply(a_round(), [delta]))
        made.append(every.apply(a_round(), [delta]))
        rows = accumulated(made)
        first = sorted(rows, key=lambda key: rows[key].rank)[:limit]
        found = accumulated(shown)
        assert sorted(found, key=lambda key: found[key].rank) == first
        assert len(top._rows) == len(top._made) == len(first)


ORDERS = (
    "number($e/@v)",
    "number($e/@v) descending",
    "number($e/@v) descending empty greatest, $e/@k",
    "number($e/@v) empty least, string($e/@k) descending",
    "$e/@k descending empty greatest",
    "$e/@k, number($e/@v) descending",
    "count($e/@k) + 1",
    "string-length($e/@k) descending, number($e/@v)",
    "$e/@v[. castable as xs:double] * 2 descending",
)
RESULTS = (
    "$e",
    "<x>{$e/@*}</x>",
    "$e/@v/string()",
    "string($e/@v)",
    "($e/@k, $e/@v) ! string()",
    "if ($e/@k = 'a') then $e else ()",
)
FIRST = (
    "({})[position() le 3]",
    "subsequence({}, 1, 4)",
    "subsequence({}, 2, 3)",
    "head({})",
    "({})[2]",
    "({})[position() le 3] ! string(@k)",
    "<top>{{({})[position() le 2]}}</top>",
)


def query(first: str, order: str, result: str) -> str:
    if "!" in first:
        result = "$e"
    return first.format(f'for $e in stream("s")/log/e order by {order} return {result}')


def tops(log: Log) -> list[TopRows]:
    assert isinstance(log.watch.pipeline, CircuitRun)
    assert log.watch.pipeline._operators is not None
    return [one for one in log.watch.pipeline._operators.all if isinstance(one, TopRows)]


@settings(max_examples=examples(200), deadline=None)
@given(
    st.sampled_from(FIRST), st.sampled_from(ORDERS), st.sampled_from(RESULTS),
    st.lists(ODD_ENTRIES, min_size=1, max_size=6),
)  # fmt: skip
def test_queries_for_the_first_ones(first, order, result, pieces):
    log = Log(query(first, order, result))
    log.feed(b"<log>")
    for piece in pieces:
        log.feed("".join(element(k, v) for k, v in piece).encode())
        assert log.told.items() == log.afresh()
    assert tops(log)


def test_ties_stay_in_the_order_in_which_they_came():
    log = Log(query(FIRST[0], "number($e/@v)", "string($e/@k)"))
    log.feed(b"<log>")
    log.feed("".join(element(str(k), "1") for k in range(2000)).encode())
    log.feed("".join(element(str(k), "1") for k in range(2000)).encode())
    assert log.told.items() == log.afresh() == ["0", "1", "2"]


MIXED = ("$e/@v ! (if (. < 5) then xs:integer(.) else number(.))", "max($e/@v)")


@pytest.mark.parametrize("order", MIXED)
def test_keys_whose_types_may_change_their_order_keep_all_rows(order):
    log = Log(query(FIRST[0], order, "$e"))
    log.feed(b"<log>")
    for values in ("9 7 8", "1 2 3", "1 0"):
        log.feed("".join(element("k", v) for v in values.split()).encode())
        assert log.told.items() == log.afresh()
    assert not tops(log)


def test_only_so_many_rows_and_units_are_kept():
    log = Log(query(FIRST[0], "number($e/@v) descending", "$e"))
    log.feed(b"<log>")
    sizes = []
    for batch in range(20):
        log.feed("".join(element("k", str(batch * 500 + n)) for n in range(500)).encode())
        sizes.append(log.watch.state_bytes)
    (top,) = tops(log)
    assert len(top._rows) == len(top._made) == 3
    (feed,) = [one for one in log.watch._feeds.values() if isinstance(one, SplitFeed)]
    assert len(feed._kept) <= 3
    assert max(sizes[10:]) <= 2 * sizes[1]
    assert log.told.items() == log.afresh()


def test_explain_says_how_many_rows_are_kept():
    plan = planned(compiled(query(FIRST[0], "number($e/@v)", "$e")), {}, frozenset({"s"}), False)
    text = show_circuit(plan.circuit, facts=True)
    assert "keeps: at most 3 rows" in text
    assert "keeps: the results of at most 3 rows" in text
