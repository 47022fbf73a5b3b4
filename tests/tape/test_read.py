"""Whatever expat refuses we refuse; whatever it accepts we read to the same information."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given

from tests.tape.events import (
    expat_events,
    lxml_events,
    tape_events,
    well_shaped,
    without_prefixes,
)
from tests.tape.strategies import documents, near_xml
from xstreamcast.errors import DataPlace, InputError
from xstreamcast.tape import Names, Tape, read


def ours(xml: bytes | Path) -> Tape | None:
    try:
        return read(xml)
    except InputError:
        return None


def agree(xml: bytes) -> None:
    """Assert that the tape tells what expat tells."""
    expected, tape = expat_events(xml), ours(xml)
    assert (tape is None) == (expected is None)
    if tape is not None:
        well_shaped(tape)
        assert tape_events(tape) == expected


@given(documents())
def test_a_document_is_read_as_expat_reads_it(xml):
    agree(xml)


@given(documents())
def test_a_document_is_read_as_libxml2_reads_it(xml):
    expected, tape = lxml_events(xml), ours(xml)
    if tape is not None and expected is not None:
        assert without_prefixes(tape_events(tape)) == expected


@given(near_xml())
@example(b"")
@example(b" ")
@example(b"<a")
@example(b"<a>]]></a>")
@example(b"<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>")
@example(b"<a xmlns:xml='http://www.w3.org/XML/1998/namespace' xml:b=''/>")
@example(b"<xmlns:a/>")
@example(b"<xml:a/>")
@example(b"<p:a/>")
@example(b"<a:b:c xmlns:a='u'/>")
@example(b"<?a:b c?><a/>")
@example(b"<a><?xml version='1.0'?></a>")
@example(b" <?xml version='1.0'?><a/>")
@example(b"<!DOCTYPE a SYSTEM 'x'><a b='&nope;'>&nope;</a>")
@example(b"<?xml version='1.0' standalone='yes'?><!DOCTYPE a SYSTEM 'x'><a>&nope;</a>")
@example(b"<!DOCTYPE a><a>&nope;</a>")
@example(b"<a>&#x110000;</a>")
@example(b"<a b='<'/>")
@example(b"<a b='1'c='2'/>")
def test_near_xml_is_accepted_or_refused_as_by_expat(xml):
    agree(xml)


@pytest.mark.parametrize("pad", range(0, 70))
def test_tokens_are_read_right_wherever_a_block_of_bytes_ends(pad):
    filler = b"x" * pad
    agree(
        b"<a>" + filler + b"&amp;]]<b c='" + filler + b"\xc3\xa9'/><![CDATA[" + filler + b"]]></a>"
    )
    agree(b"<a" + filler + b"><!--" + filler + b"--><?p " + filler + b"?>\r\n</a" + filler + b" >")
    agree(b"<a>" + filler + b"\x01</a>")


def test_a_document_larger_than_one_call_is_read_to_its_last_byte():
    body = b"".join(b"<r i='%d'>t\xc3\xa9xt &lt; %d</r>\n" % (i, i) for i in range(20_000))
    for end in (b"</all>", b"</all>\n", b"</all><!-- " + b"c" * 70 + b" -->"):
        agree(b"<all>" + body + end)


def test_many_names_and_namespaces_are_kept_apart():
    names = b"".join(b"<n%d a%d='1'/>" % (i, i) for i in range(3000))
    scoped = b"".join(
        b"<p:e xmlns:p='u%d' xmlns='d%d' p:a=''><f/></p:e>" % (i, i) for i in range(900)
    )
    agree(b"<all>" + names + scoped + b"</all>")


def test_two_documents_share_names_and_stay_apart():
    names = Names()
    one = read(b"<a xmlns='u'><b/></a>", names=names)
    two = read(b"<a><b xmlns='v'/></a>", names=names)

    assert tape_events(one) == expat_events(b"<a xmlns='u'><b/></a>")
    assert tape_events(two) == expat_events(b"<a><b xmlns='v'/></a>")


def test_a_file_is_read_from_its_pages(tmp_path: Path):
    path = tmp_path / "a.xml"
    path.write_bytes(b"<a>" + b"<b>c</b>" * 9000 + b"</a>")

    with path.open("rb") as file:
        for source in (path, str(path), file):
            assert tape_events(read(source)) == expat_events(path.read_bytes())


def test_an_empty_file_is_refused_as_by_expat(tmp_path: Path):
    path = tmp_path / "empty.xml"
    path.write_bytes(b"")

    with pytest.raises(InputError) as refused:
        read(path)
    assert refused.value.code == "XSCX0004"


def test_bytes_that_their_owner_changes_stay_as_they_were_read():
    given_ = bytearray(b"<a>b</a>")
    tape = read(given_)
    given_[3:4] = b"c"

    assert tape.serialize() == b"<a>b</a>"


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "windows-1252", "us-ascii"])
def test_other_encodings_are_read_to_the_same_information(encoding):
    text = "é" if encoding != "us-ascii" else "e"
    xml = f"<?xml version='1.0' encoding='{encoding}'?><a b='{text}'>{text}</a>".encode(encoding)

    agree(xml)


def test_entities_of_an_internal_subset_are_expanded():
    agree(b"<!DOCTYPE a [<!ENTITY e '<b>x</b>'><!ATTLIST a d CDATA 'v'>]><a>&e;&e;</a>")


def test_documents_one_after_another_stand_below_one_document_node():
    xml = b"<?xml version='1.0'?><a/>\n<!DOCTYPE b SYSTEM 'x'><b></b><?xml version='1.0'?><c/><d/>"
    tape = read(xml, mode="sequence")

    well_shaped(tape)
    assert tape.serialize() == b"<a/><b/><c/><d/>"


@pytest.mark.parametrize(
    "xml", [b"<a/>x<b/>", b"<a/><b>", b"<a/></b>", b"", b"<a/><b>&e;</b>", b"x<a/>"]
)
def test_between_documents_stands_only_white_space(xml):
    with pytest.raises(InputError):
        read(xml, mode="sequence")


def test_a_sequence_that_only_expat_can_read_gives_the_same_tree():
    plain = b"<a/><b x='1'>t</b><!--c-->"
    odd = b"<!DOCTYPE a [<!ENTITY e 't'>]><a/><b x='1'>t</b><!--c-->"

    assert tape_events(read(odd, mode="sequence")) == tape_events(read(plain, mode="sequence"))


def test_an_error_in_a_later_document_is_placed_in_the_whole():
    with pytest.raises(InputError) as refused:
        read(b"<a/>\n<b/>\n <c></d>", mode="sequence")
    assert (refused.value.line, refused.value.column) == (3, 7)


@pytest.mark.parametrize(
    ("xml", "line", "column", "offset"),
    [
        (b"<a>\n  <b></c></a>", 2, 8, 11),
        ("<a>\né<b x='1' x='2'/></a>".encode(), 2, 11, 15),
        (b"<a>&nope;</a>", 1, 4, 3),
        (b"<a><p:b/></a>", 1, 4, 3),
    ],
)
def test_an_error_says_where_it_is(xml, line, column, offset):
    with pytest.raises(InputError) as refused:
        read(xml, name="x.xml")

    place = refused.value.place
    assert isinstance(place, DataPlace)
    assert (place.line, place.column, place.offset) == (line, column, offset)
    assert "x.xml" in refused.value.render()


def feeds(shared: Path) -> list[Path]:
    return sorted(path for path in (shared / "data" / "feeds").rglob("*") if path.is_file())


def test_every_feed_is_read_or_refused_as_by_expat(shared):
    for path in feeds(shared):
        expected, tape = expat_events(path.read_bytes()), ours(path)
        assert (tape is None) == (expected is None), path
        if tape is not None:
            assert tape_events(tape) == expected, path
