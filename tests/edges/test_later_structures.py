"""Structures that come late, bare, or with more tags; holes in the namespace of their payload."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from xstreamcast.edges.inputs import kind_of
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.model.change import Accumulated
from xstreamcast.model.fragment import FragmentBatch, Refused


def told(query: str, wire: bytes) -> list[str]:
    """The answer, the same once and left running."""
    found = list(xsc.query(query).run(s=wire).lines())
    accumulated = Accumulated()
    for change in xsc.query(query).watch(s=wire, batch=1):
        accumulated.apply(change)
    assert accumulated.items() == found
    return found


def wire(*lines: str) -> bytes:
    head = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
    return f"{head}{''.join(lines)}</stream:fragments>".encode()


def structure(*more: str) -> str:
    tags = '<tag id="2" name="a" type="temporal"/>' + "".join(more)
    return f'<stream:structure><tag id="1" name="r">{tags}</tag></stream:structure>'


MORE = '<tag id="5" name="z" type="temporal"/>'
ROOT = (
    '<stream:filler id="0" tsid="1"><r><stream:hole id="1" tsid="2"/><stream:hole id="9" tsid="5"/>'
    "</r></stream:filler>"
)
A = '<stream:filler id="1" tsid="2"><a>x</a></stream:filler>'
Z = '<stream:filler id="9" tsid="5"><z>y</z></stream:filler>'


@pytest.mark.parametrize("lines", [(ROOT, A, Z), (Z, A, ROOT), (A, ROOT, Z)])
def test_fragments_wait_for_a_structure_with_their_tags(lines: tuple[str, ...]) -> None:
    later = wire(structure(), *lines, structure(MORE))
    assert told('stream("s")/r/*/string()', later) == ["x", "y"]


def test_a_tag_that_no_structure_gets_is_refused_at_the_end() -> None:
    decoder = Decoder("s")
    found = decoder.feed(wire(structure(), Z, A).removesuffix(b"</stream:fragments>"))
    assert sum(len(one) for one in found if isinstance(one, FragmentBatch)) == 1
    assert not [one for one in found if isinstance(one, Refused)]
    refused = [one for one in decoder.close() if isinstance(one, Refused)]
    assert [(one.code, one.fragment) for one in refused] == [("XSCF0003", "9")]


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xstreamcast.edges.wire.decoder._MOST_WAITING", 3)
    decoder = Decoder("s")
    many = [Z.replace('"9"', f'"{n}"') for n in range(10, 15)]
    found = decoder.feed(wire(structure(), *many).removesuffix(b"</stream:fragments>"))
    assert [one.fragment for one in found if isinstance(one, Refused)] == ["10", "11"]


STOCK = b"""<tag stream="stock">
  <tag id="1" name="stock" filler="true">
    <tag id="2" name="rating" filler="true"/><tag id="4" name="symbol"/>
    <tag id="3" name="value" filler="true"/>
  </tag> </tag>
<filler id="7" tsid="1"><stock><hole id="8" tsid="2"/><symbol>HP</symbol>
<hole id="9" tsid="3"/></stock></filler>
<filler id="8" tsid="2"><rating>hold</rating></filler>
<filler id="9" tsid="3"><value>12</value></filler>"""


@pytest.mark.parametrize("around", [b"%s", b"<fragments>%s</fragments>"])
def test_a_bare_tag_of_a_stream_is_its_structure(around: bytes) -> None:
    """As seed 001 prints it."""
    said = around % STOCK
    assert kind_of(said) == "fragments"
    assert told('stream("s")/stock[rating >= "hold"]/value/string()', said) == ["12"]


def test_a_document_of_tags_stays_a_document() -> None:
    assert kind_of(b'<tag id="1" name="x"><tag id="2" name="y"/></tag>') == "document"


HOLE = '<hole id="1" tsid="2"/>'


@pytest.mark.parametrize(
    "root",
    [
        f'<stream:filler id="0" tsid="1"><r xmlns="urn:x">{HOLE}</r></stream:filler>',
        f'<stream:filler id="0" tsid="1"><r xmlns="urn:x"><b>{HOLE}</b></r></stream:filler>',
        f'<filler id="0" tsid="1"><r xmlns="urn:x">{HOLE}</r></filler>',
        f'<stream:filler id="0" tsid="1"><x:r xmlns:x="urn:x">{HOLE}</x:r></stream:filler>',
    ],
)
def test_a_hole_below_a_default_namespace_is_one(root: str) -> None:
    tags = structure().replace('name="r"', 'name="r" uri="urn:x"')
    assert told('stream("s")//a/string()', wire(tags, root, A)) == ["x"]


def test_what_says_no_tag_is_the_payload_of_its_own() -> None:
    course = '<stream:filler id="0" tsid="1"><r><hole id="1"/><hole>2</hole></r></stream:filler>'
    assert told('count(stream("s")//hole)', wire(structure(), course)) == ["2"]
