"""Constructed trees agree with what SaxonC constructs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tape.documents import documents
from tests.tape.oracles import canonical, saxon, saxon_texts
from xstreamcast.tape.expat.through_expat import columns_from_expat
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.store import Store
from xstreamcast.tape.writing.builder import OPERATIONS, Builder

_WRAPPERS = {
    "<r>{E}</r>": ("", "r", "", {}),
    '<r xmlns="urn:d">{E}</r>': ("", "r", "urn:d", {}),
    '<q:r xmlns:q="urn:u" xmlns="urn:d">{E}</q:r>': ("q", "r", "urn:u", {"": "urn:d"}),
    '<r xmlns:p="urn:other">{E}</r>': ("", "r", "", {"p": "urn:other"}),
}


def stored(*xmls: bytes) -> Store:
    store = Store()
    for xml in xmls:
        store.add(columns_from_expat(xml, names=store.names))
    return store


def rows_of(tape: Tape, kind: str) -> list[int]:
    return [row for row in range(len(tape)) if tape[row].kind == kind]


def scopes(tape: Tape) -> list[dict[str, str]]:
    store = Store(tape.names)
    store.add(tape)
    return [store.in_scope_namespaces(row) for row in rows_of(tape, "element")]


@given(
    documents(), st.sampled_from(sorted(_WRAPPERS)), st.booleans(), st.booleans(), st.integers(0, 9)
)
def test_a_copied_element_agrees_with_saxon(xml, wrapper, preserve, inherit, pick):
    store = stored(xml)
    elements = rows_of(store.tape(0), "element")
    chosen = pick % len(elements)
    prefix, local, uri, declared = _WRAPPERS[wrapper]
    builder = Builder(store.names, preserve=preserve, inherit=inherit)
    builder.start_element(store.names.intern(prefix, local, uri))
    for bound in declared.items():
        builder.namespace(*bound)
    builder.copy(store, elements[chosen])
    builder.end()

    tape = builder.finish()

    modes = f"{'' if preserve else 'no-'}preserve, {'' if inherit else 'no-'}inherit"
    prolog = f"declare copy-namespaces {modes}; "
    query = wrapper.replace("{E}", f"{{(//*)[{chosen + 1}]}}")
    # Without preserve SaxonC does not inherit a default namespace again below an element that is
    # in none; XQuery 3.1, section 3.9.1.3, says it is inherited. What is in use must be the same.
    theirs = saxon(query, xml, prolog).encode()
    assert canonical(tape.serialize(), not preserve) == canonical(theirs, not preserve)
    if preserve and inherit:
        scopes_there = saxon_texts(
            f"let $r := {query} for $e in $r/descendant-or-self::* return string-join(sort("
            "in-scope-prefixes($e) ! (. || '=' || namespace-uri-for-prefix(., $e))), ' ')",
            xml,
            prolog,
        )
        ours = [" ".join(sorted(f"{p}={u}" for p, u in scope.items())) for scope in scopes(tape)]
        assert ours == scopes_there


def test_adjacent_texts_become_one_and_empty_ones_none():
    store = stored(b"<a>one<b>two</b></a>")
    builder = Builder(store.names)
    builder.start_element(store.names.intern("", "r", ""))
    builder.text("")
    builder.text("x")
    builder.copy(store, 2)
    builder.text("y")
    builder.copy(store, 3)
    builder.text("z")
    builder.end()
    builder.text("")

    tape = builder.finish()

    assert tape.serialize() == b"<r>xoney<b>two</b>z</r>"
    assert [tape[row].kind for row in tape.roots()] == ["element", "text"]
    assert len(tape[0].children) == 3


def test_an_attribute_gets_a_prefix_where_it_has_none_or_its_own_is_taken():
    names = Store().names
    builder = Builder(names)
    builder.start_element(names.intern("p", "r", "urn:u"))
    builder.attribute(names.intern("", "x", "urn:v"), "1")
    builder.attribute(names.intern("p", "y", "urn:w"), "2")
    builder.attribute(names.intern("p", "z", "urn:u"), "3")
    builder.attribute(names.intern("xml", "lang", "http://www.w3.org/XML/1998/namespace"), "en")
    builder.end()

    written = builder.finish().serialize()

    assert canonical(written) == canonical(
        b'<p:r xmlns:p="urn:u" xmlns:ns0="urn:v" xmlns:ns1="urn:w" ns0:x="1" ns1:y="2" p:z="3"'
        b' xml:lang="en"/>'
    )


def test_a_document_below_an_element_stands_for_its_children():
    store = stored(b"<!--c--><a/>")
    builder = Builder(store.names)
    builder.start_element(store.names.intern("", "r", ""))
    builder.copy(store, 0)
    builder.end()
    builder.copy(store, 0)

    tape = builder.finish()

    assert tape.serialize() == b"<r><!--c--><a/></r>"
    assert tape.serialize(3) == b"<!--c--><a/>"
    assert [tape[row].kind for row in tape.roots()] == ["element", "document"]


@given(documents(), documents(), st.data())
def test_many_copies_at_once_are_the_copies_one_by_one(one, other, data):
    store = stored(one, other)
    every = [
        row | number << 32
        for number in (0, 1)
        for row in range(len(store.tape(number)))
        if store.node(row | number << 32).kind != "namespace"
    ]
    handles = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=6))
    builder = Builder(store.names)
    builder.copy_all(store, np.array(handles, np.int64))

    tape = builder.finish()

    assert [tape.serialize(int(row)) for row in tape.roots()] == store.serialize_all(
        np.array(handles, np.int64)
    )
    check_shape(tape)


def check_shape(tape: Tape) -> None:
    """Level, parent and size say the same tree."""
    c = tape.columns
    for row in range(len(tape)):
        parent = int(c.parent[row])
        assert c.level[row] == (0 if parent < 0 else c.level[parent] + 1)
        assert parent < 0 or row + c.size[row] <= parent + c.size[parent]
        inside = range(row + 1, row + int(c.size[row]) + 1)
        assert all(int(c.parent[i]) >= row for i in inside)


def test_whole_arrays_of_events():
    store = stored(b"<a><b>1</b><b>2</b></a>")
    names = store.names
    name, key = names.intern("", "r", ""), names.intern("", "k", "")
    pattern = [OPERATIONS[word] for word in ("element", "attribute", "copy", "end")]
    builder = Builder(names)
    builder.extend(
        np.array(pattern * 2, np.uint8),
        np.array([name, key, -1, -1] * 2, np.int32),
        b"xyz",
        np.array([0, 0, 1, 1, 1, 1, 3, 3, 3], np.int64),
        np.array([-1, -1, 2, -1, -1, -1, 4, -1], np.int64),
        store,
    )

    tape = builder.finish()

    written = [tape.serialize(int(row)) for row in tape.roots()]
    assert written == [b'<r k="x"><b>1</b></r>', b'<r k="yz"><b>2</b></r>']


def test_misplaced_events_are_refused():
    names = Store().names
    late = Builder(names)
    late.start_element(names.intern("", "r", ""))
    late.text("x")
    late.attribute(names.intern("", "k", ""), "1")
    late.end()
    with pytest.raises(ValueError, match="before other content"):
        late.finish()

    unclosed = Builder(names)
    unclosed.start_document()
    with pytest.raises(ValueError, match="needs its end"):
        unclosed.finish()


def test_an_empty_builder_gives_an_empty_tape():
    assert len(Builder(Store().names).finish()) == 0
