"""Cutting and joining: T(cut(d)) = d, whatever is cut, in whatever order it arrives."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.edges.documents import Case, cases
from xstreamcast.edges.cutting import cut
from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.structures import read_structure
from xstreamcast.edges.valid_time import valid_time
from xstreamcast.edges.wire import Decoder
from xstreamcast.edges.wire.encoder import CLOSE, OPEN, structure_line
from xstreamcast.errors import Error
from xstreamcast.history.view import reconstruct
from xstreamcast.model.fragment import Refused
from xstreamcast.tape.store import Store

HOLE = re.compile(rb'<stream:hole(?: xmlns:stream="[^"]*")? id="(\d+)"[^>]*/>')


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def canonical(xml: bytes) -> bytes:
    return etree.tostring(etree.fromstring(xml), method="c14n")


def joined(fragments: list[bytes]) -> bytes:
    """The fragments put together again as text."""
    payloads = {}
    for line in fragments:
        head, _, rest = line.partition(b">")
        _, _, name = head.partition(b' id="')
        payloads[name.partition(b'"')[0]] = rest.removesuffix(b"</stream:filler>\n")

    def fill(name: bytes) -> bytes:
        return HOLE.sub(lambda found: fill(found[1]), payloads[name])

    return fill(b"0")


@given(cases(), st.integers(1, 60), st.randoms())
def test_a_cut_document_joins_to_itself(case: Case, size: int, chance: random.Random) -> None:
    fragments = list(cut(pieces(case.document, size), case.structure))
    chance.shuffle(fragments)
    assert canonical(joined(fragments)) == canonical(case.document)


@given(cases(), st.integers(1, 60))
def test_where_the_bytes_are_cut_does_not_matter(case: Case, size: int) -> None:
    whole = list(cut([case.document], case.structure))
    assert list(cut(pieces(case.document, size), case.structure)) == whole


STRUCTURE = read_structure(
    b'<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="event">'
    b'<tag id="3" name="t" type="snapshot"/></tag></tag>'
)


def test_entities_and_defaults_are_written_out() -> None:
    document = (
        b"""<!DOCTYPE r [<!ENTITY e "x&#38;lt;y"><!ATTLIST a z CDATA "d">]><r><a>&e;</a></r>"""
    )
    child, _ = cut(pieces(document, 7), STRUCTURE)
    assert b'<a z="d">x&lt;y</a>' in child


def test_another_encoding_becomes_utf_8() -> None:
    document = '<?xml version="1.0" encoding="ISO-8859-1"?><r><a>é</a></r>'.encode("latin-1")
    child, _ = cut([document], STRUCTURE)
    assert "<a>é</a>".encode() in child


def test_ids_count_in_document_order_from_the_root() -> None:
    first, second, root = cut([b"<r><a/><a/></r>"], STRUCTURE)
    assert [b'id="1"' in first, b'id="2"' in second, b'id="0"' in root] == [True] * 3


@pytest.mark.parametrize(
    ("document", "code", "said"),
    [
        (b"<x/>", "XSCT0003", "got x as root, which must be r"),
        (b"<r>\n <a><z/></a></r>", "XSCT0003", "got z below a"),
        (b"<r><a></r>", "XSCX0001", "end tag"),
        (b"<r><a>", "XSCX0004", "ends before"),
        (b"<!DOCTYPE r SYSTEM 'x'><r>&gone;</r>", "XSCX0001", "gone is not declared"),
    ],
)
def test_a_document_that_cannot_be_cut_says_why(document: bytes, code: str, said: str) -> None:
    with pytest.raises(Error) as caught:
        list(cut([document], STRUCTURE))
    assert caught.value.code == code
    assert said in caught.value.message
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2003-11-01", b'validTime="2003-11-01"'),
        ("t", b'validTime="2004-01-01T00:00:00Z"'),
        ("t/@at", b'validTime="2005-01-01"'),
        ("@gone", b'<stream:filler id="1" tsid="2">'),
    ],
)
def test_valid_times_come_from_an_instant_or_a_path(written: str, expected: bytes) -> None:
    document = b'<r><a><t at="2005-01-01"> 2004-01-01T00:00:00Z </t></a></r>'
    assert expected in next(cut([document], STRUCTURE, valid=valid_time(written)))


@given(cases(), st.integers(1, 90), st.randoms(), st.sampled_from((None, "2003-11-01")))
def test_fragments_in_any_order_with_repetitions_make_the_document(
    case: Case, size: int, chance: random.Random, instant: str | None
) -> None:
    valid = valid_time(instant) if instant else None
    lines = list(cut([case.document], case.structure, valid=valid))
    lines += chance.sample(lines, chance.randint(0, len(lines)))
    chance.shuffle(lines)
    lines.insert(chance.randint(0, len(lines)), structure_line(case.structure))
    store = Store()
    refused: list[Refused] = []
    decoder = Decoder("s", names=store.names)
    history = None
    for chunk in pieces(OPEN + b"".join(lines) + CLOSE, size):
        history = taken_in(history, decoder.feed(chunk), decoder, store, refused)
    history = taken_in(history, decoder.close(), decoder, store, refused)
    assert refused == []
    assert history is not None
    assert canonical(reconstruct(history).serialize()) == canonical(case.document)


def test_fragments_inside_of_a_unit_name_it() -> None:
    tags = (
        b'<tag id="1" name="r"><tag id="2" name="a" type="temporal"><tag id="3" name="b" '
        b'type="event"><tag id="4" name="c" type="event"/></tag></tag></tag>'
    )
    lines = list(cut([b"<r><a><b><c/></b></a><a><b/></a></r>"], read_structure(tags)))
    found = {one.split(b'"')[1]: re.findall(rb' unit="(\d+)"', one) for one in lines}
    assert found == {b"3": [b"1"], b"2": [b"1"], b"1": [], b"5": [b"4"], b"4": [], b"0": []}


def test_units_name_themselves_where_others_of_their_tag_stand_inside_of_them() -> None:
    tags = b'<tag id="1" name="r"><tag id="2" name="a" type="temporal"><tag ref="2"/></tag></tag>'
    lines = list(cut([b"<r><a><a/></a></r>"], read_structure(tags)))
    assert [re.findall(rb' unit="(\d+)"', one) for one in lines] == [[b"1"], [b"1"], []]
