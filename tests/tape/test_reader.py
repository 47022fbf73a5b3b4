"""Chunks of any size, cut anywhere, give what the whole gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tape.events import expat_events, tape_events, well_shaped
from tests.tape.strategies import cut, documents, elements, near_xml
from xstreamcast.errors import DataPlace, Error, InputError
from xstreamcast.tape import Limits, Reader, Tape, read


def chunked(pieces: list[bytes], mode: str = "document") -> Tape | None:
    reader = Reader(mode)
    try:
        for piece in pieces:
            assert reader.feed(piece) is None
        return reader.close()
    except InputError:
        return None


def units(pieces: list[bytes], **options: int) -> list[bytes]:
    """The units of a stream, written out."""
    reader = Reader("stream", **options)  # type: ignore[arg-type]
    found = []
    for piece in pieces:
        tape = reader.feed(piece)
        if tape is not None:
            well_shaped(tape)
            found += [tape.serialize(int(row)) for row in tape.roots()]
    assert reader.close() is None
    return found


@given(st.data())
def test_a_document_in_chunks_is_the_document(data):
    xml = data.draw(documents() | near_xml())
    tape = chunked(data.draw(cut(xml)))

    expected = expat_events(xml)
    assert (tape is None) == (expected is None)
    if tape is not None:
        well_shaped(tape)
        assert tape_events(tape) == expected


@given(st.data())
def test_documents_one_after_another_in_chunks_are_those_documents(data):
    xml = "\n".join(data.draw(st.lists(elements(), min_size=1, max_size=4))).encode()
    tape = chunked(data.draw(cut(xml)), "sequence")

    try:
        whole = read(xml, mode="sequence")
    except InputError:
        assert tape is None
    else:
        assert tape is not None
        assert tape_events(tape) == tape_events(whole)


@given(st.data())
def test_the_units_of_a_stream_are_the_same_however_it_is_cut(data):
    root = data.draw(st.sampled_from((b"<r>", b"<r xmlns='d' xmlns:p='u' a='&lt;'>", b"<r x='>'>")))
    body = "".join(data.draw(st.lists(elements(depth=2), max_size=4))).encode()
    xml = root + body
    if expat_events(xml + b"</r>") is None:
        return

    whole = units([xml])
    assert units(data.draw(cut(xml))) == whole
    assert units([xml + b"</r>\n<!-- end -->"]) == whole


def test_a_unit_is_there_as_soon_as_its_end_tag_is():
    reader = Reader("stream")
    assert reader.feed(b"<r a='1'><u>1</u") is None
    tape = reader.feed(b"><u>2")
    assert tape is not None
    assert tape.serialize() == b"<u>1</u>"
    assert reader.root is not None
    assert reader.root.serialize() == b'<r a="1"/>'
    tape = reader.feed(b"</u><v/>")
    assert tape is not None
    assert [tape.serialize(int(row)) for row in tape.roots()] == [b"<u>2</u>", b"<v/>"]
    reader.close()


def test_units_may_be_deeper_than_the_children_of_the_root():
    xml = b"<r xmlns:p='u'><a xmlns='d'><u/>x<u p:k='1'/></a><b><u xmlns:p='v'/></b><c/></r>"

    expected = [
        b'<u xmlns:p="u" xmlns="d"/>',
        b'<u xmlns:p="u" xmlns="d" p:k="1"/>',
        b'<u xmlns:p="v"/>',
    ]
    assert units([xml], unit_level=2) == expected
    assert units([bytes([byte]) for byte in xml], unit_level=2) == expected


def test_units_before_an_error_are_handed_out_and_then_the_error_comes():
    reader = Reader("stream", name="feed")
    tape = reader.feed(b"<r>\n<u/>\n<u></v>")
    assert tape is not None
    assert len(tape) == 1
    with pytest.raises(InputError) as refused:
        reader.close()
    assert (refused.value.line, refused.value.column) == (3, 6)
    assert str(refused.value.place).startswith("feed:3:6 (byte 14")


def test_an_error_far_into_a_stream_is_placed_in_the_whole_stream():
    reader = Reader("stream")
    reader.feed(b"<r>")
    for _ in range(3000):
        reader.feed(b"<u>one</u>\n<u>tw\xc3\xb6</u> ")
    with pytest.raises(InputError) as refused:
        reader.feed(b"<u></v>")
    place = refused.value.place
    assert isinstance(place, DataPlace)
    assert (place.line, place.column, place.offset) == (3001, 17, 3 + 3000 * 23 + 5)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_stream_in_another_encoding_is_transcoded_as_it_comes(encoding, size):
    declared = encoding.removesuffix("-le")
    text = f"<?xml version='1.0' encoding='{declared}'?><r><u k='é'>ü</u><v>ß</v>"
    data = text.encode(encoding)

    found = units([data[at : at + size] for at in range(0, len(data), size)])
    assert found == ['<u k="é">ü</u>'.encode(), "<v>ß</v>".encode()]


@pytest.mark.parametrize(
    "xml",
    [b"<!DOCTYPE r [<!ENTITY e 'x'>]><r><u>&f;</u></r>", b"<r><u>&e;</u>", b"<r><u>]]></u>"],
)
def test_what_a_stream_cannot_hold_is_refused(xml):
    for size in (1, len(xml)):
        with pytest.raises(InputError):
            units([xml[at : at + size] for at in range(0, len(xml), size)])


@pytest.mark.parametrize(
    "xml",
    [
        b"<!DOCTYPE r SYSTEM 'r.dtd'><r><u>a&uuml;b</u>",
        b"<!DOCTYPE r SYSTEM 'r.dtd'><r><u k='&uuml;'/>",
        b"<!DOCTYPE r [<!ENTITY uuml SYSTEM 'u'>]><r><u>&uuml;</u>",
    ],
)
def test_entities_of_a_dtd_that_is_not_read_are_refused(xml):
    with pytest.raises(InputError, match="&uuml; is not in the document") as refused:
        units([xml])
    assert refused.value.code == "XSCX0006"


@pytest.mark.parametrize(
    "parts",
    [
        (b"<r><u>", b"x", b"</u>"),
        (b"<r><u a='", b">", b"'/>"),
        (b"<r><u><!--", b"->", b"--></u>"),
        (b"<r><u><![CDATA[", b"]>", b"]]></u>"),
        (b"<r><u><?p ", b">?", b"?></u>"),
    ],
)
def test_the_work_for_a_long_token_in_small_chunks_is_linear(parts):
    begin, filler, end = parts
    size = 2_000_000
    body = filler * (size // len(filler))

    reader = Reader("stream")
    reader.feed(begin)
    for at in range(0, len(body), 256):
        assert reader.feed(body[at : at + 256]) is None
    tape = reader.feed(end)
    assert tape is not None
    assert int(tape.columns.length.max()) >= len(body)


def test_an_endless_stream_is_read_in_bounded_memory():
    resource = pytest.importorskip("resource")
    chunk = b"".join(b"<u k='%d'>some text of a unit</u>\n" % i for i in range(2000))
    reader = Reader("stream")
    reader.feed(b"<r>")
    for _ in range(50):
        reader.feed(chunk)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1000):
        tape = reader.feed(chunk)
        assert tape is not None
        assert len(tape) == 6000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_unit_of_a_stream_may_be_too_large():
    reader = Reader("stream", limits=Limits(max_document_size=1000))
    reader.feed(b"<r>" + b"<u/>" * 1000)
    with pytest.raises(InputError, match="XSCX0105"):
        reader.feed(b"<u>" + b"x" * 2000)


def test_a_closed_reader_takes_nothing_more():
    reader = Reader()
    reader.feed(b"<a/>")
    assert isinstance(reader.close(), Tape)
    with pytest.raises(Error, match="closed"):
        reader.feed(b"<b/>")


@pytest.mark.parametrize("options", [{"mode": "tree"}, {"unit_level": 0}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(Error, match="must be"):
        Reader(**options)


def test_a_document_that_only_expat_can_read_is_refused_at_the_chunk_with_the_error():
    reader = Reader()
    reader.feed(b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;")
    with pytest.raises(InputError):
        reader.feed(b"</b>")


def test_rows_and_bytes_of_unfinished_units_stay_right_over_many_chunks():
    xml = b"<r>" + b"".join(
        b"<u i='%d'><v>%s</v>tail<w/></u>" % (i, b"x" * (i % 97)) for i in range(2000)
    )
    whole = units([xml])
    for size in (61, 997, 65536):
        assert units([xml[at : at + size] for at in range(0, len(xml), size)]) == whole
    assert len(whole) == 2000
    assert np.all([b"tail<w/>" in unit for unit in whole])
