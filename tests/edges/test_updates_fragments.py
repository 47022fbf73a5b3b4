"""Update streams as fragments: put together, they are what the reference tells."""

from __future__ import annotations

from contextlib import suppress
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.edges.change_streams import change_streams
from tests.edges.update_streams import events, update_streams
from xstreamcast.edges.updates import apply
from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.decoder import UpdateDecoder
from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.updates.markup import CLOSE, OPEN, element
from xstreamcast.edges.updates.output import EventOutput
from xstreamcast.edges.updates.reference import Reference
from xstreamcast.edges.updates.writing import parsed
from xstreamcast.edges.wire.encoder import batch_lines
from xstreamcast.errors import Error
from xstreamcast.history.history import History
from xstreamcast.history.view import reconstruct, view
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.fragment import Arrival, FragmentBatch, NewStructure, Refused
from xstreamcast.model.instant import SECOND, START
from xstreamcast.model.structure import Tag, TagStructure
from xstreamcast.tape.reading.read import read

STRUCTURE = TagStructure(
    1,
    {
        1: Tag(1, "", "w", "snapshot", False, (2, 3)),
        2: Tag(2, "", "a", "temporal", True, (2, 3)),
        3: Tag(3, "", "b", "snapshot", False, (2, 3)),
    },
)


def arrivals(decoder: UpdateDecoder, raw: bytes, size: int) -> list[Arrival]:
    out: list[Arrival] = []
    for at in range(0, len(raw), size):
        out += decoder.feed(raw[at : at + size])
    return out + decoder.close()


def document(decoder: UpdateDecoder, found: list[Arrival]) -> str:
    """What the fragments say when put together; without versions that is what queries see."""
    history = kept(decoder, found)
    if history is None:
        return ""
    if not history.types().any():
        assert view(history).serialize() == reconstruct(history).serialize()
    return reconstruct(history).serialize().decode()


def kept(decoder: UpdateDecoder, found: list[Arrival]) -> History | None:
    history: History | None = None
    for arrival in found:
        if isinstance(arrival, NewStructure):
            history = history or History("s", arrival.structure, ids=decoder.ids)
            history.describe(arrival.structure)
        elif isinstance(arrival, FragmentBatch):
            assert decoder.structure is not None
            history = history or History("s", decoder.structure, ids=decoder.ids)
            history.add(arrival)
    return history


def expected(stream: list[Event], wrap: str | None = "w") -> str:
    reference = Reference()
    for event in stream:
        with suppress(Error):
            reference.take(event)
    out = ""
    for token in reference.current(closing=True):
        match token:
            case "sE", str(tag), _:
                out += f"<{tag}>"
            case "eE", str(tag):
                out += f"</{tag}>"
            case "cD", str(text):
                out += escape(text)
            case _:
                pass
    whole = f"<{wrap}>{out}</{wrap}>" if wrap else out
    return read(whole.encode()).serialize().decode()


@given(update_streams(), st.integers(1, 300), st.booleans())
@settings(max_examples=examples(60))
def test_fragments_put_together_are_the_current_content(stream, size, given_) -> None:
    raw = b"".join(map(line, stream))
    decoder = UpdateDecoder("s", STRUCTURE if given_ else None, wrap="w")
    found = arrivals(decoder, raw, size)
    if expected(stream) == "<w/>" and not document(decoder, found):
        return  # nothing was ever there to be told
    assert document(decoder, found) == expected(stream)


@given(update_streams(most=5), st.booleans())
@settings(max_examples=examples(15))
def test_at_every_event_too(stream, given_) -> None:
    for count in range(1, len(stream) + 1):
        raw = b"".join(map(line, stream[:count]))
        decoder = UpdateDecoder("s", STRUCTURE if given_ else None, wrap="w")
        found = document(decoder, arrivals(decoder, raw, 1 << 20))
        assert (found or "<w/>") == expected(stream[:count])


def wire(decoder: UpdateDecoder, found: list[Arrival]) -> list[bytes]:
    batches = [arrival for arrival in found if isinstance(arrival, FragmentBatch)]
    return [one for batch in batches for one in batch_lines(batch, decoder.ids)]


