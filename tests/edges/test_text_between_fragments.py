"""Text that stands in no fragment: what is reported, however the bytes are cut."""

from __future__ import annotations

import pytest

from tests.edges.test_decoder import PLAIN
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.model.fragment import Refused


@pytest.mark.parametrize("size", [1, 3, 100, 1 << 20])
@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (b'filler id="7">', ["XSCF0016"]),  # it ends as a tag does
        (b"some <e/> and/>", ["XSCF0016", "XSCF0012", "XSCF0016"]),
        (b"a <!DOCTYPE type> in it", ["XSCF0016", "XSCF0001"]),
        (b"a <!DOCTYPE t [<!ENTITY e 'v'>]> in it", ["XSCF0016", "XSCF0001"]),
        (b"some \xc0\x80 words", ["XSCF0001"]),  # the text itself is broken
        (b'<![CDATA[<filler id="7"><e/></filler>]]>', ["XSCF0016"]),  # one text
        (b"<![CDATA[<e ]]><!-- <![CDATA[ -->", ["XSCF0016"]),
    ],
)
def test_what_text_between_fragments_is_does_not_depend_on_chunks(
    size: int, text: bytes, codes: list[str]
) -> None:
    lines = PLAIN.replace("</structure>", "</structure>\n").encode().splitlines(keepends=True)
    wire = b"<fragments>" + b"".join([*lines[:6], text, b"\n", *lines[6:]]) + b"</fragments>"
    decoder = Decoder("s")
    found = [one for a in range(0, len(wire), size) for one in decoder.feed(wire[a : a + size])]
    found += decoder.close()
    assert sorted(one.code for one in found if isinstance(one, Refused)) == sorted(codes)


@pytest.mark.parametrize("size", [1, 3, 100, 1 << 20])
def test_a_cdata_section_that_never_ends_is_one_text(size: int) -> None:
    text = b'<![CDATA[<filler id="7"><e/></filler>'
    wire = PLAIN.encode().replace(b"</fragments>", b"") + text
    decoder = Decoder("s")
    found = [one for a in range(0, len(wire), size) for one in decoder.feed(wire[a : a + size])]
    found += decoder.close()
    refused = [one for one in found if isinstance(one, Refused)]
    assert [(one.code, one.raw) for one in refused] == [("XSCF0016", text)]
