"""Small trees written by Python are, row for row, what the kernels write."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tape.test_builder import stored
from xstreamcast.tape.store import Store
from xstreamcast.tape.writing import builder as room
from xstreamcast.tape.writing.builder import Builder
from xstreamcast.tape.writing.few_events import MOST_EVENTS

SOURCES = (
    b'<a k="v">one<b>two &amp; three<c/></b><!--c--><?p i?></a>',
    b"<a>" + b"<b>x</b>" * 60 + b"</a>",
    b'<a xmlns:p="urn:p"><p:b/><c/></a>',
)
NAMES = (("", "x", ""), ("", "y", ""), ("xml", "lang", "http://www.w3.org/XML/1998/namespace"))
OTHER = (("p", "z", "urn:p"), ("", "d", "urn:d"))
texts = st.sampled_from(("", "t", "é&<"))
leaves = st.one_of(
    st.tuples(st.just("text"), texts),
    st.tuples(st.just("comment"), texts),
    st.tuples(st.just("pi"), texts),
    st.tuples(st.just("attribute"), st.sampled_from(NAMES), texts),
    st.tuples(st.just("copy"), st.integers(0, 2), st.integers(0, 8)),
)
names = st.sampled_from(NAMES[:2] * 4 + OTHER)
trees = st.recursive(
    leaves,
    lambda inner: st.tuples(
        st.sampled_from(("element", "element", "document")), names, st.lists(inner, max_size=4)
    ),
    max_leaves=12,
)


def put(builder: Builder, store: Store, tree: tuple[Any, ...]) -> None:
    match tree:
        case ("attribute", name, value):
            builder.attribute(store.names.intern(*name), value)
        case ("pi", value):
            builder.pi("target", value)
        case ("copy", number, row):
            builder.copy(store, number << 32 | row % len(store.tape(number)))
        case (("text" | "comment") as kind, value):
            getattr(builder, kind)(value)
        case (kind, name, content):
            if kind == "element":
                builder.start_element(store.names.intern(*name))
            else:
                builder.start_document()
            for one in content:
                put(builder, store, one)
            builder.end()


def built(content: list[tuple[Any, ...]], most: int) -> list[list[int]] | str:
    store = stored(*SOURCES)
    builder = Builder(store.names)
    for tree in content:
        put(builder, store, tree)
    with patch.object(room, "MOST_EVENTS", most):
        try:
            columns = builder.finish().columns
        except ValueError as refused:
            return str(refused)
    assert [column.dtype for column in columns] == [
        column.dtype for column in store.tape(0).columns
    ]
    return [np.asarray(column).tolist() for column in columns]


@given(st.lists(trees, min_size=1, max_size=3))
def test_python_writes_what_the_kernels_write(content):
    assert built(content, MOST_EVENTS) == built(content, 0)


def test_small_trees_need_no_kernel():
    store = stored(*SOURCES)
    builder = Builder(store.names)
    put(builder, store, ("element", NAMES[0], [("attribute", NAMES[1], "1"), ("copy", 0, 1)]))
    with patch.object(room, "write", side_effect=AssertionError("a kernel was called")):
        assert builder.finish().serialize().startswith(b'<x y="1"><a k="v">one<b>two')