@given(update_streams(), st.integers(1, 300))
@settings(max_examples=examples(30))
def test_the_fragments_do_not_depend_on_how_the_bytes_are_cut(stream, size) -> None:
    raw = b"".join(map(line, stream))
    whole, pieces = (UpdateDecoder("s", wrap="w", versions=True) for _ in range(2))
    assert wire(pieces, arrivals(pieces, raw, size)) == wire(whole, arrivals(whole, raw, 1 << 20))


@given(update_streams(most=6), st.integers(1, 300))
@settings(max_examples=examples(15))
def test_what_has_arrived_counts_though_the_root_is_open(stream, size) -> None:
    raw = b"".join(map(line, stream))
    running, found = UpdateDecoder("s", wrap="w"), []
    for end in range(size, len(raw) + size, size):
        found += running.feed(raw[end - size : end])
        done = raw[:end].count(b"\n")
        assert (document(running, found) or "<w/>") == expected(stream[:done])


@given(update_streams(), st.integers(1, 300), st.lists(st.integers(1, 5), min_size=1))
@settings(max_examples=examples(30))
def test_with_instants_what_is_put_together_is_the_same_too(stream, size, steps) -> None:
    timed: list[Event] = []
    for number, event in enumerate(stream):
        if number % steps[number % len(steps)] == 0:
            timed.append(e.At(number * SECOND, True))
        timed.append(event)
    raw = b"".join(map(line, timed))
    decoder = UpdateDecoder("s", wrap="w")
    found = document(decoder, arrivals(decoder, raw, size))
    assert (found or "<w/>") == expected(stream)


@given(change_streams(), st.sampled_from(["lines", "xml"]), st.integers(1, 300))
@settings(max_examples=examples(30))
def test_the_answer_of_one_query_is_a_stream_for_another(changes, form, size) -> None:
    output = EventOutput(form)
    raw = output.write(changes) + output.close()
    decoder = UpdateDecoder("s", wrap="w")
    found = document(decoder, arrivals(decoder, raw, size))
    inner = "".join(
        item if item.startswith("<") and parsed(item) is not None else escape(item)
        for item in Accumulated(changes).items()
    )
    assert (found or "<w/>") == read(f"<w>{inner}</w>".encode()).serialize().decode()


TICKER = (
    'sS(0) sE(0,"stocks") sE(0,"stock") sE(0,"name") cD(0,"IBM") eE(0,"name")'
    ' sM(0,1) sE(1,"price") cD(1,"5") eE(1,"price") eM(0,1) eE(0,"stock") eE(0,"stocks") eS(0)'
)


def test_a_replacement_is_a_new_version_and_nothing_else_is_sent() -> None:
    decoder = UpdateDecoder("q")
    first = b"".join(map(line, events(TICKER)))
    more = events('sR(1,2) sE(2,"price") cD(2,"6") eE(2,"price") eR(1,2)')
    assert len(wire(decoder, decoder.feed(first))) == 2
    assert wire(decoder, decoder.feed(b"".join(map(line, more)))) == [
        b'<stream:filler id="4.1.1.1" tsid="4" validTime="1970-01-01T00:00:19">'
        b"<price>6</price></stream:filler>\n"
    ]


def test_hiding_removes_the_filler_and_showing_sends_it_and_nothing_else_is_sent() -> None:
    decoder = UpdateDecoder("q")
    decoder.feed(b"".join(map(line, events(TICKER))))
    assert wire(decoder, decoder.feed(line(e.Hide("1")))) == [
        b'<stream:remove id="4.1.1.1" tsid="4" validTime="1970-01-01T00:00:15"/>\n'
    ]
    assert wire(decoder, decoder.feed(line(e.Show("1")))) == [
        b'<stream:filler id="4.1.1.1" tsid="4" validTime="1970-01-01T00:00:16">'
        b"<price>5</price></stream:filler>\n"
    ]


def test_an_element_that_was_replaced_while_it_was_hidden_is_shown_in_its_place() -> None:
    decoder = UpdateDecoder("q")
    more = ' hide(1) sR(1,2) sE(2,"price") cD(2,"6") eE(2,"price") eR(1,2) show(1)'
    found = arrivals(decoder, b"".join(map(line, events(TICKER + more))), 20)
    assert document(decoder, found).endswith("<price>6</price></stock></stocks>")


