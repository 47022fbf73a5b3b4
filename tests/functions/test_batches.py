"""A function for n rows gives what it gives for each row alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xstreamcast.errors import Error
from xstreamcast.evaluate.results.results import records
from xstreamcast.functions.call import CallContext, StaticContext
from xstreamcast.functions.registry import Function, rows
from xstreamcast.functions.rows import pairs
from xstreamcast.model import atomic as a
from xstreamcast.model.column import Column, offsets_of
from xstreamcast.model.date_time import DateTime
from xstreamcast.model.items import Items
from xstreamcast.model.sequence_type import (
    AnyItem,
    ArrayType,
    AtomicItem,
    AtomicUnion,
    FunctionType,
    MapType,
    NodeItem,
    SequenceType,
)
from xstreamcast.tape.store import Store

STORE = Store()
ROOT = STORE.read(
    b'<r xml:lang="en"><a xml:id="i">x<!--c--><b/></a><p:a xmlns:p="u" p:k="1">2</p:a></r>'
)
KINDS = STORE.kinds(np.arange(len(STORE.tape(0)), dtype=np.int64)).tolist()
NODES = {
    "document": [0],
    "element": [row for row, kind in enumerate(KINDS) if kind == 1],
    "node": list(range(len(KINDS))),
}
NUMBERS: list[tuple[int, Any]] = [
    *((a.INTEGER, value) for value in (0, 1, 2, -3, 2**70)),
    *((a.DOUBLE, value) for value in (0.5, 1.0, float("nan"), float("inf"))),
]
TEXTS = ["", "a", "ab b", "é", "[ab]", "NFC", "1", "en", "i"]
STRINGS: list[tuple[int, Any]] = [(a.STRING, value) for value in TEXTS]
UNTYPED: list[tuple[int, Any]] = [(a.UNTYPED, value) for value in ("1", "a")]
ATOMS = NUMBERS + STRINGS + UNTYPED + [(a.BOOLEAN, True)]
POOLS: dict[int, list[tuple[int, Any]]] = {
    a.STRING: STRINGS,
    a.INTEGER: [one for one in NUMBERS if one[0] == a.INTEGER],
    a.DOUBLE: [one for one in NUMBERS if one[0] == a.DOUBLE],
    a.BOOLEAN: [(a.BOOLEAN, True), (a.BOOLEAN, False)],
    a.ATOMIC["anyAtomicType"].tag: ATOMS,
}


def pool(kind: SequenceType) -> list[tuple[int, Any]] | None:
    """Items of a type; None where the test has none."""
    match kind.item:
        case AnyItem():
            return ATOMS + [(a.NODE, row) for row in NODES["node"]]
        case AtomicItem(tag):
            return POOLS.get(tag)
        case AtomicUnion():
            return NUMBERS
        case NodeItem(name):
            return [(a.NODE, row) for row in NODES.get(name, [])] or None
        case FunctionType() | MapType() | ArrayType():
            return None


def fit(row: Function) -> bool:
    known = all(pool(kind) for kind in row.parameters)
    unlike = row.local in ("generate-id", "random-number-generator")  # functions have no value
    return known and not row.focus and row.deterministic and not unlike


FUNCTIONS = [row for row in rows() if row.parameters and fit(row)]


def sequences(kind: SequenceType) -> st.SearchStrategy[list[tuple[int, Any]]]:
    items = st.sampled_from(pool(kind) or [])
    return st.lists(items, min_size=kind.at_least, max_size=min(kind.at_most or 3, 3))


def column(values: list[list[tuple[int, Any]]]) -> Column:
    flat = [item for row in values for item in row]
    items = Items.mixed([tag for tag, _ in flat], [value for _, value in flat])
    lengths = np.array([len(row) for row in values], np.int64)
    return Column(items) if (lengths == 1).all() else Column(items, offsets_of(lengths))


def asked(row: Function, columns: list[Column], n: int) -> list[Any] | str:
    """The rows of the answer, nodes by what they hold; or the code."""
    call = CallContext(n, STORE, StaticContext(), DateTime.of(2024, 5, 17))
    try:
        made = row.body(call, *columns)
    except Error as wrong:
        return wrong.code
    assert made.n == n
    return [[_shown(tag, value) for tag, value in one] for one in pairs(made)]


def _shown(tag: int, value: Any) -> Any:
    if tag == a.NODE and value >> 32:  # made by the call itself
        return STORE.serialize(value)
    if tag in (a.MAP, a.ARRAY):
        return list(records(STORE, Items.of(tag, [value])))
    return tag, str(value)


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: f"{row.name}#{row.arity}")
@settings(max_examples=settings().max_examples // 5)  # there are two hundred functions
@given(data=st.data())
def test_a_batch_is_its_rows(row: Function, data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 4))
    cells = [[data.draw(sequences(kind)) for _ in range(n)] for kind in row.parameters]
    columns = [column(values) for values in cells]
    whole = asked(row, columns, n)
    alone = [asked(row, [one.take(np.array([i])) for one in columns], 1) for i in range(n)]
    codes = [one for one in alone if isinstance(one, str)]
    if isinstance(whole, str):
        assert whole in codes
    else:
        assert codes == []
        assert whole == [one[0] for one in alone]
