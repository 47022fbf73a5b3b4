"""Update events as lines of JSON and as XML: written, read back, cut anywhere, refused alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.edges.update_streams import any_event
from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.beginning import is_update_stream
from xstreamcast.edges.updates.lines import LineReading, line
from xstreamcast.edges.updates.markup import CLOSE, OPEN, MarkupReading, element
from xstreamcast.edges.updates.parts import EventPart, MalformedEvent, Read
from xstreamcast.errors import Error
from xstreamcast.model.instant import SECOND

text = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufffe\uffff")
    | st.sampled_from("\t\n\r<>&\"'"),
    max_size=6,
)
ids = st.sampled_from(["0", "17", "a b", "007", "é", '"'])
names = st.sampled_from(["a", "b-c", "p:q", "xmlns:p", "é"])
attributes = st.dictionaries(names, text, max_size=3).map(lambda d: tuple(d.items()))
rich_event: st.SearchStrategy[e.Event] = st.one_of(
    any_event,
    st.builds(e.StartElement, ids, names, attributes),
    st.builds(e.CharacterData, ids, text),
    st.builds(e.Comment, ids, text.filter(lambda t: "--" not in t and not t.endswith("-"))),
    st.builds(e.Instruction, ids, st.just("go"), text.filter(lambda t: "?>" not in t)),
    st.builds(e.At, st.integers(-(10**9), 10**9).map(lambda n: n * SECOND), st.booleans()),
)


def read(reading: LineReading | MarkupReading, raw: bytes, size: int) -> list[Read]:
    out: list[Read] = []
    for at in range(0, len(raw), size):
        out += reading.feed(raw[at : at + size])
    return out + list(reading.close())


def read_events(parts: list[Read]) -> list[e.Event]:
    assert not [part for part in parts if isinstance(part, MalformedEvent)]
    return [part.event for part in parts if isinstance(part, EventPart)]


@given(st.lists(rich_event, max_size=10), st.integers(1, 40))
def test_lines_are_read_back_however_they_are_cut(stream, size) -> None:
    raw = b"".join(map(line, stream))
    assert read_events(read(LineReading(), raw, size)) == stream


@given(st.lists(rich_event, max_size=10), st.integers(1, 40))
def test_elements_are_read_back_however_they_are_cut(stream, size) -> None:
    raw = OPEN + b"".join(map(element, stream)) + CLOSE
    assert read_events(read(MarkupReading(), raw, size)) == stream


def test_an_event_looks_as_the_page_says() -> None:
    begin, start = e.Begin("R", "1", "2"), e.StartElement("0", "a", (("n", "1"),))
    assert line(begin) == b'{"event":"sR","target":1,"id":2}\n'
    assert line(start) == b'{"event":"sE","id":0,"tag":"a","attributes":{"n":"1"}}\n'
    assert line(e.CharacterData("p/1", "x")) == b'{"event":"cD","id":"p/1","text":"x"}\n'
    assert element(begin) == b'<u:sR target="1" id="2"/>\n'
    assert element(start) == b'<u:sE id="0" tag="a"><u:attribute name="n" value="1"/></u:sE>\n'
    assert element(e.CharacterData("1", "x<")) == b'<u:cD id="1">x&lt;</u:cD>\n'


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{", "XSCE0001"),
        (b"[1]", "XSCE0001"),
        (b"[" * 100_000, "XSCE0001"),
        (b"\xff", "XSCE0001"),
        (b'{"event":"sQ","id":0}', "XSCE0001"),
        (b'{"event":["sQ"],"id":0}', "XSCE0001"),
        (b'{"event":"cD","id":0}', "XSCE0001"),
        (b'{"event":"cD","id":0,"text":7}', "XSCE0001"),
        (b'{"event":"cD","id":true,"text":""}', "XSCE0001"),
        (b'{"event":"cD","id":"","text":""}', "XSCE0001"),
        (b'{"event":"hide","id":0,"id":1}', "XSCE0001"),
        (b'{"event":"hide","id":0,"text":"x"}', "XSCE0001"),
        (b'{"event":"sE","id":0,"tag":"a","attributes":["x"]}', "XSCE0001"),
        (b'{"event":"at","time":"noon"}', "XSCE0001"),
        (b'{"event":"cD","id":0,"text":"\\u0000"}', "XSCE0006"),
        (b'{"event":"cD","id":0,"text":"\\ud800"}', "XSCE0006"),
        (b'{"event":"sE","id":0,"tag":"a b"}', "XSCE0006"),
        (b'{"event":"comment","id":0,"text":"--"}', "XSCE0006"),
        (b'{"event":"pi","id":0,"target":"xml","text":""}', "XSCE0006"),
    ],
)
def test_a_line_that_is_no_event_is_refused_alone(raw: bytes, code: str) -> None:
    good = line(e.CharacterData("0", "x"))
    parts = read(LineReading(), good + raw + b"\n\n" + good, 7)
    assert [type(part) for part in parts] == [EventPart, MalformedEvent, EventPart]
    assert isinstance(parts[1], MalformedEvent)
    assert (parts[1].code, parts[1].line, parts[1].offset) == (code, 2, len(good))


@pytest.mark.parametrize(
    "raw",
    [
        "<u:sQ/>",
        "<u:cD/>",
        "<cD id='0'>x</cD>",
        "<u:hide id='0'>text</u:hide>",
        "<u:hide id='0'><u:attribute/></u:hide>",
        "<u:sE id='0' tag='a'><u:attribute name='x'/></u:sE>",
        "<u:sE id='0' tag='a'><b><c/></b></u:sE>",
        "text",
    ],
)
def test_an_element_that_is_no_event_is_refused_alone(raw: str) -> None:
    good = element(e.CharacterData("0", "x"))
    parts = read(MarkupReading(), OPEN + good + raw.encode() + good, 1000)
    assert [type(part) for part in parts] == [EventPart, MalformedEvent, EventPart]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("<a></b>", "XSCX0001"),
        ("<!DOCTYPE a><a/>", "XSCX0006"),
        (f"{OPEN.decode()}<u:cD id='0'>x", "XSCX0004"),
    ],
)
def test_what_is_not_xml_ends_the_reading_with_its_place(raw: str, code: str) -> None:
    with pytest.raises(Error) as refused:
        read(MarkupReading("quotes"), raw.encode(), 1000)
    assert refused.value.code == code
    assert "quotes" in str(refused.value)


def test_a_root_that_never_ends_is_no_mistake() -> None:
    assert len(read(MarkupReading(), OPEN + element(e.CharacterData("0", "x")), 1000)) == 1


def test_the_first_bytes_tell_an_update_stream() -> None:
    assert is_update_stream(line(e.CharacterData("0", "x")))
    assert is_update_stream(b"\n<?xml version='1.0'?>" + OPEN)
    assert not is_update_stream(b'{"time":"1970-01-01T00:00:00Z","diff":1}')
    assert not is_update_stream(b"<updates><a/></updates>")
    assert not is_update_stream(b"<stream:filler id='0'/>")