def test_text_of_a_hidden_region_is_hidden_with_its_elements() -> None:
    decoder, found = UpdateDecoder("q"), []
    stream = 'sE(0,"r") cD(0,"-") sM(0,1) cD(1,"t") sE(1,"a") eE(1,"a") eM(0,1) cD(0,"-") eE(0,"r")'
    for more, content in ((stream, "t<a/>"), ("hide(1)", ""), ("show(1)", "t<a/>")):
        found += decoder.feed(b"".join(map(line, events(more))))
        assert document(decoder, found) == f"<r>-{content}-</r>"


@pytest.mark.parametrize("last", ["freeze(1)", 'sM(0,1) sE(1,"a") eE(1,"a") eM(0,1)'])
def test_what_is_shown_and_dissolved_at_one_instant_is_shown(last: str) -> None:
    stream = 'sM(0,1) sE(1,"a") cD(1,"x") eE(1,"a") eM(0,1)'
    timed = [
        *(e.At(SECOND, True), *events(stream), e.At(2 * SECOND, True), e.Hide("1")),
        *(e.At(3 * SECOND, True), e.Show("1"), *events(last)),
    ]
    decoder = UpdateDecoder("q", wrap="w")
    found = document(decoder, arrivals(decoder, b"".join(map(line, timed)), 1000))
    assert found == expected(timed)


def test_an_element_that_travels_since_it_was_hidden_is_shown_whole() -> None:
    stream = (
        'sM(0,1) sE(1,"c") sE(1,"b") cD(1,"x") eE(1,"b") eE(1,"c") eM(0,1) hide(1)'
        ' sM(0,2) sE(2,"b") eE(2,"b") eM(0,2) show(1)'
    )
    decoder = UpdateDecoder("q", wrap="w")
    found = document(decoder, arrivals(decoder, b"".join(map(line, events(stream))), 1000))
    assert found == "<w><c><b>x</b></c><b/></w>"


def test_the_document_element_is_another_one_and_then_the_first_one_again() -> None:
    first = 'sM(0,1) sE(1,"r") cD(1,"x") eE(1,"r") eM(0,1) hide(1)'
    second = ' sA(1,2) sE(2,"r") cD(2,"y") eE(2,"r") eA(1,2) hide(2) show(1)'
    decoder = UpdateDecoder("q")
    found = arrivals(decoder, b"".join(map(line, events(first + second))), 1000)
    assert document(decoder, found) == "<r>x</r>"


def test_a_hidden_event_is_no_longer_there_and_a_shown_one_is_there_once() -> None:
    tags = {1: Tag(1, "", "w", "snapshot", False, (2,)), 2: Tag(2, "", "a", "event", True, ())}
    decoder, found = UpdateDecoder("q", TagStructure(1, tags)), []
    stream = 'sE(0,"w") sM(0,1) sE(1,"a") cD(1,"x") eE(1,"a") eM(0,1) eE(0,"w")'
    for more, count in ((stream, 1), ("hide(1)", 0), ("show(1)", 1)):
        found += decoder.feed(b"".join(map(line, events(more))))
        history = kept(decoder, found)
        assert history is not None
        assert view(history).serialize().count(b"<a ") == count, more


def test_with_versions_what_was_hidden_has_a_lifespan_before_and_after() -> None:
    decoder = UpdateDecoder("q", versions=True)
    stream = b"".join(map(line, events(TICKER + " hide(1) show(1)")))
    history = kept(decoder, arrivals(decoder, stream, 1000))
    assert history is not None
    assert view(history).serialize().decode() == (
        "<stocks><stock><name>IBM</name>"
        '<price vtFrom="1970-01-01T00:00:13" vtTo="1970-01-01T00:00:15">5</price>'
        '<price vtFrom="1970-01-01T00:00:16" vtTo="now">5</price></stock></stocks>'
    )


def test_with_versions_each_replacement_has_its_lifespan() -> None:
    decoder = UpdateDecoder("q", versions=True)
    more = ' sR(1,1) sE(1,"price") cD(1,"6") eE(1,"price") eR(1,1)'
    history = kept(decoder, arrivals(decoder, b"".join(map(line, events(TICKER + more))), 1000))
    assert history is not None
    assert view(history).serialize().decode() == (
        "<stocks><stock><name>IBM</name>"
        '<price vtFrom="1970-01-01T00:00:13" vtTo="1970-01-01T00:00:19">5</price>'
        '<price vtFrom="1970-01-01T00:00:19" vtTo="now">6</price></stock></stocks>'
    )


