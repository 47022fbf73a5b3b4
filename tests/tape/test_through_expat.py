"""The authoritative reader: what expat says, in columns."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tape.documents import documents
from tests.tape.oracles import canonical
from xstreamcast.errors import DataPlace, InputError
from xstreamcast.tape.expat.through_expat import columns_from_expat
from xstreamcast.tape.layout import Tape


@dataclass(frozen=True)
class Bounds:
    max_depth: int = 50
    max_name_length: int = 50
    max_attributes: int = 50
    max_entity_expansion: int = 1000
    max_document_size: int = 100_000


def outline(tape: Tape) -> list[str]:
    """Each row as level, kind, name and value."""
    shown = []
    for row in range(len(tape)):
        node = tape[row]
        value = node.string if node.kind not in ("element", "document") else ""
        shown.append(
            " ".join(filter(None, [str(tape.columns.level[row]), node.kind, node.name, value]))
        )
    return shown


def test_rows_stand_in_document_order_namespaces_first():
    xml = b'<!--c--><a k="v" xmlns="urn:u" xmlns:p="urn:p">t<![CDATA[<]]>&amp;<p:b/><?go on?></a>'

    assert outline(columns_from_expat(xml)) == [
        "0 document",
        "1 comment c",
        "1 element a",
        "2 namespace urn:u",
        "2 namespace p urn:p",
        "2 attribute k v",
        "2 text t<&",
        "2 element p:b",
        "2 pi go on",
    ]


@given(documents())
def test_parents_and_sizes_say_the_same_tree(xml):
    c = columns_from_expat(xml).columns

    for row in range(1, len(c.kind)):
        parent = int(c.parent[row])
        assert c.level[row] == c.level[parent] + 1
        assert parent < row <= parent + c.size[parent]


@given(documents(), st.sampled_from(("utf-16", "utf-8-sig", "utf-16-be", "utf-16-le")))
def test_the_encoding_does_not_matter(xml, encoding):
    mark = "\ufeff" if encoding in ("utf-16-be", "utf-16-le") else ""
    coded = (mark + xml.decode()).encode(encoding)

    assert outline(columns_from_expat(coded)) == outline(columns_from_expat(xml))


def test_a_declared_encoding_is_followed():
    xml = '<?xml version="1.0" encoding="ISO-8859-1"?><é>ü</é>'.encode("latin-1")

    assert columns_from_expat(xml).serialize().decode() == "<é>ü</é>"


def test_an_internal_subset_gives_entities_and_default_attributes():
    xml = (
        b'<!DOCTYPE a [<!ENTITY e "x<b/>y"><!ATTLIST a q CDATA "z" xmlns:p CDATA "urn:p">'
        b"<!--not here--><?nor this?>]><a>1&e;2</a>"
    )

    tape = columns_from_expat(xml)

    assert tape.serialize() == b'<a xmlns:p="urn:p" q="z">1x<b/>y2</a>'
    assert canonical(tape.serialize()) == canonical(xml)
    assert len(tape[0].children) == 1


def test_nothing_external_is_fetched(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    head = f'<!DOCTYPE a SYSTEM "{secret}" [<!ENTITY e SYSTEM "{secret}"><!ENTITY f "f">]>'

    for content, name in (("[&e;]", "e"), ("[&other;]", "other"), ("<b c='&other;'/>", "other")):
        with pytest.raises(InputError, match=f"&{name}; is not in the document") as refused:
            columns_from_expat(f"{head}<a>{content}</a>".encode())
        assert refused.value.code == "XSCX0006"
    assert columns_from_expat(f"{head}<a b='&f;'>&f;</a>".encode()).serialize() == b'<a b="f">f</a>'


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        (b"<a>" * 51 + b"</a>" * 51, "XSCX0101"),
        (b"<%b/>" % (b"n" * 51), "XSCX0102"),
        (b"<a %b/>" % b" ".join(b'x%d=""' % i for i in range(51)), "XSCX0103"),
        (b'<!DOCTYPE a [<!ENTITY e "%b">]><a>%b</a>' % (b"x" * 200, b"&e;" * 20), "XSCX0104"),
        (
            b'<!DOCTYPE a [<!ATTLIST b c CDATA "%b">]><a>%b</a>' % (b"x" * 90, b"<b/>" * 50),
            "XSCX0104",
        ),
        (b"<a>%b</a>" % (b"x" * 100_001), "XSCX0105"),
    ],
)
def test_each_limit_has_its_error(xml, code):
    with pytest.raises(InputError) as raised:
        columns_from_expat(xml, limits=Bounds())

    assert raised.value.code == code
    assert len(columns_from_expat(xml)) > 1


def test_a_bomb_of_entities_is_refused_even_without_limits():
    lines = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20}">' for i in range(1, 9))
    xml = f'<!DOCTYPE a [<!ENTITY e0 "xxxxxxxxxxxx">{lines}]><a>&e8;</a>'

    with pytest.raises(InputError) as raised:
        columns_from_expat(xml.encode())

    assert raised.value.code == "XSCX0104"


@pytest.mark.parametrize(
    ("xml", "code", "line", "column", "offset"),
    [
        (b"<a>\n <b></a>", "XSCX0001", 2, 7, 10),
        (b"<p:a/>", "XSCX0005", 1, 1, 0),
        (b"<a", "XSCX0004", 1, 1, 0),
        (b"<a></a>\n<b/>", "XSCX0001", 2, 1, 8),
        (b"", "XSCX0004", 1, 1, 0),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "XSCX0003", 1, 1, 0),
    ],
)
def test_an_error_says_where(xml, code, line, column, offset):
    with pytest.raises(InputError) as raised:
        columns_from_expat(xml, source="feed.xml")

    place = raised.value.place
    assert isinstance(place, DataPlace)
    assert raised.value.code == code
    assert (place.stream, place.line, place.column, place.offset) == (
        "feed.xml",
        line,
        column,
        offset,
    )
