"""What is written back says what was read."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given

from tests.tape.documents import documents
from tests.tape.oracles import canonical, saxon, saxon_texts
from xstreamcast.tape.expat.through_expat import columns_from_expat
from xstreamcast.tape.layout import KIND_NAMES
from xstreamcast.tape.store import Store


@given(documents())
def test_a_document_written_back_is_canonically_the_same(xml):
    tape = columns_from_expat(xml)

    assert canonical(tape.serialize()) == canonical(xml)


@given(documents())
def test_a_document_is_written_as_saxon_writes_it(xml):
    tape = columns_from_expat(xml)

    assert ordered(tape.serialize().decode()) == ordered(saxon(".", xml).replace("&#34;", "&quot;"))


def ordered(xml: str) -> str:
    """Namespace declarations sorted: their order in a tag means nothing."""
    pattern = re.compile(r'(?: xmlns(?::\w+)?="[^"]*")+')
    return pattern.sub(lambda found: "".join(sorted(re.findall(r' \S+="[^"]*"', found[0]))), xml)


@given(documents())
def test_an_element_alone_carries_its_namespaces(xml):
    store = Store()
    root = store.add(columns_from_expat(xml)) << 32
    rows = [row for row in range(len(store.tape(0))) if store.node(root + row).kind == "element"]

    ours = store.serialize_all(np.array(rows, np.int64))

    theirs = saxon_texts("//* ! serialize(.)", xml)
    assert [canonical(one) for one in ours] == [canonical(one.encode()) for one in theirs]


def test_other_nodes_alone_are_written_as_they_stand():
    xml = b'<a xmlns:p="urn:p" p:x="1&#10;&quot;&lt;"><!--c-->t&amp;<?go on?></a>'
    tape = columns_from_expat(xml)

    written = {tape[row].kind: tape.serialize(row) for row in range(2, len(tape))}

    assert written == {
        "namespace": b'xmlns:p="urn:p"',
        "attribute": b'p:x="1&#xA;&quot;&lt;"',
        "comment": b"<!--c-->",
        "text": b"t&amp;",
        "pi": b"<?go on?>",
    }
    assert set(written) < set(KIND_NAMES)


def test_an_undeclared_default_namespace_is_undeclared_again():
    tape = columns_from_expat(b'<a xmlns="urn:u"><b xmlns=""><c xmlns=""/></b></a>')

    assert tape.serialize() == b'<a xmlns="urn:u"><b xmlns=""><c/></b></a>'
    assert tape.serialize(3) == b"<b><c/></b>"


def test_a_deep_tree_is_written_without_recursion():
    xml = b"<a>" * 5000 + b"</a>" * 5000

    assert columns_from_expat(xml).serialize() == b"<a>" * 4999 + b"<a/>" + b"</a>" * 4999


def test_a_node_shows_itself():
    tape = columns_from_expat(b'<list><item id="0">x</item><item/></list>')

    assert repr(tape[1]) == (
        '<Node 1 element list, 2 children: <list><item id="0">x</item><item/></list>>'
    )
    assert repr(tape[4]) == "<Node 4 text: x>"
    assert repr(tape) == "<Tape: 6 nodes, 2 bytes, 1 root>"
    assert tape[2].attributes[0].string == "0"
    assert tape[2].parent == tape[1]