def test_an_answer_from_before_all_instants_is_told_too() -> None:
    output, decoder = EventOutput(), UpdateDecoder("s", wrap="w")
    raw = output.write([Change(START, 1, "a", None, "<n>0</n>")])
    raw += output.write(
        [Change(SECOND, -1, "a", None, "<n>0</n>"), Change(SECOND, 1, "a", None, "1")]
    )
    assert document(decoder, arrivals(decoder, raw, 40)) == "<w>1</w>"
    assert decoder.counts.refused == 0


def test_xml_gives_the_same_fragments_as_lines() -> None:
    stream = events(TICKER + ' hide(1) show(1) sR(1,1) sE(1,"price") eE(1,"price") eR(1,1)')
    lines, markup = (UpdateDecoder("q", versions=True) for _ in range(2))
    raw = OPEN + b"".join(map(element, stream)) + CLOSE
    assert wire(markup, arrivals(markup, raw, 50)) == wire(
        lines, arrivals(lines, b"".join(map(line, stream)), 50)
    )


def test_a_prefix_is_declared_on_every_fragment_that_needs_it() -> None:
    stream: list[Event] = [
        e.StartElement("0", "p:r", (("xmlns:p", "urn:p"), ("n", '<&">'))),
        e.Begin("M", "0", "1"),
        e.StartElement("1", "p:v"),
        e.Comment("1", "c"),
        e.Instruction("1", "go", "on"),
        e.EndElement("1", "p:v"),
        e.End("M", "0", "1"),
        e.EndElement("0", "p:r"),
    ]
    decoder = UpdateDecoder("q")
    found = document(decoder, arrivals(decoder, b"".join(map(line, stream)), 1000))
    whole = '<p:r xmlns:p="urn:p" n="&lt;&amp;&quot;>"><p:v><!--c--><?go on?></p:v></p:r>'
    assert found == read(whole.encode()).serialize().decode()


def test_refused_events_are_handed_out_and_counted_or_raised() -> None:
    raw = b"".join(map(line, events(TICKER + " sR(9,2) freeze(1) sR(1,5)"))) + b"no\n"
    decoder = UpdateDecoder("q")
    found = arrivals(decoder, raw, 100)
    refused = [arrival for arrival in found if isinstance(arrival, Refused)]
    assert [one.code for one in refused] == ["XSCE0002", "XSCE0004", "XSCE0001"]
    assert refused[0].raw == line(e.Begin("R", "9", "2")).strip()
    assert raw[refused[1].offset :].startswith(refused[1].raw)
    assert decoder.counts.refused == 3
    with pytest.raises(Error, match=r"XSCE0002.* q:15") as stopped:
        arrivals(UpdateDecoder("q", on_error="stop"), raw, 100)
    assert stopped.value.exit_status == 4


def test_an_element_whose_prefix_means_nothing_is_refused_alone() -> None:
    more = "".join(f' sR(1,1) sE(1,"{tag}") eE(1,"{tag}") eR(1,1)' for tag in ("p:price", "price"))
    decoder = UpdateDecoder("q")
    found = arrivals(decoder, b"".join(map(line, events(TICKER + more))), 1000)
    assert {one.code for one in found if isinstance(one, Refused)} == {"XSCF0001"}
    assert decoder.counts.refused > 0
    assert document(decoder, found).endswith("<price/></stock></stocks>")


@pytest.mark.parametrize(
    "stream",
    ['cD(0,"x") eS(0)', 'sE(0,"a") eE(0,"a") sE(0,"b") eE(0,"b") eS(0)',
     'sM(0,1) sE(1,"a") eE(1,"a") eM(0,1) eS(0) sR(1,2) sE(2,"b") eE(2,"b") eR(1,2)'],
)  # fmt: skip
def test_what_is_no_document_is_refused_with_a_hint(stream: str) -> None:
    decoder = UpdateDecoder("q")
    found = arrivals(decoder, b"".join(map(line, events(stream))), 1000)
    assert "XSCE0007" in [one.code for one in found if isinstance(one, Refused)]
    assert apply(events(stream))
