"""Steps along all axes agree with SaxonC, for one context or many, nested or not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tape.documents import documents
from tests.tape.oracles import saxon_texts
from xstreamcast.tape.expat.through_expat import columns_from_expat
from xstreamcast.tape.layout import I64
from xstreamcast.tape.order import distinct, distinct_by_label
from xstreamcast.tape.steps.axes import AXES, NodeTest
from xstreamcast.tape.store import Store

_TESTS = {
    "node()": NodeTest.node(),
    "text()": NodeTest.text(),
    "comment()": NodeTest.comment(),
    "processing-instruction()": NodeTest.pi(),
    "processing-instruction(go)": NodeTest.pi("go"),
    "element()": NodeTest.element(),
    "attribute()": NodeTest.attribute(),
    "document-node()": NodeTest.document(),
    "element(a)": NodeTest.element("a", ""),
    "element(Q{urn:u}a)": NodeTest.element("a", "urn:u"),
}
_NAMES = {
    "*": (None, None),
    "a": ("a", ""),
    "*:a": ("a", None),
    "Q{urn:v}*": (None, "urn:v"),
    "Q{urn:u}b": ("b", "urn:u"),
    "nowhere": ("nowhere", ""),
}


def stored(*xmls: bytes) -> tuple[Store, I64]:
    """A store of documents, and the handles of all nodes but namespaces, in document order."""
    store = Store()
    for xml in xmls:
        store.add(columns_from_expat(xml, names=store.names))
    rows = [np.arange(len(store.tape(i))) | (i << 32) for i in range(len(xmls))]
    handles = np.concatenate(rows)
    return store, handles[store.kinds(handles) != 6]


def asked(test: str, xml: bytes) -> dict[str, list[list[int]]]:
    """For each axis and node, the places of the nodes that Saxon finds, in document order."""
    steps = ", ".join(f"string-join({axis}::{test} ! $place(generate-id(.)), ' ')" for axis in AXES)
    answers = saxon_texts(
        "let $all := (//. | //@*) let $place := map:merge(for $n at $i in $all return "
        f"map{{generate-id($n): string($i - 1)}}) return $all ! ({steps})",
        xml,
    )
    places = [sorted(map(int, answer.split())) for answer in answers]
    return {axis: places[i :: len(AXES)] for i, axis in enumerate(AXES)}


def found(store: Store, contexts: I64, axis: str, test: NodeTest) -> list[list[int]]:
    labels, handles = store.step(contexts, axis, test)
    assert np.all(np.diff(labels) >= 0), "labels must ascend"
    return [handles[labels == i].tolist() for i in range(len(contexts))]


@given(documents(), st.sampled_from(sorted(_TESTS)))
def test_steps_with_a_kind_test_agree_with_saxon(xml, test):
    store, nodes = stored(xml)

    for axis, places in asked(test, xml).items():
        expected = [nodes[one].tolist() for one in places]
        assert found(store, nodes, axis, _TESTS[test]) == expected, axis


@given(documents(), st.sampled_from(sorted(_NAMES)))
def test_steps_with_a_name_test_agree_with_saxon(xml, name):
    store, nodes = stored(xml)

    for axis, places in asked(name, xml).items():
        test = NodeTest.principal(axis, *_NAMES[name])
        assert found(store, nodes, axis, test) == [nodes[one].tolist() for one in places], axis


@given(documents(), documents(), st.data(), st.sampled_from(AXES))
def test_any_mix_of_contexts_gives_what_each_gives_alone(one, other, data, axis):
    store, nodes = stored(one, other)
    contexts = np.array(data.draw(st.lists(st.sampled_from(nodes.tolist()), max_size=12)), np.int64)

    together = found(store, contexts, axis, NodeTest.node())

    alone = [
        found(store, contexts[i : i + 1], axis, NodeTest.node())[0] for i in range(len(contexts))
    ]
    assert together == alone


@given(documents(), documents(), st.data(), st.booleans())
def test_distinct_descendants_are_the_union_of_the_labelled(one, other, data, own):
    store, nodes = stored(one, other)
    contexts = np.array(data.draw(st.lists(st.sampled_from(nodes.tolist()), max_size=8)), np.int64)
    axis = "descendant-or-self" if own else "descendant"

    for test in (NodeTest.node(), NodeTest.element("a")):
        labelled = store.step(contexts, axis, test)[1]
        assert store.descendant_distinct(contexts, test, own).tolist() == sorted(
            {*labelled.tolist()}
        )


def test_descendants_of_every_level_of_a_deep_tree():
    depth = 3000
    store, nodes = stored(b"<a>" * depth + b"<b/>" + b"</a>" * depth)

    labels, handles = store.step(nodes, "descendant", NodeTest.element("b"))

    assert labels.tolist() == list(range(depth + 1))
    assert set(handles.tolist()) == {depth + 1}


def test_parents_roots_names_and_levels():
    store, nodes = stored(b"<a><b/></a>", b'<c x="1"/>')

    assert store.parents(nodes).tolist() == [-1, 0, 1, -1, 1 << 32, (1 << 32) + 1]
    assert store.roots(nodes).tolist() == [0, 0, 0, 1 << 32, 1 << 32, 1 << 32]
    assert store.levels(nodes).tolist() == [0, 1, 2, 0, 1, 2]
    names = [store.names.lexical(i) for i in store.name_ids(nodes) if i >= 0]
    assert names == ["a", "b", "c", "x"]


@given(documents())
def test_namespaces_in_scope_agree_with_saxon(xml):
    store, nodes = stored(xml)
    elements = nodes[store.kinds(nodes) == 1].tolist()

    ours = [sorted(store.in_scope_namespaces(element).items()) for element in elements]

    theirs = saxon_texts(
        "//* ! string-join(for $p in in-scope-prefixes(.) order by $p return "
        "$p || ' ' || namespace-uri-for-prefix($p, .), codepoints-to-string(10))",
        xml,
    )
    assert ours == [sorted(tuple(line.split(" ", 1)) for line in one.split("\n")) for one in theirs]


def test_a_tape_with_names_of_its_own_is_taken_in():
    store = Store()
    store.names.intern("", "other", "")

    handle = store.add(columns_from_expat(b'<p:a xmlns:p="urn:u" x="1"><x/></p:a>')) << 32

    contexts = np.array([handle], np.int64)
    assert len(store.step(contexts, "descendant", NodeTest.element("a", "urn:u"))[0]) == 1
    assert store.serialize(handle) == b'<p:a xmlns:p="urn:u" x="1"><x/></p:a>'


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)))


@given(pairs)
def test_duplicates_go_and_order_comes(pairs):
    labels = np.array([label for label, _ in pairs], np.int64)
    handles = np.array([handle for _, handle in pairs], np.int64)

    ours = distinct_by_label(labels, handles)

    assert list(zip(*(column.tolist() for column in ours), strict=True)) == sorted({*pairs})
    assert distinct(handles).tolist() == sorted({*handles.tolist()})
